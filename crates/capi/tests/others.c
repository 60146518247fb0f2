/* Condition variables, events, tunables, clocks, and what stands at the edges. */
#include "checks.h"

_Static_assert(sizeof(stanchion_cond_t) == 16, "the size is part of the interface");

static stanchion_mutex_t mutex = STANCHION_MUTEX_INIT;
static stanchion_cond_t cond = STANCHION_COND_INIT;

/* clocklock: the forms of timedlock that name a clock. */

struct clock_row {
    const char *says;
    clockid_t clock;
    long delay; /* in milliseconds */
    long nanos; /* instead of those of the time; -2: those of the time */
    int held;
    int want;
};

static const struct clock_row CLOCKS[] = {
    {"monotonic, free", CLOCK_MONOTONIC, -1000, -2, 0, 0},
    {"realtime, free", CLOCK_REALTIME, -1000, -2, 0, 0},
    {"monotonic, held", CLOCK_MONOTONIC, 20, -2, 1, ETIMEDOUT},
    {"realtime, held", CLOCK_REALTIME, 20, -2, 1, ETIMEDOUT},
    {"a clock of CPU time", CLOCK_PROCESS_CPUTIME_ID, 1000, -2, 0, EINVAL},
    {"no clock", (clockid_t)12345, 1000, -2, 0, EINVAL},
    {"a second of nanoseconds", CLOCK_REALTIME, 1000, 1000000000, 0, EINVAL},
    {"less than no nanoseconds", CLOCK_MONOTONIC, 1000, -1, 0, EINVAL},
};

/* Waits with a deadline and nobody to signal give ETIMEDOUT, where the lock would have been granted. */
static void check_clocks(void) {
    for (size_t at = 0; at < sizeof CLOCKS / sizeof *CLOCKS; at++) {
        const struct clock_row *row = &CLOCKS[at];
        const int known = row->clock == CLOCK_MONOTONIC || row->clock == CLOCK_REALTIME;
        struct timespec until = in_ms(known ? row->clock : CLOCK_MONOTONIC, row->delay);
        int got;
        if (row->nanos != -2) {
            until.tv_nsec = row->nanos;
        }
        if (row->held) {
            expect("mutex", "lock", stanchion_mutex_lock(&mutex), 0);
        }
        got = stanchion_mutex_clocklock(&mutex, row->clock, &until);
        expect("clocklock", row->says, got, row->want);
        if (got == ETIMEDOUT) {
            expect("clocklock", "whether the deadline is over", has_passed(row->clock, until), 1);
        }
        if (!row->held && got != 0) {
            expect("clocklock", "a trylock after an error", stanchion_mutex_trylock(&mutex), 0);
        }
        got = stanchion_cond_clockwait(&cond, &mutex, row->clock, &until);
        expect("clockwait", row->says, got, row->want == 0 ? ETIMEDOUT : row->want);
        if (got == ETIMEDOUT) {
            expect("clockwait", "whether the deadline is over", has_passed(row->clock, until), 1);
        }
        expect("clockwait", "the mutex, acquired again", stanchion_mutex_trylock(&mutex), EBUSY);
        expect("mutex", "unlock", stanchion_mutex_unlock(&mutex), 0);
    }
    expect("clocklock", "no deadline", stanchion_mutex_clocklock(&mutex, CLOCK_MONOTONIC, NULL), EINVAL);
    expect("clocklock", "null", stanchion_mutex_clocklock(NULL, CLOCK_MONOTONIC, &(struct timespec){1, 0}), EINVAL);
}

/* unlock_fair: whoever waits has the lock when it returns. */

static pthread_barrier_t asked, gone;

static void *wait_in_line(void *unused) {
    expect("waiter", "lock", stanchion_mutex_lock(&mutex), 0);
    pthread_barrier_wait(&asked);
    expect("waiter", "unlock", stanchion_mutex_unlock(&mutex), 0);
    pthread_barrier_wait(&gone);
    return unused;
}

static void check_fair_release(void) {
    enum { ROUNDS = 50 };
    const struct timespec pause = {0, 100000};
    pthread_barrier_init(&asked, NULL, 2);
    pthread_barrier_init(&gone, NULL, 2);
    expect("unlock_fair", "null", stanchion_mutex_unlock_fair(NULL), EINVAL);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        expect("mutex", "lock", stanchion_mutex_lock(&mutex), 0);
        start(&thread, wait_in_line, NULL);
        /* Two bytes of it, for the library alone, are not zero while somebody waits in line. */
        while (__atomic_load_n(&mutex.opaque, __ATOMIC_ACQUIRE) >> 16 == 0) {
            nanosleep(&pause, NULL);
        }
        expect("unlock_fair", "with somebody in line", stanchion_mutex_unlock_fair(&mutex), 0);
        const int got = stanchion_mutex_trylock(&mutex);
        expect("trylock", "after a fair release, with somebody in line", got, EBUSY);
        if (got == 0) {
            stanchion_mutex_unlock(&mutex);
        }
        pthread_barrier_wait(&asked);
        pthread_barrier_wait(&gone);
        pthread_join(thread, NULL);
    }
    expect("mutex", "lock", stanchion_mutex_lock(&mutex), 0);
    expect("unlock_fair", "with nobody in line", stanchion_mutex_unlock_fair(&mutex), 0);
    expect("trylock", "after a fair release with nobody in line", stanchion_mutex_trylock(&mutex), 0);
    expect("mutex", "unlock", stanchion_mutex_unlock(&mutex), 0);
}

