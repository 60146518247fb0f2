/* fork in programs with threads. */
#define GROUP "fork"
#include "../conds.h"
#include <dlfcn.h>

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER, OTHER = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t L = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t C = PTHREAD_COND_INITIALIZER;
static int stop, passes, begun, use_rwlock;

static void *busy(void *unused) {
    (void)unused;
    ADD(&begun, 1);
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

/* One that is just beginning may hold a lock of the allocator. A sanitizer's allocator has it locked in the child for ever. */
static void start_all(pthread_t *threads, int count) {
    for (int i = 0; i < count; i++) threads[i] = START(busy, NULL);
    AWAIT(READ(&begun) == count);
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
    start_all(threads, THREADS);
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
    start_all(threads, THREADS);
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
    start_all(threads, THREADS);
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

/* ---- Threads that sleep for an object while another one forks ----------------------------------- */

enum { SLEEPERS = 4 };
static pid_t sleepers[SLEEPERS];
static int came_back;

/* Starts threads that take a lock once each, and waits until they sleep or, if they `spin`, have had time to wait. */
static void start_sleepers(pthread_t *threads, void *(*body)(void *), int spin) {
    for (long i = 0; i < SLEEPERS; i++) {
        PUT(&sleepers[i], 0);
        threads[i] = START(body, (void *)i);
        AWAIT(READ(&sleepers[i]) != 0 && (spin || sleeps(READ(&sleepers[i]))));
    }
    if (spin) settle();
}

static void end_sleepers(pthread_t *threads) {
    for (int i = 0; i < SLEEPERS; i++) END(threads[i]);
    CHECK(READ(&came_back) == SLEEPERS, "%d threads came back", READ(&came_back));
    PUT(&came_back, 0);
}

static void *locks_once(void *number) {
    PUT(&sleepers[(long)number], my_tid());
    GIVES(pthread_mutex_lock(&M), 0);
    ADD(&came_back, 1);
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

/* Who sleeps for the mutex, its head among them, is not in the child. Threads of the child sleep for it, and are woken. */
TEST_EACH(sleepers_of_a_mutex, OWNERLESS) {
    pthread_t threads[SLEEPERS];
    make_mutex(&M, &OWNERLESS[row]);
    GIVES(pthread_mutex_lock(&M), 0);
    start_sleepers(threads, locks_once, waiters_spin());
    pid_t child = forked();
    if (child == 0) {
        start_sleepers(threads, locks_once, waiters_spin());
        GIVES(pthread_mutex_unlock(&M), 0);
        end_sleepers(threads);
        GIVES(pthread_mutex_trylock(&M), 0);
        _exit(0);
    }
    END_CHILD(child);
    GIVES(pthread_mutex_unlock(&M), 0);
    end_sleepers(threads);
}

static const struct shape {
    const char *name;
    int kind, forker_reads, first_reads;
} SHAPES[] = {
    {"default/held-by-a-reader", PTHREAD_RWLOCK_PREFER_READER_NP, 1, 0},
    {"default/held-by-a-writer/reader-first", PTHREAD_RWLOCK_PREFER_READER_NP, 0, 1},
    {"default/held-by-a-writer/writer-first", PTHREAD_RWLOCK_PREFER_READER_NP, 0, 0},
    {"prefer-writer/held-by-a-reader", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 1, 0},
    {"prefer-writer/held-by-a-writer/reader-first", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0, 1},
    {"prefer-writer/held-by-a-writer/writer-first", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0, 0},
};
static const struct shape *shape;

/* Writers and readers in turns. Beside a reader only writers sleep. */
static void *shares_once(void *number) {
    int reads = !shape->forker_reads && ((long)number % 2 == 0) == shape->first_reads;
    PUT(&sleepers[(long)number], my_tid());
    GIVES(reads ? pthread_rwlock_rdlock(&L) : pthread_rwlock_wrlock(&L), 0);
    ADD(&came_back, 1);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return NULL;
}

/* What POSIX leaves open, and libc's lock does not do: its word goes on counting writers that the child does not have. */
static void needs_a_lock_that_forgets(void) {
    Dl_info where;
    if (dladdr(dlsym(RTLD_DEFAULT, "pthread_rwlock_wrlock"), &where) != 0 && strstr(where.dli_fname, "/libc.so") != NULL)
        SKIP("libc's own reader-writer locks are of no use in a child that lacks their waiters");
}

TEST_EACH(sleepers_of_a_rwlock, SHAPES) {
    pthread_t threads[SLEEPERS];
    needs_a_lock_that_forgets();
    pthread_rwlockattr_t attributes;
    shape = &SHAPES[row];
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, shape->kind), 0);
    GIVES(pthread_rwlock_init(&L, &attributes), 0);
    GIVES(shape->forker_reads ? pthread_rwlock_rdlock(&L) : pthread_rwlock_wrlock(&L), 0);
    start_sleepers(threads, shares_once, 0);
    pid_t child = forked();
    if (child == 0) {
        start_sleepers(threads, shares_once, 0);
        GIVES(pthread_rwlock_unlock(&L), 0);
        end_sleepers(threads);
        GIVES(pthread_rwlock_trywrlock(&L), 0);
        _exit(0);
    }
    END_CHILD(child);
    GIVES(pthread_rwlock_unlock(&L), 0);
    end_sleepers(threads);
}

static void *waits_once(void *number) {
    GIVES(pthread_mutex_lock(&M), 0);
    PUT(&sleepers[(long)number], my_tid());
    GIVES(pthread_cond_wait(&C, &M), 0);
    ADD(&came_back, 1);
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

static void wake_one_by_one(void) {
    for (int i = 0; i < SLEEPERS; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(pthread_cond_signal(&C), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        AWAIT(READ(&came_back) == i + 1);
    }
}

TEST(sleepers_of_a_condition_variable) {
    pthread_t threads[SLEEPERS];
    start_sleepers(threads, waits_once, 0);
    GIVES(pthread_mutex_lock(&M), 0);
    pid_t child = forked();
    GIVES(pthread_mutex_unlock(&M), 0);
    if (child == 0) {
        start_sleepers(threads, waits_once, 0);
        wake_one_by_one();
        end_sleepers(threads);
        _exit(0);
    }
    END_CHILD(child);
    wake_one_by_one();
    end_sleepers(threads);
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
            exec_again("fork.waiters_stay_with_the_parent");
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
