/* Timed waits: each way, each clock, each deadline; and deadlines that pass just as signals come. */
#define GROUP "cond_timed"
#include "../conds.h"

static pthread_mutex_t M;
static pthread_cond_t C;

static int clock_real(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at) {
    return pthread_cond_clockwait(cond, mutex, CLOCK_REALTIME, at);
}
static int clock_mono(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at) {
    return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, at);
}

struct way {
    const char *name;
    int monotonic_attribute;
    clockid_t clock;
    int (*call)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
};
static const struct way WAYS[] = {
    {"timedwait", 0, CLOCK_REALTIME, pthread_cond_timedwait},
    {"timedwait-monotonic", 1, CLOCK_MONOTONIC, pthread_cond_timedwait},
    {"clockwait-realtime", 0, CLOCK_REALTIME, clock_real},
    {"clockwait-monotonic", 0, CLOCK_MONOTONIC, clock_mono},
    /* The clock of the call counts, not that of the attributes. */
    {"clockwait-realtime-of-monotonic", 1, CLOCK_REALTIME, clock_real},
    {"clockwait-monotonic-of-monotonic", 1, CLOCK_MONOTONIC, clock_mono},
};

static const struct way *make(size_t row, int type) {
    struct mixture mixture = {"", 0, 0, 0, 0, 0, 0, 0};
    mixture.type = type;
    mixture.monotonic = WAYS[row].monotonic_attribute;
    make_both(&C, &M, &mixture);
    return &WAYS[row];
}

static void must_be_held(void) { GIVES(ELSEWHERE(trylock, &M), EBUSY); }

static const int TYPES[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};

TEST_EACH(times_out_with_the_mutex_held, WAYS) {
    static const long DEADLINES[] = {-5000, -1, 0, 3, 30};
    for (size_t type = 0; type < ROWS(TYPES); type++) {
        const struct way *way = make(row, TYPES[type]);
        GIVES(pthread_mutex_lock(&M), 0);
        for (size_t i = 0; i < ROWS(DEADLINES); i++) {
            struct timespec deadline = in_ms(way->clock, DEADLINES[i]);
            int code;
            do code = way->call(&C, &M, &deadline);
            while (code == 0 && !reached(way->clock, &deadline));
            CHECK(code == ETIMEDOUT || code == 0, "gives %s", error_name(code));
            CHECK(reached(way->clock, &deadline), "gave up before its deadline");
            must_be_held();
        }
        struct timespec epoch = {0, 0}, before = {-1, 0};
        GIVES(way->call(&C, &M, &epoch), ETIMEDOUT);
        must_be_held();
        GIVES(way->call(&C, &M, &before), ETIMEDOUT);
        must_be_held();
        GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(ELSEWHERE(trylock_unlock, &M), 0);
        GIVES(pthread_cond_destroy(&C), 0);
    }
}

TEST_EACH(bad_deadlines, WAYS) {
    static const long NANOS[] = {-1, 1000000000, 2147483647};
    const struct way *way = make(row, PTHREAD_MUTEX_ERRORCHECK);
    GIVES(pthread_mutex_lock(&M), 0);
    for (size_t i = 0; i < ROWS(NANOS); i++) {
        struct timespec bad = in_ms(way->clock, 3600 * 1000);
        bad.tv_nsec = NANOS[i];
        GIVES(way->call(&C, &M, &bad), EINVAL);
        must_be_held();
    }
    GIVES(pthread_mutex_unlock(&M), 0);
}

