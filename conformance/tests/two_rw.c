/* Reader-writer locks that are used both by name and in a way that a preloaded library does not see; as two.c has it for mutexes. libc
 * looks at nothing but its own words, so a library that keeps its locks elsewhere can find out only afterwards that two got in: when its own threads
 * lock or unlock. */
#define GROUP "two_rw"
#include "../two_ways.h"

static pthread_rwlock_t L;

#define EACH_WAY(prefix, preference)                                                                                           \
    {"handle-" prefix, by_handle, preference}, {"deepbind-" prefix, by_deepbind, preference},                                  \
    {"dlmopen-" prefix, by_dlmopen, preference}

static const struct way {
    const char *name;
    void (*get)(void);
    int preference;
} WAYS[] = {
    EACH_WAY("default", PTHREAD_RWLOCK_DEFAULT_NP),
    EACH_WAY("nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP),
};

static void begin(const char *test, size_t row) {
    pthread_rwlockattr_t attributes;
    in_a_process(test, WAYS[row].name);
    WAYS[row].get();
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, WAYS[row].preference), 0);
    GIVES(pthread_rwlock_init(&L, &attributes), 0);
}

struct call {
    const struct functions *functions;
    int writes, begun, in;
};

static int acquires(const struct functions *functions, int writes) {
    return writes ? functions->pthread_rwlock_wrlock(&L) : functions->pthread_rwlock_rdlock(&L);
}

static void *performs(void *argument) {
    struct call *call = ANY(struct call, argument);
    UP(&call->begun);
    WORKS(acquires(call->functions, call->writes));
    UP(&call->in);
    WORKS(call->functions->pthread_rwlock_unlock(&L));
    return NULL;
}

/* The other way has it: threads come by name, wait, and get it. Unlocked by `releaser`. */
static void waited_for(int held_to_write, const struct functions *releaser) {
    struct call calls[4];
    pthread_t threads[4];
    WORKS(acquires(&other, held_to_write));
    for (int i = 0; i < 4; i++) {
        struct call call = {i < 2 ? &by_name : &other, held_to_write ? i % 2 : 1, 0, 0};
        calls[i] = call;
        threads[i] = START(performs, &calls[i]);
        AWAIT(READ(&calls[i].begun));
    }
    settle();
    for (int i = 0; i < 4; i++) CHECK(!READ(&calls[i].in), "a thread got in while another one wrote, or to write while another one read");
    WORKS(releaser->pthread_rwlock_unlock(&L));
    for (int i = 0; i < 4; i++) END(threads[i]);
}

TEST_EACH(written_by_the_other_and_waited_for, WAYS) {
    begin("written_by_the_other_and_waited_for", row);
    waited_for(1, &other);
}
TEST_EACH(read_by_the_other_and_waited_for, WAYS) {
    begin("read_by_the_other_and_waited_for", row);
    waited_for(0, &other);
}
TEST_EACH(written_by_the_other_and_unlocked_by_name, WAYS) {
    begin("written_by_the_other_and_unlocked_by_name", row);
    waited_for(1, &by_name);
}
TEST_EACH(read_by_the_other_and_unlocked_by_name, WAYS) {
    begin("read_by_the_other_and_unlocked_by_name", row);
    waited_for(0, &by_name);
}

static const struct functions *tries_by;
static int tries(void *writes) {
    int code = writes ? tries_by->pthread_rwlock_trywrlock(&L) : tries_by->pthread_rwlock_tryrdlock(&L);
    if (code == 0) WORKS(tries_by->pthread_rwlock_unlock(&L));
    return code;
}

/* One thread, each one way or the other: in between, and at the end, it is what it must be for those who try by name. */
TEST_EACH(locked_and_unlocked, WAYS) {
    begin("locked_and_unlocked", row);
    for (int i = 0; i < 64; i++) {
        const struct functions *locks = i & 1 ? &by_name : &other, *unlocks = i & 2 ? &by_name : &other;
        int writes = i & 4;
        WORKS(acquires(locks, writes));
        tries_by = &by_name;
        int reads = ELSEWHERE(tries, NULL);
        CHECK(reads == (writes ? EBUSY : 0), "tryrdlock gives %s while another one %s", error_name(reads), writes ? "writes" : "reads");
        CHECK(ELSEWHERE(tries, &L) == EBUSY, "trywrlock gets in");
        WORKS(unlocks->pthread_rwlock_unlock(&L));
        tries_by = i & 8 ? &by_name : &other;
        GIVES(ELSEWHERE(tries, &L), 0);
        GIVES(ELSEWHERE(tries, NULL), 0);
    }
    WORKS(by_name.pthread_rwlock_destroy(&L));
}

/* Those who read may do so both ways. */
TEST_EACH(read_both_ways, WAYS) {
    begin("read_both_ways", row);
    for (int i = 0; i < 4; i++) {
        WORKS(by_name.pthread_rwlock_rdlock(&L));
        WORKS(other.pthread_rwlock_rdlock(&L));
        tries_by = &by_name;
        GIVES(ELSEWHERE(tries, NULL), 0);
        CHECK(ELSEWHERE(tries, &L) == EBUSY, "trywrlock gets in");
        WORKS((i & 1 ? &by_name : &other)->pthread_rwlock_unlock(&L));
        CHECK(ELSEWHERE(tries, &L) == EBUSY, "trywrlock gets in");
        WORKS((i & 1 ? &other : &by_name)->pthread_rwlock_unlock(&L));
        GIVES(ELSEWHERE(tries, &L), 0);
    }
}

/* Some threads go one way, some the other: whoever gets in beside a writer hears of it, and nobody hangs. */
static long counter;
static int writers, readers, met;
static void *works(void *argument) {
    const struct functions *functions = ANY(const struct functions, argument);
    for (int i = 0; i < 1500; i++) {
        int writes = i % 3 == 0;
        WORKS(acquires(functions, writes));
        if (writes) {
            if (ADD(&writers, 1) != 1 || READ(&readers) != 0) UP(&met);
            if (i % 2 == 0) sched_yield();
            counter++;
            ADD(&writers, -1);
        } else {
            ADD(&readers, 1);
            if (READ(&writers) != 0) UP(&met);
            if (i % 2 == 0) sched_yield();
            ADD(&readers, -1);
        }
        WORKS(functions->pthread_rwlock_unlock(&L));
    }
    return NULL;
}

TEST_EACH(used_both_ways_at_once, WAYS) {
    pthread_t threads[4];
    begin("used_both_ways_at_once", row);
    for (int i = 0; i < 4; i++) threads[i] = START(works, (void *)(i % 2 ? &by_name : &other));
    for (int i = 0; i < 4; i++) END(threads[i]);
    /* Where two met for a moment before the lock was left to one library, that library may not know of it. */
    if (!met) CHECK(counter == 2000, "counted to %ld, not to 2000", counter);
}
