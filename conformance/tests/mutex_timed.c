/* Timed locking of every kind of mutex: each way, each clock, each error. */
#define GROUP "mutex_timed"
#include "../kinds.h"

static pthread_mutex_t M;
static const struct timespec EPOCH = {0, 0};
static const struct timespec BEFORE_EPOCH = {-1, 0};

/* Deadlines that are not instants. */
static struct timespec with_nanos(clockid_t clock, long nanos) {
    struct timespec at = in_ms(clock, 1000 * 3600);
    at.tv_nsec = nanos;
    return at;
}
static const long BAD_NANOS[] = {-1, 1000000000, 2147483647};

TEST_EACH(free_one_is_got, KINDS) {
    make_mutex(&M, &KINDS[row]);
    for (size_t way = 0; way < ROWS(TIMED_WAYS); way++) {
        struct timespec later = in_ms(TIMED_WAYS[way].clock, 1000 * 3600);
        GIVES(TIMED_WAYS[way].call(&M, &later), 0);
        GIVES(ELSEWHERE(trylock, &M), EBUSY);
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    GIVES(pthread_mutex_destroy(&M), 0);
}

/* The deadline of a call that need not wait is not looked at. */
TEST_EACH(free_one_is_got_whatever_the_deadline, KINDS) {
    make_mutex(&M, &KINDS[row]);
    for (size_t way = 0; way < ROWS(TIMED_WAYS); way++) {
        const struct timespec *odd[] = {&EPOCH, &BEFORE_EPOCH};
        for (size_t i = 0; i < ROWS(odd); i++) {
            GIVES(TIMED_WAYS[way].call(&M, odd[i]), 0);
            GIVES(pthread_mutex_unlock(&M), 0);
        }
        for (size_t i = 0; i < ROWS(BAD_NANOS); i++) {
            struct timespec bad = with_nanos(TIMED_WAYS[way].clock, BAD_NANOS[i]);
            GIVES(TIMED_WAYS[way].call(&M, &bad), 0);
            GIVES(pthread_mutex_unlock(&M), 0);
        }
    }
}

static size_t way_of_thread;
static long deadline_ms;

/* Wants a held mutex in a way, with a deadline that passes. */
static void *times_out(void *unused) {
    (void)unused;
    const struct timed_way *way = &TIMED_WAYS[way_of_thread];
    struct timespec deadline = in_ms(way->clock, deadline_ms);
    int code = way->call(&M, &deadline);
    CHECK(code == ETIMEDOUT, "%s of a held mutex gives %s, not ETIMEDOUT", way->name, error_name(code));
    CHECK(reached(way->clock, &deadline), "%s gave up before its deadline", way->name);
    return NULL;
}

TEST_EACH(held_one_times_out, KINDS) {
    static const long DEADLINES[] = {-5000, -1, 0, 3, 25};
    needs_any_clock(&KINDS[row]);
    make_mutex(&M, &KINDS[row]);
    GIVES(pthread_mutex_lock(&M), 0);
    for (way_of_thread = 0; way_of_thread < ROWS(TIMED_WAYS); way_of_thread++) {
        for (size_t i = 0; i < ROWS(DEADLINES); i++) {
            deadline_ms = DEADLINES[i];
            END(START(times_out, NULL));
        }
    }
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
    GIVES(pthread_mutex_destroy(&M), 0);
}

static const struct kind *kind_of_M;

static void *with_odd_deadlines(void *unused) {
    (void)unused;
    for (size_t i = 0; i < ROWS(TIMED_WAYS); i++) {
        const struct timed_way *way = &TIMED_WAYS[i];
        GIVES(way->call(&M, &EPOCH), ETIMEDOUT);
        /* glibc hands the deadline of a priority-inheriting mutex to the kernel, which refuses this one. */
        if (kind_of_M->protocol != PTHREAD_PRIO_INHERIT) GIVES(way->call(&M, &BEFORE_EPOCH), ETIMEDOUT);
        for (size_t bad = 0; bad < ROWS(BAD_NANOS); bad++) {
            struct timespec deadline = with_nanos(way->clock, BAD_NANOS[bad]);
            int code = way->call(&M, &deadline);
            CHECK(code == EINVAL, "%s of a held mutex with %ld ns gives %s, not EINVAL", way->name, BAD_NANOS[bad],
                  error_name(code));
        }
    }
    return NULL;
}

TEST_EACH(held_one_with_odd_deadlines, KINDS) {
    kind_of_M = &KINDS[row];
    needs_any_clock(kind_of_M);
    make_mutex(&M, kind_of_M);
    GIVES(pthread_mutex_lock(&M), 0);
    END(START(with_odd_deadlines, NULL));
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
}

static int about_to, inside;

static void *gets_it_in_time(void *unused) {
    (void)unused;
    const struct timed_way *way = &TIMED_WAYS[way_of_thread];
    struct timespec deadline = in_ms(way->clock, 1000 * 3600);
    UP(&about_to);
    GIVES(way->call(&M, &deadline), 0);
    UP(&inside);
    GIVES(ELSEWHERE(trylock, &M), EBUSY);
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

TEST_EACH(waiter_gets_it_before_the_deadline, KINDS) {
    needs_any_clock(&KINDS[row]);
    make_mutex(&M, &KINDS[row]);
    for (way_of_thread = 0; way_of_thread < ROWS(TIMED_WAYS); way_of_thread++) {
        GIVES(pthread_mutex_lock(&M), 0);
        PUT(&about_to, 0);
        PUT(&inside, 0);
        pthread_t other = START(gets_it_in_time, NULL);
        AWAIT(READ(&about_to));
        settle();
        CHECK(!READ(&inside), "%s did not wait", TIMED_WAYS[way_of_thread].name);
        GIVES(pthread_mutex_unlock(&M), 0);
        END(other);
    }
}

TEST_EACH(lock_by_the_owner, KINDS) {
    const struct kind *kind = &KINDS[row];
    needs_any_clock(kind);
    make_mutex(&M, kind);
    GIVES(pthread_mutex_lock(&M), 0);
    for (size_t i = 0; i < ROWS(TIMED_WAYS); i++) {
        const struct timed_way *way = &TIMED_WAYS[i];
        struct timespec deadline = in_ms(way->clock, 10);
        int code = way->call(&M, &deadline);
        /* The kernel sees that the owner of a priority-inheriting mutex waits for itself; glibc then lets the time pass. */
        int want = kind->type == PTHREAD_MUTEX_RECURSIVE ? 0 : kind->type == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : ETIMEDOUT;
        CHECK(code == want, "%s by the owner gives %s, not %s", way->name, error_name(code), error_name(want));
        if (want == ETIMEDOUT) CHECK(reached(way->clock, &deadline), "%s gave up before its deadline", way->name);
        if (want == 0) GIVES(pthread_mutex_unlock(&M), 0);
    }
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
}

/* Only these two clocks can be waited by. */
TEST_EACH(other_clocks_are_refused, KINDS) {
    static const clockid_t OTHERS[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, 12345};
    make_mutex(&M, &KINDS[row]);
    struct timespec later = in_ms(CLOCK_REALTIME, 1000 * 3600);
    for (size_t i = 0; i < ROWS(OTHERS); i++) GIVES(pthread_mutex_clocklock(&M, OTHERS[i], &later), EINVAL);
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
}

static int stop, got, timed_out;
static long counter;

static void *hurries(void *argument) {
    const struct timed_way *way = &TIMED_WAYS[*ANY(size_t, argument)];
    while (!READ(&stop)) {
        struct timespec deadline = in_ms(way->clock, 1);
        int code = way->call(&M, &deadline);
        if (code == 0) {
            long seen = counter;
            sleep_us(300);
            counter = seen + 1;
            ADD(&got, 1);
            GIVES(pthread_mutex_unlock(&M), 0);
        } else {
            GIVES(code, ETIMEDOUT);
            CHECK(reached(way->clock, &deadline), "%s gave up before its deadline", way->name);
            ADD(&timed_out, 1);
        }
    }
    return NULL;
}

/* Waiters that give up leave the queue in order: those behind them still get the mutex, and nobody is in twice. */
TEST_EACH(some_give_up_and_some_get_it, KINDS) {
    enum { THREADS = 9 };
    pthread_t threads[THREADS];
    size_t ways[THREADS];
    needs_any_clock(&KINDS[row]);
    make_mutex(&M, &KINDS[row]);
    for (size_t i = 0; i < THREADS; i++) {
        ways[i] = i % ROWS(TIMED_WAYS);
        threads[i] = START(hurries, &ways[i]);
    }
    AWAIT(READ(&got) >= 100 && READ(&timed_out) >= 100);
    UP(&stop);
    for (size_t i = 0; i < THREADS; i++) END(threads[i]);
    CHECK(counter == got, "%d times in, but counted %ld", got, counter);
    GIVES(pthread_mutex_trylock(&M), 0);
}

static void *hammers(void *unused) {
    (void)unused;
    while (!READ(&stop)) {
        GIVES(pthread_mutex_lock(&M), 0);
        for (int i = 0; i < 200; i++) counter++;
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    return NULL;
}

/* Threads that lock again as soon as they have unlocked keep nobody with a far deadline out for all that time. */
TEST_EACH(among_hammering_lockers, TIMED_WAYS) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    GIVES(pthread_mutex_init(&M, NULL), 0);
    for (int i = 0; i < THREADS; i++) threads[i] = START(hammers, NULL);
    for (int round = 0; round < 10; round++) {
        struct timespec later = in_ms(TIMED_WAYS[row].clock, TIMEOUT * 1000L);
        GIVES(TIMED_WAYS[row].call(&M, &later), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        sleep_us(3000);
    }
    UP(&stop);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
}
