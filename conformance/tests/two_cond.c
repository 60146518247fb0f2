/* Condition variables that are used both by name and in a way that a preloaded library does not see; as two.c has it for mutexes. Whoever waits
 * first decides: the other way must be told, or work. One thing cannot be found out: libc wakes nobody where nobody waits by its own functions, so
 * its signals to those who wait otherwise are not tested. */
#define GROUP "two_cond"
#include "../two_ways.h"

static pthread_mutex_t M;
static pthread_cond_t C;

static const struct way {
    const char *name;
    void (*get)(void);
    int monotonic, fixed;
} WAYS[] = {
    {"handle", by_handle, 0, 0},           {"handle-static", by_handle, 0, 1},     {"handle-monotonic", by_handle, 1, 0},
    {"deepbind", by_deepbind, 0, 0},       {"deepbind-static", by_deepbind, 0, 1}, {"deepbind-monotonic", by_deepbind, 1, 0},
    {"dlmopen", by_dlmopen, 0, 0},         {"dlmopen-static", by_dlmopen, 0, 1},   {"dlmopen-monotonic", by_dlmopen, 1, 0},
};

static void begin(const char *test, size_t row) {
    pthread_condattr_t attributes;
    static const pthread_cond_t fixed = PTHREAD_COND_INITIALIZER;
    in_a_process(test, WAYS[row].name);
    WAYS[row].get();
    GIVES(pthread_mutex_init(&M, NULL), 0);
    memcpy(&C, &fixed, sizeof C);
    if (WAYS[row].fixed) return;
    GIVES(pthread_condattr_init(&attributes), 0);
    if (WAYS[row].monotonic) GIVES(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    GIVES(pthread_cond_init(&C, &attributes), 0);
}

static int waiting, go, woken; /* guarded by M */

static void *waits(void *argument) {
    const struct functions *functions = ANY(const struct functions, argument);
    WORKS(functions->pthread_mutex_lock(&M));
    waiting++;
    while (!go) WORKS(functions->pthread_cond_wait(&C, &M));
    woken++;
    WORKS(functions->pthread_mutex_unlock(&M));
    return NULL;
}

static int read_under_mutex(const struct functions *functions, const int *cell) {
    WORKS(functions->pthread_mutex_lock(&M));
    int seen = *cell;
    WORKS(functions->pthread_mutex_unlock(&M));
    return seen;
}

/* The other way waits, and is signalled by name. */
static void signalled(int all) {
    enum { WAITERS = 3 };
    pthread_t threads[WAITERS];
    for (int i = 0; i < WAITERS; i++) threads[i] = START(waits, (void *)&other);
    AWAIT(read_under_mutex(&other, &waiting) == WAITERS);
    WORKS(other.pthread_mutex_lock(&M));
    go = 1;
    WORKS(other.pthread_mutex_unlock(&M));
    for (int i = 0; i < (all ? 1 : WAITERS); i++) WORKS(all ? by_name.pthread_cond_broadcast(&C) : by_name.pthread_cond_signal(&C));
    for (int i = 0; i < WAITERS; i++) END(threads[i]);
}

TEST_EACH(waited_for_by_the_other_and_signalled_by_name, WAYS) {
    begin("waited_for_by_the_other_and_signalled_by_name", row);
    signalled(0);
}
TEST_EACH(waited_for_by_the_other_and_broadcast_by_name, WAYS) {
    begin("waited_for_by_the_other_and_broadcast_by_name", row);
    signalled(1);
}

/* The other way waited first, and that is over. Threads that wait by name are woken either way. */
TEST_EACH(waited_for_by_the_other_before, WAYS) {
    begin("waited_for_by_the_other_before", row);
    for (int round = 0; round < 4; round++) {
        const struct functions *wakes = round & 1 ? &by_name : &other;
        pthread_t first = START(waits, (void *)&other), second = START(waits, (void *)(round ? &by_name : &other));
        AWAIT(read_under_mutex(&other, &waiting) == 2);
        WORKS(wakes->pthread_mutex_lock(&M));
        go = 1;
        WORKS(wakes->pthread_cond_broadcast(&C));
        WORKS(wakes->pthread_mutex_unlock(&M));
        END(first);
        END(second);
        CHECK(woken == 2, "%d of 2 were woken", woken);
        waiting = go = woken = 0;
    }
    WORKS(by_name.pthread_cond_destroy(&C));
}

/* Somebody waited by name before, and now both ways do. A signal by name wakes them, or tells. */
TEST_EACH(waited_for_by_name_before, WAYS) {
    begin("waited_for_by_name_before", row);
    for (int round = 0; round < 2; round++) {
        pthread_t first = START(waits, (void *)&by_name), second = START(waits, (void *)(round ? &other : &by_name));
        AWAIT(read_under_mutex(&by_name, &waiting) == 2);
        WORKS(by_name.pthread_mutex_lock(&M));
        go = 1;
        WORKS(by_name.pthread_mutex_unlock(&M));
        WORKS(by_name.pthread_cond_broadcast(&C));
        END(first);
        END(second);
        waiting = go = 0;
    }
}

/* Nobody ever waited: signals are for nobody, whoever gives them. */
TEST_EACH(signalled_by_both_before_anybody_waits, WAYS) {
    begin("signalled_by_both_before_anybody_waits", row);
    for (int i = 0; i < 8; i++) {
        WORKS((i & 1 ? &by_name : &other)->pthread_cond_signal(&C));
        WORKS((i & 2 ? &by_name : &other)->pthread_cond_broadcast(&C));
    }
    signalled(0);
}
