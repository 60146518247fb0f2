/* Spin locks that are used both by name and in a way that a preloaded library does not see; as two.c has it for mutexes. */
#define GROUP "two_spin"
#include "../two_ways.h"

static pthread_spinlock_t S;
static long counter; /* guarded by S */

static const struct {
    const char *name;
    void (*get)(void);
    int shared;
} WAYS[] = {
    {"handle-private", by_handle, PTHREAD_PROCESS_PRIVATE},     {"handle-shared", by_handle, PTHREAD_PROCESS_SHARED},
    {"deepbind-private", by_deepbind, PTHREAD_PROCESS_PRIVATE}, {"deepbind-shared", by_deepbind, PTHREAD_PROCESS_SHARED},
    {"dlmopen-private", by_dlmopen, PTHREAD_PROCESS_PRIVATE},   {"dlmopen-shared", by_dlmopen, PTHREAD_PROCESS_SHARED},
};

static void begin(const char *test, size_t row) {
    in_a_process(test, WAYS[row].name);
    WAYS[row].get();
    GIVES(pthread_spin_init(&S, WAYS[row].shared), 0);
}

enum { TIMES = 10000 };

static void *counts(void *argument) {
    const struct functions *functions = ANY(const struct functions, argument);
    for (int i = 0; i < TIMES; i++) {
        WORKS(functions->pthread_spin_lock(&S));
        long seen = counter;
        if (i % 64 == 0) sched_yield();
        counter = seen + 1;
        WORKS(functions->pthread_spin_unlock(&S));
    }
    return NULL;
}

TEST_EACH(excludes, WAYS) {
    begin("excludes", row);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = START(counts, (void *)(i & 1 ? &by_name : &other));
    for (int i = 0; i < 4; i++) END(threads[i]);
    CHECK(counter == 4 * TIMES, "counted to %ld, not %d", counter, 4 * TIMES);
}

static int about_to, inside;

static void *enters(void *argument) {
    const struct functions *functions = ANY(const struct functions, argument);
    UP(&about_to);
    WORKS(functions->pthread_spin_lock(&S));
    UP(&inside);
    WORKS(functions->pthread_spin_unlock(&S));
    return NULL;
}

/* One way waits until the holder unlocks in its own way. */
static void waited_for(const struct functions *holder, const struct functions *waits) {
    WORKS(holder->pthread_spin_lock(&S));
    CHECK(waits->pthread_spin_trylock(&S) == EBUSY, "a lock that is held is got");
    pthread_t waiter = START(enters, (void *)waits);
    AWAIT(READ(&about_to));
    usleep(20000);
    CHECK(!READ(&inside), "two hold it");
    WORKS(holder->pthread_spin_unlock(&S));
    END(waiter);
}
TEST_EACH(held_by_name_and_waited_for, WAYS) {
    begin("held_by_name_and_waited_for", row);
    waited_for(&by_name, &other);
}
TEST_EACH(held_by_the_other_and_waited_for, WAYS) {
    begin("held_by_the_other_and_waited_for", row);
    waited_for(&other, &by_name);
}
