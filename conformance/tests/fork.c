/* fork in programs with threads. */
#define GROUP "fork"
#include "../conds.h"

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER, OTHER = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t L = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t C = PTHREAD_COND_INITIALIZER;
static int stop, passes, use_rwlock;

static void *busy(void *unused) {
    (void)unused;
    while (!READ(&stop)) {
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(pthread_mutex_lock(&OTHER), 0);
        ADD(&passes, 1);
        GIVES(pthread_mutex_unlock(&OTHER), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        if (use_rwlock) {
            GIVES(pthread_rwlock_rdlock(&L), 0);
            GIVES(pthread_rwlock_unlock(&L), 0);
        }
    }
    return NULL;
}

/* An allocator's way: all locks are taken before the fork, and released on both sides. */
static void before(void) {
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_mutex_lock(&OTHER), 0);
    if (use_rwlock) GIVES(pthread_rwlock_wrlock(&L), 0);
}
static void after(void) {
    if (use_rwlock) GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_mutex_unlock(&OTHER), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
}

static void child_uses_locks(void) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    PUT(&passes, 0);
    PUT(&stop, 0);
    for (int i = 0; i < THREADS; i++) threads[i] = START(busy, NULL);
    AWAIT(READ(&passes) > 200);
    UP(&stop);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
    GIVES(pthread_mutex_trylock(&M), 0);
    _exit(0);
}

/* Kinds without an owner in glibc's eyes: the child has another thread id, and may not unlock those that know theirs. */
static const struct kind OWNERLESS[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0},
    {"static-normal", PTHREAD_MUTEX_NORMAL, STATICALLY, 0, PTHREAD_PRIO_NONE, 0},
    {"static-adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, STATICALLY, 0, PTHREAD_PRIO_NONE, 0},
};

/* Threads wait for the lock that the forking thread holds. They are not in the child, where its word may say that somebody waits. */
TEST_EACH(locks_held_across_fork, OWNERLESS) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    make_mutex(&M, &OWNERLESS[row]);
    make_mutex(&OTHER, &OWNERLESS[row]);
    GIVES(pthread_atfork(before, after, after), 0);
    for (int i = 0; i < THREADS; i++) threads[i] = START(busy, NULL);
    for (int round = 0; round < 15 && time_left(); round++) {
        pid_t child = forked();
        if (child == 0) child_uses_locks();
        END_CHILD(child);
    }
    UP(&stop);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
}

/* A write lock knows its owner's thread id: the child makes it anew. */
TEST(rwlock_held_across_fork) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    use_rwlock = 1;
    for (int i = 0; i < THREADS; i++) threads[i] = START(busy, NULL);
    for (int round = 0; round < 10 && time_left(); round++) {
        before();
        pid_t child = forked();
        if (child == 0) {
            GIVES(pthread_rwlock_init(&L, NULL), 0);
            use_rwlock = 0;
            after();
            use_rwlock = 1;
            child_uses_locks();
        }
        after();
        END_CHILD(child);
    }
    UP(&stop);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
}

/* Nobody held it, but many had waited for it and slept: the child begins with what they left. */
TEST(contended_before_fork) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = START(busy, NULL);
    for (int round = 0; round < 15 && time_left(); round++) {
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(pthread_mutex_lock(&OTHER), 0);
        pid_t child = forked();
        GIVES(pthread_mutex_unlock(&OTHER), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        if (child == 0) child_uses_locks();
        END_CHILD(child);
    }
    UP(&stop);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
}

static int waiting, go;
static void *waits(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    waiting++;
    while (!go) GIVES(pthread_cond_wait(&C, &M), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

static int read_waiting(void) {
    GIVES(pthread_mutex_lock(&M), 0);
    int seen = waiting;
    GIVES(pthread_mutex_unlock(&M), 0);
    return seen;
}

static void let_go(pthread_t *threads, int count) {
    AWAIT(read_waiting() == count);
    GIVES(pthread_mutex_lock(&M), 0);
    go = 1;
    GIVES(pthread_cond_broadcast(&C), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    for (int i = 0; i < count; i++) END(threads[i]);
}

/* The child makes its own condition variable; the waiters of the parent's are not disturbed by what the child does. */
TEST(waiters_stay_with_the_parent) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = START(waits, NULL);
    AWAIT(read_waiting() == 4);
    GIVES(pthread_mutex_lock(&M), 0);
    pid_t child = forked();
    GIVES(pthread_mutex_unlock(&M), 0);
    if (child == 0) {
        pthread_t mine[4];
        GIVES(pthread_cond_init(&C, NULL), 0);
        waiting = 0;
        for (int i = 0; i < 4; i++) mine[i] = START(waits, NULL);
        let_go(mine, 4);
        _exit(0);
    }
    END_CHILD(child);
    let_go(threads, 4);
}

/* fork from a thread that is not the first, which then is the child's only one. */
static void *forks(void *unused) {
    (void)unused;
    before();
    pid_t child = forked();
    after();
    if (child == 0) child_uses_locks();
    END_CHILD(child);
    return NULL;
}

TEST(fork_from_another_thread) {
    pthread_t worker = START(busy, NULL);
    for (int i = 0; i < 10; i++) END(START(forks, NULL));
    UP(&stop);
    END(worker);
}

TEST(fork_and_exec) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = START(busy, NULL);
    for (int i = 0; i < 10; i++) {
        pid_t child = forked();
        if (child == 0) {
            execl("/proc/self/exe", "fork", "fork.waiters_stay_with_the_parent", (char *)NULL);
            _exit(126);
        }
        END_CHILD(child);
    }
    UP(&stop);
    for (int i = 0; i < 3; i++) END(threads[i]);
}

/* Children of children. */
TEST(generations) {
    pthread_t worker = START(busy, NULL);
    int depth = 0;
    for (;;) {
        before();
        pid_t child = forked();
        after();
        if (child != 0) {
            END_CHILD(child);
            break;
        }
        if (++depth == 6) child_uses_locks();
    }
    if (depth > 0) _exit(0);
    UP(&stop);
    END(worker);
}
