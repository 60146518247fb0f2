/* The C11 forms: mtx_*, cnd_*. */
#define GROUP "c11"
#include "../check.h"
#include <threads.h>

static const struct {
    const char *name;
    int type;
} TYPES[] = {{"plain", mtx_plain},
             {"timed", mtx_timed},
             {"plain-recursive", mtx_plain | mtx_recursive},
             {"timed-recursive", mtx_timed | mtx_recursive}};

static mtx_t M;
static cnd_t C;

static void make(size_t row) { GIVES(mtx_init(&M, TYPES[row].type), thrd_success); }
static int recursive(size_t row) { return (TYPES[row].type & mtx_recursive) != 0; }
static int trylock(void *unused) {
    (void)unused;
    return mtx_trylock(&M);
}
static int trylock_unlock(void *unused) {
    int code = trylock(unused);
    return code == thrd_success ? mtx_unlock(&M) : code;
}
static int timedlock(void *unused) {
    (void)unused;
    struct timespec soon = in_ms(CLOCK_REALTIME, 10);
    int code = mtx_timedlock(&M, &soon);
    CHECK(code != thrd_timedout || reached(CLOCK_REALTIME, &soon), "gave up before its deadline");
    return code;
}

TEST_EACH(lock_and_unlock, TYPES) {
    make(row);
    for (int i = 0; i < 3; i++) {
        GIVES(mtx_lock(&M), thrd_success);
        GIVES(ELSEWHERE(trylock, NULL), thrd_busy);
        GIVES(mtx_unlock(&M), thrd_success);
        GIVES(mtx_trylock(&M), thrd_success);
        GIVES(ELSEWHERE(trylock, NULL), thrd_busy);
        GIVES(mtx_unlock(&M), thrd_success);
        GIVES(ELSEWHERE(trylock_unlock, NULL), thrd_success);
    }
    mtx_destroy(&M);
}

TEST_EACH(timed, TYPES) {
    make(row);
    if (!(TYPES[row].type & mtx_timed)) SKIP("mtx_timedlock of a type without mtx_timed is undefined");
    struct timespec past = {0, 0}, bad = in_ms(CLOCK_REALTIME, 3600 * 1000);
    GIVES(mtx_timedlock(&M, &past), thrd_success);
    GIVES(ELSEWHERE(timedlock, NULL), thrd_timedout);
    GIVES(mtx_unlock(&M), thrd_success);
    GIVES(ELSEWHERE(trylock_unlock, NULL), thrd_success);
    bad.tv_nsec = 1000000000;
    GIVES(ELSEWHERE(trylock, NULL), thrd_success); /* held by a thread that is gone */
    GIVES(mtx_timedlock(&M, &bad), thrd_error);
}

TEST_EACH(lock_by_the_owner, TYPES) {
    make(row);
    GIVES(mtx_lock(&M), thrd_success);
    GIVES(mtx_trylock(&M), recursive(row) ? thrd_success : thrd_busy);
    if (!recursive(row)) return;
    GIVES(mtx_lock(&M), thrd_success);
    for (int i = 0; i < 3; i++) {
        GIVES(ELSEWHERE(trylock, NULL), thrd_busy);
        GIVES(mtx_unlock(&M), thrd_success);
    }
    GIVES(ELSEWHERE(trylock_unlock, NULL), thrd_success);
}

static long counter;

static int counts(void *unused) {
    (void)unused;
    for (int i = 0; i < 5000; i++) {
        GIVES(mtx_lock(&M), thrd_success);
        long seen = counter;
        if (i % 64 == 0) thrd_yield();
        counter = seen + 1;
        GIVES(mtx_unlock(&M), thrd_success);
    }
    return 7;
}

TEST_EACH(excludes, TYPES) {
    thrd_t threads[6];
    int result = 0;
    make(row);
    for (int i = 0; i < 6; i++) GIVES(thrd_create(&threads[i], counts, NULL), thrd_success);
    for (int i = 0; i < 6; i++) {
        GIVES(thrd_join(threads[i], &result), thrd_success);
        CHECK(result == 7, "the thread gave %d", result);
    }
    CHECK(counter == 30000, "counted to %ld, not 30000", counter);
}

static int waiting, woken, go;

static void *waits(void *timed) {
    struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
    GIVES(mtx_lock(&M), thrd_success);
    waiting++;
    while (!go) GIVES(timed ? cnd_timedwait(&C, &M, &later) : cnd_wait(&C, &M), thrd_success);
    go--;
    woken++;
    GIVES(ELSEWHERE(trylock, NULL), thrd_busy);
    GIVES(mtx_unlock(&M), thrd_success);
    return NULL;
}

static int read_under_mutex(const int *cell) {
    GIVES(mtx_lock(&M), thrd_success);
    int seen = *cell;
    GIVES(mtx_unlock(&M), thrd_success);
    return seen;
}

TEST_EACH(signal_and_broadcast, TYPES) {
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    make(row);
    GIVES(cnd_init(&C), thrd_success);
    GIVES(cnd_signal(&C), thrd_success);
    for (int i = 0; i < THREADS; i++) threads[i] = START(waits, i % 2 ? &counter : NULL);
    AWAIT(read_under_mutex(&waiting) == THREADS);
    for (int i = 1; i <= 2; i++) {
        GIVES(mtx_lock(&M), thrd_success);
        go++;
        GIVES(cnd_signal(&C), thrd_success);
        GIVES(mtx_unlock(&M), thrd_success);
        AWAIT(read_under_mutex(&woken) == i);
    }
    GIVES(mtx_lock(&M), thrd_success);
    go = THREADS - 2;
    GIVES(mtx_unlock(&M), thrd_success);
    GIVES(cnd_broadcast(&C), thrd_success);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
    cnd_destroy(&C);
    mtx_destroy(&M);
}

TEST_EACH(timed_wait_times_out, TYPES) {
    make(row);
    GIVES(cnd_init(&C), thrd_success);
    GIVES(mtx_lock(&M), thrd_success);
    static const long DEADLINES[] = {-5000, 0, 15};
    for (size_t i = 0; i < ROWS(DEADLINES); i++) {
        struct timespec deadline = in_ms(CLOCK_REALTIME, DEADLINES[i]);
        int code;
        do code = cnd_timedwait(&C, &M, &deadline);
        while (code == thrd_success && !reached(CLOCK_REALTIME, &deadline));
        GIVES(code, thrd_timedout);
        CHECK(reached(CLOCK_REALTIME, &deadline), "gave up before its deadline");
        GIVES(ELSEWHERE(trylock, NULL), thrd_busy);
    }
    GIVES(mtx_unlock(&M), thrd_success);
}

static once_flag once = ONCE_FLAG_INIT;
static void count_once(void) { counter++; }
static void *calls_once(void *unused) {
    (void)unused;
    call_once(&once, count_once);
    CHECK(READ(&counter) == 1, "ran %ld times", counter);
    return NULL;
}

TEST(call_once_runs_once) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) threads[i] = START(calls_once, NULL);
    for (int i = 0; i < 8; i++) END(threads[i]);
}
