/* Threads beyond counting: what a library keeps for a thread that waits comes back when the thread is gone, and takes nothing that is the
 * program's. A library that has run out of it makes those who wait poll, or hang. */
#define GROUP "numbers"
#include "../check.h"
#include <limits.h>

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER;

static int begun;

static void *waits_once(void *unused) {
    (void)unused;
    ADD(&begun, 1);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

/* Has a thread wait for the mutex; it may miss that for once. */
static void *waits_for_holder(void *unused) {
    pthread_t thread;
    GIVES(pthread_mutex_lock(&M), 0);
    thread = START(waits_once, unused);
    for (int i = 0; i < 5; i++) sched_yield();
    GIVES(pthread_mutex_unlock(&M), 0);
    END(thread);
    return NULL;
}

/* ---- Who waits sleeps -------------------------------------------------------------------------- */

enum { CROWD = 4, MS = 300 };
static pid_t tids[CROWD];

static void *sleeps_for_it(void *tid) {
    PUT((pid_t *)tid, my_tid());
    return waits_once(NULL);
}

static long long used(void) {
    struct timespec at = now(CLOCK_PROCESS_CPUTIME_ID);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

/* The nanoseconds of CPU time that threads use that only wait for some time, and get the mutex then. */
static long long used_by_waiters(void) {
    pthread_t threads[CROWD];
    GIVES(pthread_mutex_lock(&M), 0);
    for (int i = 0; i < CROWD; i++) {
        PUT(&tids[i], 0);
        threads[i] = START(sleeps_for_it, &tids[i]);
    }
    for (int i = 0; i < CROWD; i++) AWAIT(READ(&tids[i]) != 0);
    settle();
    long long before = used();
    sleep_us(MS * 1000);
    long long spent = used() - before;
    GIVES(pthread_mutex_unlock(&M), 0);
    for (int i = 0; i < CROWD; i++) END(threads[i]);
    return spent;
}

static const long long LITTLE = MS * 1000000LL / 30;

static void needs_sleepers(void) {
    if (used_by_waiters() > LITTLE) SKIP("threads that wait do not sleep anyway");
}

static void must_sleep(void) {
    long long spent = used_by_waiters();
    CHECK(spent <= LITTLE, "threads that only wait used %lld us of CPU time in %d ms", spent / 1000, MS);
}

/* ---- Keys -------------------------------------------------------------------------------------- */

TEST(all_keys_are_the_programs) {
    if (SANITIZED) SKIP("a sanitizer takes a key");
    int keys = 0;
    pthread_key_t key;
    waits_for_holder(NULL);
    while (pthread_key_create(&key, NULL) == 0) keys++;
    CHECK(keys == PTHREAD_KEYS_MAX, "the program gets %d keys of %d", keys, PTHREAD_KEYS_MAX);
}

/* A program that stores under keys that it has not made gets EINVAL; if it does not look, that is no matter to anybody. */
static pthread_barrier_t all;

static void *stores_wildly(void *value) {
    waits_once(NULL);
    pthread_barrier_wait(&all);
    for (pthread_key_t key = 0; key < 8; key++) (void)pthread_setspecific(key, value);
    return NULL;
}

TEST(keys_of_nobody) {
    if (SANITIZED) SKIP("a sanitizer takes a key");
    enum { THREADS = 12 };
    pthread_t threads[THREADS];
    needs_sleepers();
    GIVES(pthread_barrier_init(&all, NULL, THREADS), 0);
    for (int round = 0; round < 3; round++) {
        GIVES(pthread_mutex_lock(&M), 0);
        for (long i = 0; i < THREADS; i++) threads[i] = START(stores_wildly, (void *)(0x10000 + i % 4 + 1));
        sleep_us(2000);
        GIVES(pthread_mutex_unlock(&M), 0);
        for (int i = 0; i < THREADS; i++) END(threads[i]);
        for (pthread_key_t key = 0; key < 8; key++) GIVES(pthread_setspecific(key, &M), EINVAL);
        must_sleep();
    }
}

/* ---- Threads and more threads ------------------------------------------------------------------- */

enum { MANY = 17500, AT_ONCE = 50 };

static pthread_key_t last_key;

/* The last of the rounds that POSIX promises for destructors. */
static void contends_last(void *round) {
    if ((long)round < PTHREAD_DESTRUCTOR_ITERATIONS) {
        GIVES(pthread_setspecific(last_key, (char *)round + 1), 0);
    } else {
        waits_once(NULL);
    }
}

static void *ends_with_a_wait(void *unused) {
    (void)unused;
    GIVES(pthread_setspecific(last_key, (void *)1), 0);
    return NULL;
}

/* So many threads wait for the mutex, then so many others, and so on. */
static void waves(int threads, void *(*body)(void *)) {
    pthread_t wave[AT_ONCE];
    for (int before = 0; before < threads; before += AT_ONCE) {
        PUT(&begun, 0);
        GIVES(pthread_mutex_lock(&M), 0);
        for (int i = 0; i < AT_ONCE; i++) wave[i] = START(body, NULL);
        AWAIT(READ(&begun) == AT_ONCE);
        sleep_us(200);
        GIVES(pthread_mutex_unlock(&M), 0);
        for (int i = 0; i < AT_ONCE; i++) END(wave[i]);
    }
}

TEST(one_wave_after_another) {
    needs_sleepers();
    waves(MANY, waits_once);
    must_sleep();
}

TEST(in_the_last_destructors) {
    needs_sleepers();
    GIVES(pthread_key_create(&last_key, contends_last), 0);
    waves(MANY, ends_with_a_wait);
    must_sleep();
}

/* ---- Forks of forks ------------------------------------------------------------------------------ */

static pthread_mutex_t held[8];
static pid_t waiters[AT_ONCE];

static void *waits_for_ever(void *number) {
    long i = (long)number;
    PUT(&waiters[i], my_tid());
    GIVES(pthread_mutex_lock(&held[i % 8]), 0);
    return NULL;
}

/* Each process has threads that wait, forks one that does not have them, and ends. The last one says how it went. */
static void fork_on(int generations, int *ended) {
    for (int i = 0; i < 8; i++) {
        GIVES(pthread_mutex_init(&held[i], NULL), 0);
        GIVES(pthread_mutex_lock(&held[i]), 0);
    }
    memset(waiters, 0, sizeof waiters);
    for (long i = 0; i < AT_ONCE; i++) START(waits_for_ever, (void *)i);
    for (int i = 0; i < AT_ONCE; i++) AWAIT(READ(&waiters[i]) != 0 && sleeps(waiters[i]));
    pid_t child = fork();
    SETUP(child >= 0);
    if (child != 0) return;
    if (generations > 1) {
        fork_on(generations - 1, ended);
    } else {
        must_sleep();
        UP(ended);
    }
    passed();
    _exit(0);
}

TEST(forks_of_forks) {
    needs_sleepers();
    int *ended = ANY(int, mmap(NULL, sizeof *ended, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    SETUP(ended != MAP_FAILED);
    fork_on(MANY / AT_ONCE, ended);
    AWAIT(READ(ended));
}