static void check_places_of_cond(void) {
    static char bytes[64];
    stanchion_cond_t *crooked = (void *)(bytes + (((size_t)bytes & 1) == 0));
    stanchion_mutex_t *crooked_mutex = (void *)crooked;
    const struct timespec later = in_ms(CLOCK_MONOTONIC, 60000), wrong = {1, 1000000000};
    expect("mutex", "lock", stanchion_mutex_lock(&mutex), 0);
    expect("cond_wait", "null", stanchion_cond_wait(NULL, &mutex), EINVAL);
    expect("cond_wait", "null mutex", stanchion_cond_wait(&cond, NULL), EINVAL);
    expect("cond_wait", "misaligned", stanchion_cond_wait(crooked, &mutex), EINVAL);
    expect("cond_wait", "misaligned mutex", stanchion_cond_wait(&cond, crooked_mutex), EINVAL);
    expect("cond_timedwait", "null", stanchion_cond_timedwait(NULL, &mutex, &later), EINVAL);
    expect("cond_timedwait", "null mutex", stanchion_cond_timedwait(&cond, NULL, &later), EINVAL);
    expect("cond_timedwait", "no deadline", stanchion_cond_timedwait(&cond, &mutex, NULL), EINVAL);
    expect("cond_timedwait", "a second of nanoseconds", stanchion_cond_timedwait(&cond, &mutex, &wrong), EINVAL);
    expect("cond_clockwait", "null", stanchion_cond_clockwait(NULL, &mutex, CLOCK_MONOTONIC, &later), EINVAL);
    expect("cond_clockwait", "no deadline", stanchion_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, NULL), EINVAL);
    expect("cond_signal", "null", stanchion_cond_signal(NULL), EINVAL);
    expect("cond_signal", "misaligned", stanchion_cond_signal(crooked), EINVAL);
    expect("cond_broadcast", "null", stanchion_cond_broadcast(NULL), EINVAL);
    expect("cond_broadcast", "misaligned", stanchion_cond_broadcast(crooked), EINVAL);
    expect("cond_signal", "nobody waits", stanchion_cond_signal(&cond), 0);
    expect("cond_broadcast", "nobody waits", stanchion_cond_broadcast(&cond), 0);
    expect("mutex", "trylock after errors: it was never given up", stanchion_mutex_trylock(&mutex), EBUSY);
    expect("mutex", "unlock", stanchion_mutex_unlock(&mutex), 0);
}

/* A ring: each thread waits for its turn, takes it, and passes it on. A signal that is lost stops it. */

enum { THREADS = 5, TURNS = 400 };

static long turn;
static int arrived, sent, left;
static stanchion_cond_t turns[THREADS], all_are_here, go;

