/* The probes by which published tables compare interposing lock libraries, one column each. The eleventh, which needs C++, is in
 * probe_cpp.cc. Each is small on purpose, and asks for nothing that a program would not. */
#define GROUP "probe"
#include "../check.h"

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t L = PTHREAD_RWLOCK_INITIALIZER;
static long counter;

static void *counts(void *unused) {
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&M);
        long seen = counter;
        if (i % 256 == 0) sched_yield(); /* so that threads meet, on any number of CPUs */
        counter = seen + 1;
        pthread_mutex_unlock(&M);
    }
    return NULL;
}

TEST(counter_of_4_threads) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = START(counts, NULL);
    for (int i = 0; i < 4; i++) END(threads[i]);
    CHECK(counter == 80000, "counted to %ld, not 80000", counter);
}

static int tryrdlock(void *unused) {
    (void)unused;
    return pthread_rwlock_tryrdlock(&L);
}
static int trywrlock(void *unused) {
    (void)unused;
    return pthread_rwlock_trywrlock(&L);
}

TEST(try_forms_while_write_held) {
    GIVES(pthread_rwlock_wrlock(&L), 0);
    GIVES(ELSEWHERE(tryrdlock, NULL), EBUSY);
    GIVES(ELSEWHERE(trywrlock, NULL), EBUSY);
    GIVES(pthread_rwlock_unlock(&L), 0);
}

static int readers;

static void *reads(void *unused) {
    (void)unused;
    GIVES(pthread_rwlock_rdlock(&L), 0);
    ADD(&readers, 1);
    AWAIT(READ(&readers) == 2);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return NULL;
}

TEST(two_readers_at_once) {
    pthread_t one = START(reads, NULL), two = START(reads, NULL);
    END(one);
    END(two);
}

static int trylock(void *unused) {
    (void)unused;
    return pthread_mutex_trylock(&M);
}

static void make(int type, int shared, pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setpshared(&attributes, shared);
    GIVES(pthread_mutex_init(mutex, &attributes), 0);
}

TEST(recursive) {
    make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PROCESS_PRIVATE, &M);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(trylock, NULL), EBUSY);
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(trylock, NULL), 0);
}

TEST(error_checking) {
    make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PROCESS_PRIVATE, &M);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_mutex_lock(&M), EDEADLK);
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(pthread_mutex_unlock(&M), EPERM);
}

static int timedlock(void *unused) {
    (void)unused;
    struct timespec soon = in_ms(CLOCK_REALTIME, 50);
    int code = pthread_mutex_timedlock(&M, &soon);
    CHECK(reached(CLOCK_REALTIME, &soon), "gave up before its deadline");
    return code;
}

TEST(timed_lock) {
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(ELSEWHERE(timedlock, NULL), ETIMEDOUT);
    GIVES(pthread_mutex_unlock(&M), 0);
    struct timespec later = in_ms(CLOCK_REALTIME, 20000);
    GIVES(pthread_mutex_timedlock(&M, &later), 0);
}

static pthread_cond_t turns[8];
static int turn;

static void *passes_on(void *argument) {
    int me = (int)(size_t)argument;
    pthread_mutex_lock(&M);
    for (int lap = 0; lap < 250; lap++) {
        while (turn != me) pthread_cond_wait(&turns[me], &M);
        turn = (me + 1) % 8;
        pthread_cond_signal(&turns[turn]);
    }
    pthread_mutex_unlock(&M);
    return NULL;
}

TEST(ring_of_8_threads) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_cond_init(&turns[i], NULL);
    for (size_t i = 0; i < 8; i++) threads[i] = START(passes_on, (void *)i);
    for (int i = 0; i < 8; i++) END(threads[i]);
}

static void *locks_once(void *unused) {
    (void)unused;
    pthread_mutex_lock(&M);
    counter++;
    pthread_mutex_unlock(&M);
    return NULL;
}

TEST(threads_2500_one_after_another) {
    for (int i = 0; i < 2500; i++) END(START(locks_once, NULL));
    CHECK(counter == 2500, "counted to %ld, not 2500", counter);
}

struct common {
    pthread_mutex_t mutex;
    int here;
    long counter;
};

TEST(process_shared) {
    struct common *common = ANY(struct common, shared_memory(sizeof *common));
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, &common->mutex);
    pid_t child = forked();
    ADD(&common->here, 1);
    while (READ(&common->here) != 2) sched_yield(); /* else one may be done before the other begins */
    for (int i = 0; i < 50000; i++) {
        pthread_mutex_lock(&common->mutex);
        long seen = common->counter;
        if (i % 256 == 0) sched_yield();
        common->counter = seen + 1;
        pthread_mutex_unlock(&common->mutex);
    }
    if (child == 0) _exit(0);
    END_CHILD(child);
    CHECK(common->counter == 100000, "counted to %ld, not 100000", common->counter);
}

/* What the program of the next probe does instead of a test: locks, and prints. */
__attribute__((constructor)) static void says_hello(void) {
    if (getenv("PROBE_SAYS_HELLO") == NULL) return;
    unsetenv("PROBE_SAYS_HELLO");
    END(START(locks_once, NULL));
    printf("hello\n");
    exit(0);
}

TEST(stdout_untouched) {
    char said[400];
    run_again(NULL, "PROBE_SAYS_HELLO", NULL, said, sizeof said);
    if (strcmp(said, "hello\n") == 0) return;
    for (char *at = said; *at; at++)
        if (*at == '\n') *at = ' ';
    FAIL("a program that prints `hello` printed `%s`", said);
}
