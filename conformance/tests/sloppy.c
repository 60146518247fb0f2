/* What POSIX leaves open, and programs do all the same: a mutex that is unlocked once too often, or not by its locker; locks of threads that are gone; a private lock that two processes use. With glibc each of them goes well. */
#define GROUP "sloppy"
#include "../kinds.h"

static pthread_mutex_t M;
static pthread_rwlock_t L = PTHREAD_RWLOCK_INITIALIZER;

/* ---- Unlocked once too often ------------------------------------------------------------------ */

/* Kinds that know no owner. */
static const struct kind OWNERLESS[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0},
    {"static-normal", PTHREAD_MUTEX_NORMAL, STATICALLY, 0, PTHREAD_PRIO_NONE, 0},
    {"static-adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, STATICALLY, 0, PTHREAD_PRIO_NONE, 0},
    {"shared-normal", PTHREAD_MUTEX_NORMAL, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 1},
    {"shared-adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 1},
};

/* What a mutex must do whatever was done to it before. */
static void *still_works(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        GIVES(pthread_mutex_trylock(&M), 0);
        GIVES(ELSEWHERE(trylock, &M), EBUSY);
        GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(ELSEWHERE(lock_unlock, &M), 0);
    }
    return NULL;
}

TEST_EACH(unlock_of_a_free_one, OWNERLESS) {
    make_mutex(&M, &OWNERLESS[row]);
    GIVES(pthread_mutex_unlock(&M), 0);
    END(START(still_works, NULL));
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(unlock, &M), 0);
    END(START(still_works, NULL));
}

static long counter;