static void *take_turns(void *argument) {
    const int self = (int)(size_t)argument;
    for (long mine = self; mine < (long)THREADS * TURNS; mine += THREADS) {
        stanchion_mutex_lock(&mutex);
        while (turn != mine) {
            stanchion_cond_wait(&turns[self], &mutex);
        }
        turn += 1;
        stanchion_cond_signal(&turns[(self + 1) % THREADS]);
        stanchion_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *wait_to_go(void *unused) {
    (void)unused;
    const struct timespec until = in_ms(CLOCK_MONOTONIC, 60000);
    stanchion_mutex_lock(&mutex);
    arrived += 1;
    stanchion_cond_signal(&all_are_here);
    while (!sent) {
        if (stanchion_cond_timedwait(&go, &mutex, &until) != 0) {
            break;
        }
        left += 1;
    }
    stanchion_mutex_unlock(&mutex);
    return NULL;
}

static void check_waking(void) {
    pthread_t threads[THREADS];
    for (size_t at = 0; at < THREADS; at++) {
        start(&threads[at], take_turns, (void *)at);
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
    }
    expect("cond_signal", "turns taken in order", turn, (long)THREADS * TURNS);

    for (int at = 0; at < THREADS; at++) {
        start(&threads[at], wait_to_go, NULL);
    }
    stanchion_mutex_lock(&mutex);
    while (arrived < THREADS) {
        stanchion_cond_wait(&all_are_here, &mutex);
    }
    sent = 1;
    expect("cond_broadcast", "some wait", stanchion_cond_broadcast(&go), 0);
    stanchion_mutex_unlock(&mutex);
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
    }
    expect("cond_broadcast", "how many were woken, once each", left, THREADS);
}

/* Events. */

static stanchion_counted_mutex_t counted = STANCHION_COUNTED_MUTEX_INIT;

static void *contend(void *unused) {
    (void)unused;
    expect("counted_mutex", "lock", stanchion_counted_mutex_lock(&counted), 0);
    expect("counted_mutex", "unlock", stanchion_counted_mutex_unlock(&counted), 0);
    return NULL;
}

static unsigned long long sum_of_events(void) {
    unsigned long long sum = 0;
    for (size_t at = 0; at < stanchion_event_count(); at++) {
        sum += stanchion_event_total(at);
    }
    return sum;
}

static void check_events(void) {
    const struct timespec pause = {0, 50000000};
    const size_t count = stanchion_event_count();
    uint64_t total = 7;
    pthread_t thread;
    size_t slowpath = count;
    expect("events", "whether there are some", count > 10, 1);
    for (size_t at = 0; at < count; at++) {
        const char *name = stanchion_event_name(at), *meaning = stanchion_event_meaning(at);
        expect("events", "a name and a meaning", name != NULL && *name != 0 && meaning != NULL && *meaning != 0, 1);
        expect("event_read", name, stanchion_event_read(name, &total), 0);
        if (strcmp(name, "lock_slowpath") == 0) {
            slowpath = at;
        }
    }
    expect("event_name", "one too many", stanchion_event_name(count) == NULL, 1);
    expect("event_meaning", "one too many", stanchion_event_meaning(count) == NULL, 1);
    expect("event_total", "one too many", (long)stanchion_event_total(count), 0);

    stanchion_events_reset();
    expect("events_reset", "all totals", (long)sum_of_events(), 0);
    stanchion_counted_mutex_lock(&counted);
    start(&thread, contend, NULL);
    nanosleep(&pause, NULL);
    /* However slow the other thread is to start, it waits once it is there; so this ends. */
    while (stanchion_event_total(slowpath) == 0 && sum_of_events() == 0) {
        nanosleep(&pause, NULL);
    }
    stanchion_counted_mutex_unlock(&counted);
    pthread_join(thread, NULL);
    expect("event_read", "lock_slowpath", stanchion_event_read("lock_slowpath", &total), 0);
    expect("event_read", "whether it counts", total >= 1 && total == stanchion_event_total(slowpath), 1);
    total = 7;
    expect("event_read", "no such event", stanchion_event_read("lock_slowpaths", &total), EINVAL);
    expect("event_read", "no name", stanchion_event_read(NULL, &total), EINVAL);
    expect("event_read", "nothing written by errors", (long)total, 7);
    expect("event_read", "no place", stanchion_event_read("lock_slowpath", NULL), EINVAL);
    stanchion_events_reset();
    expect("events_reset", "all totals", (long)sum_of_events(), 0);
}

/* Tunables. */

static void check_tunables(void) {
    const size_t count = stanchion_tunable_count();
    uint32_t value = 0, before = 0;
    expect("tunables", "whether there are some", count > 10, 1);
    for (size_t at = 0; at < count; at++) {
        const char *name = stanchion_tunable_name(at), *meaning = stanchion_tunable_meaning(at);
        expect("tunables", "a name and a meaning", name != NULL && *name != 0 && meaning != NULL && *meaning != 0, 1);
        expect("tunable_get", name, stanchion_tunable_get(name, &before), 0);
        expect("tunable_set", name, stanchion_tunable_set(name, before + 1), 0);
        expect("tunable_get", name, stanchion_tunable_get(name, &value), 0);
        expect("tunable_get", "what was set", value, before + 1);
        expect("tunable_set", name, stanchion_tunable_set(name, before), 0);
    }
    value = 7;
    expect("tunable_name", "one too many", stanchion_tunable_name(count) == NULL, 1);
    expect("tunable_meaning", "one too many", stanchion_tunable_meaning(count) == NULL, 1);
    expect("tunable_set", "no such tunable", stanchion_tunable_set("cna_threshold", 1), EINVAL);
    expect("tunable_set", "no name", stanchion_tunable_set(NULL, 1), EINVAL);
    expect("tunable_get", "no such tunable", stanchion_tunable_get("", &value), EINVAL);
    expect("tunable_get", "no name", stanchion_tunable_get(NULL, &value), EINVAL);
    expect("tunable_get", "nothing written by errors", value, 7);
    expect("tunable_get", "no place", stanchion_tunable_get("turn_us", NULL), EINVAL);
}

/* What is read when the program is loaded; without the library's constructors it would be missing. */
static void check_nopv(void) {
    const char *words = getenv("STANCHION");
    expect("nopv", "as the environment says", stanchion_nopv(), words != NULL && strcmp(words, "nopv") == 0);
    for (int at = 0; at < 2; at++) {
        stanchion_set_nopv(at == 0);
        expect("nopv", "as it was set", stanchion_nopv(), at == 0);
    }
}

int main(void) {
    begin();
    check_nopv();
    expect("version", "that of the header", strcmp(stanchion_version(), STANCHION_VERSION), 0);
    check_clocks();
    check_fair_release();
    check_places_of_cond();
    check_waking();
    check_events();
    check_tunables();
    return sum_up("others");
}