TEST(other_clocks_are_refused) {
    struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
    pthread_condattr_t attributes;
    make(0, PTHREAD_MUTEX_NORMAL);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_cond_clockwait(&C, &M, CLOCK_PROCESS_CPUTIME_ID, &later), EINVAL);
    must_be_held();
    GIVES(pthread_condattr_init(&attributes), 0);
    GIVES(pthread_condattr_setclock(&attributes, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
    GIVES(pthread_condattr_setpshared(&attributes, 77), EINVAL);
}

static int waiting, go;
static const struct way *way_of_thread;

static void *waits_long(void *unused) {
    (void)unused;
    struct timespec later = in_ms(way_of_thread->clock, 3600 * 1000);
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&waiting);
    while (!go) GIVES(way_of_thread->call(&C, &M, &later), 0);
    must_be_held();
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

TEST_EACH(woken_before_the_deadline, WAYS) {
    for (int all = 0; all < 2; all++) {
        way_of_thread = make(row, PTHREAD_MUTEX_NORMAL);
        PUT(&waiting, 0);
        go = 0;
        pthread_t waiter = START(waits_long, NULL);
        AWAIT(READ(&waiting));
        GIVES(pthread_mutex_lock(&M), 0);
        go = 1;
        GIVES(all ? pthread_cond_broadcast(&C) : pthread_cond_signal(&C), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        END(waiter);
    }
}

/* The deadline passes while somebody else holds the mutex: the wait still ends with it held, whatever it gives. */
static long brief_ms;
static int other_holds, ended; /* guarded by M */

static void *waits_briefly(void *unused) {
    (void)unused;
    struct timespec soon = in_ms(way_of_thread->clock, brief_ms);
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&waiting);
    int code = way_of_thread->call(&C, &M, &soon);
    CHECK(!READ(&other_holds), "the wait ended while another thread held the mutex");
    must_be_held();
    ended = 1;
    GIVES(pthread_mutex_unlock(&M), 0);
    CHECK(code == ETIMEDOUT || code == 0, "gives %s", error_name(code));
    return NULL;
}

TEST_EACH(deadline_passes_while_another_has_the_mutex, WAYS) {
    int in_time = 0;
    way_of_thread = make(row, PTHREAD_MUTEX_NORMAL);
    /* The mutex must be had before the deadline: with more time if the machine is busy. */
    for (brief_ms = 5; !in_time && brief_ms < 6000; brief_ms *= 4) {
        ended = 0;
        PUT(&waiting, 0);
        pthread_t waiter = START(waits_briefly, NULL);
        AWAIT(READ(&waiting));
        GIVES(pthread_mutex_lock(&M), 0);
        PUT(&other_holds, 1);
        in_time = !ended;
        if (in_time) sleep_us((brief_ms + 20) * 1000);
        PUT(&other_holds, 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        END(waiter);
    }
    CHECK(in_time, "the machine is too busy for this test");
}

/* ---- Deadlines among signals ------------------------------------------------------------------ */

enum { WAITERS = 8, EACH = 150 };
static int tokens, taken, timeouts; /* guarded by M */

/* Every waiter wants EACH tokens. A deadline may pass just as a signal comes, so a waiter looks again before it goes on. */
static void *takes_tokens(void *argument) {
    size_t me = (size_t)argument;
    const struct way *way = way_of_thread;
    for (int i = 0; i < EACH; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        while (tokens == 0) {
            if (me % 2 == 0) {
                GIVES(pthread_cond_wait(&C, &M), 0);
                continue;
            }
            struct timespec soon = in_ms(way->clock, 0);
            soon.tv_nsec += 100000;
            if (soon.tv_nsec >= 1000000000) soon.tv_nsec = 999999999; /* an instant it must be */
            int code = way->call(&C, &M, &soon);
            if (code == ETIMEDOUT) timeouts++;
            else GIVES(code, 0);
        }
        tokens--;
        taken++;
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    return NULL;
}


TEST_EACH(signals_and_deadlines_at_once, WAYS) {
    pthread_t threads[WAITERS];
    way_of_thread = make(row, PTHREAD_MUTEX_NORMAL);
    for (size_t i = 0; i < WAITERS; i++) threads[i] = START(takes_tokens, (void *)i);
    for (int i = 0; i < WAITERS * EACH; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        tokens++;
        if (i % 2) GIVES(pthread_cond_signal(&C), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        if (i % 2 == 0) GIVES(pthread_cond_signal(&C), 0);
        if (i % 4 == 0) sleep_us(100);
    }
    /* A signal that got lost leaves a token behind and a waiter asleep. */
    for (int i = 0; i < WAITERS; i++) END(threads[i]);
    CHECK(taken == WAITERS * EACH && tokens == 0, "%d tokens given, %d taken, %d left", WAITERS * EACH, taken, tokens);
    if (timeouts == 0) {
        /* They do pass where nobody signals. */
        struct timespec past = in_ms(way_of_thread->clock, -1);
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(way_of_thread->call(&C, &M, &past), ETIMEDOUT);
        SKIP("no deadline passed among the signals on this machine");
    }
    GIVES(pthread_cond_destroy(&C), 0);
}

/* The clock stands in the condition variable, also for who can only look at it from outside. */
TEST(clock_of_a_shared_condition_with_a_private_mutex) {
    struct mixture mixture = {"", 1, 0, PTHREAD_MUTEX_NORMAL, 1, 0, 0, 0};
    make_both(&C, &M, &mixture);
    struct timespec end = in_ms(CLOCK_MONOTONIC, 200);
    GIVES(pthread_mutex_lock(&M), 0);
    for (int answer = 0; answer == 0;) {
        answer = pthread_cond_timedwait(&C, &M, &end);
        CHECK(answer == 0 || answer == ETIMEDOUT, "gives %d", answer);
        CHECK(answer == 0 || reached(CLOCK_MONOTONIC, &end), "the time is over too early");
    }
    GIVES(pthread_mutex_unlock(&M), 0);
}