static void *counts(void *unused) {
    (void)unused;
    for (int i = 0; i < 500; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        long seen = counter;
        if (i % 16 == 0) sched_yield(); /* so that others wait */
        counter = seen + 1;
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    return NULL;
}

static void *unlocks_too_often(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

static void all_do(void *(*body)(void *)) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = START(body, NULL);
    for (int i = 0; i < 4; i++) END(threads[i]);
}

/* The same after and before many wait for it. Not at the same time: there glibc may end the process, since its lockers assert that nobody
 * else unlocks. */
TEST_EACH(unlocks_too_many_between_crowds, OWNERLESS) {
    make_mutex(&M, &OWNERLESS[row]);
    for (int round = 1; round <= 20; round++) {
        all_do(counts);
        CHECK(counter == 2000L * round, "counted to %ld, not to %ld", counter, 2000L * round);
        all_do(unlocks_too_often);
    }
    END(START(still_works, NULL));
}

static int turn, ended;

static void *locks_at_each_turn(void *unused) {
    (void)unused;
    for (int round = 1; round <= 1000; round++) {
        while (READ(&turn) != round) sched_yield();
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        PUT(&ended, round);
    }
    return NULL;
}

/* One waits; the second unlock may come before it is in, while it is, or after. */
TEST_EACH(unlocked_twice_before_a_waiter, OWNERLESS) {
    make_mutex(&M, &OWNERLESS[row]);
    pthread_t waiter = START(locks_at_each_turn, NULL);
    for (int round = 1; round <= 1000; round++) {
        GIVES(pthread_mutex_lock(&M), 0);
        PUT(&turn, round);
        sleep_us(round % 4 * 100);
        GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        AWAIT(READ(&ended) == round);
    }
    END(waiter);
    END(START(still_works, NULL));
}

/* ---- Unlocked by another ---------------------------------------------------------------------- */

static pthread_cond_t C = PTHREAD_COND_INITIALIZER;
static int waiting, there, done, hand_over; /* `there` is guarded by M */

static void *waits(void *unused) {
    (void)unused;
    for (;;) {
        GIVES(pthread_mutex_lock(&M), 0);
        UP(&waiting);
        while (!there) GIVES(pthread_cond_wait(&C, &M), 0);
        there = 0;
        GIVES(pthread_mutex_unlock(&M), 0);
        UP(&done);
    }
}

static void *unlocks_for_another(void *unused) {
    (void)unused;
    for (;;) {
        while (!READ(&hand_over)) {
        }
        PUT(&hand_over, 0);
        GIVES(pthread_mutex_unlock(&M), 0);
    }
}

/* As AWAIT, without a nap: the calls of the two threads are to meet. */
static void await_flag(int *flag, const char *complaint, int round) {
    struct timespec give_up = in_ms(CLOCK_MONOTONIC, TIMEOUT * 1000L);
    while (!READ(flag)) CHECK(!reached(CLOCK_MONOTONIC, &give_up), "%s in round %d", complaint, round);
}

/* Whether the mutex is still held when its locker signals, or not any more: no signal is lost. */
TEST_EACH(signal_while_another_unlocks, OWNERLESS) {
    make_mutex(&M, &OWNERLESS[row]);
    START(waits, NULL); /* both go on until the process exits */
    START(unlocks_for_another, NULL);
    for (int round = 1; time_left(); round++) {
        await_flag(&waiting, "the waiter did not come back", round);
        GIVES(pthread_mutex_lock(&M), 0);
        there = 1;
        PUT(&waiting, 0);
        PUT(&done, 0);
        UP(&hand_over);
        for (volatile int pause = 0; pause < round % 200; pause++) {
        }
        GIVES(pthread_cond_signal(&C), 0);
        await_flag(&done, "a signal was lost", round);
    }
}

/* ---- Left locked by a thread that is gone ------------------------------------------------------ */

static const struct kind OWNED[] = {
    {"recursive", PTHREAD_MUTEX_RECURSIVE, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0},
    {"errorcheck", PTHREAD_MUTEX_ERRORCHECK, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0},
    {"static-recursive", PTHREAD_MUTEX_RECURSIVE, STATICALLY, 0, PTHREAD_PRIO_NONE, 0},
    {"static-errorcheck", PTHREAD_MUTEX_ERRORCHECK, STATICALLY, 0, PTHREAD_PRIO_NONE, 0},
    {"shared-recursive", PTHREAD_MUTEX_RECURSIVE, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 1},
    {"shared-errorcheck", PTHREAD_MUTEX_ERRORCHECK, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 1},
};

static int timedlock(void *mutex) {
    struct timespec soon_over = in_ms(CLOCK_REALTIME, 5);
    return pthread_mutex_timedlock(ANY(pthread_mutex_t, mutex), &soon_over);
}

/* A new thread often has the stack, and so the pthread_t, of the one that is gone. It is not its owner for that. */
TEST_EACH(mutex_of_a_dead_thread, OWNED) {
    make_mutex(&M, &OWNED[row]);
    GIVES(ELSEWHERE(lock, &M), 0);
    for (int i = 0; i < 4; i++) {
        GIVES(ELSEWHERE(trylock, &M), EBUSY);
        GIVES(ELSEWHERE(timedlock, &M), ETIMEDOUT);
        GIVES(ELSEWHERE(unlock, &M), EPERM);
    }
    GIVES(pthread_mutex_unlock(&M), EPERM);
    GIVES(pthread_mutex_trylock(&M), EBUSY);
}

static int wrlock(void *lock) { return pthread_rwlock_wrlock(ANY(pthread_rwlock_t, lock)); }
static int trywrlock(void *lock) { return pthread_rwlock_trywrlock(ANY(pthread_rwlock_t, lock)); }
static int tryrdlock(void *lock) { return pthread_rwlock_tryrdlock(ANY(pthread_rwlock_t, lock)); }
static int timedwrlock(void *lock) {
    struct timespec soon_over = in_ms(CLOCK_REALTIME, 5);
    return pthread_rwlock_timedwrlock(ANY(pthread_rwlock_t, lock), &soon_over);
}
static int timedrdlock(void *lock) {
    struct timespec soon_over = in_ms(CLOCK_REALTIME, 5);
    return pthread_rwlock_timedrdlock(ANY(pthread_rwlock_t, lock), &soon_over);
}

TEST(rwlock_of_a_dead_writer) {
    GIVES(ELSEWHERE(wrlock, &L), 0);
    for (int i = 0; i < 4; i++) {
        GIVES(ELSEWHERE(trywrlock, &L), EBUSY);
        GIVES(ELSEWHERE(tryrdlock, &L), EBUSY);
        GIVES(ELSEWHERE(timedwrlock, &L), ETIMEDOUT); /* and not EDEADLK */
        GIVES(ELSEWHERE(timedrdlock, &L), ETIMEDOUT);
    }
}

static int rdlock_begun;
static void *reads(void *unused) {
    (void)unused;
    UP(&rdlock_begun);
    int code = pthread_rwlock_rdlock(&L);
    FAIL("pthread_rwlock_rdlock gives %s (%d) while a thread that is gone has the write lock", error_name(code), code);
    return NULL;
}

TEST(rdlock_waits_for_a_dead_writer) {
    GIVES(ELSEWHERE(wrlock, &L), 0);
    START(reads, NULL); /* waits until the process exits */
    AWAIT(READ(&rdlock_begun));
    settle();
}

/* ---- Private, and used by two processes -------------------------------------------------------- */

struct common {
    pthread_spinlock_t lock;
    long counter;
};

TEST(private_spin_lock_of_two_processes) {
    enum { ROUNDS = 30000 };
    struct common *common = ANY(struct common, shared_memory(sizeof *common));
    GIVES(pthread_spin_init(&common->lock, PTHREAD_PROCESS_PRIVATE), 0);
    pid_t child = forked();
    for (int i = 0; i < ROUNDS; i++) {
        GIVES(pthread_spin_lock(&common->lock), 0);
        long seen = common->counter;
        if (i % 100 == 0) sleep_us(1); /* so that the other meets a held lock */
        common->counter = seen + 1;
        GIVES(pthread_spin_unlock(&common->lock), 0);
    }
    if (child == 0) _exit(0);
    END_CHILD(child);
    CHECK(common->counter == 2L * ROUNDS, "counted to %ld, not to %d", common->counter, 2 * ROUNDS);
}
