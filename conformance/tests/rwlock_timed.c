/* Timed forms of reader-writer locks: each way, each clock, each deadline; and locks that processes share. */
#define GROUP "rwlock_timed"
#include "../check.h"

static pthread_rwlock_t L;

static int clock_read_real(pthread_rwlock_t *lock, const struct timespec *at) {
    return pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, at);
}
static int clock_read_mono(pthread_rwlock_t *lock, const struct timespec *at) {
    return pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, at);
}
static int clock_write_real(pthread_rwlock_t *lock, const struct timespec *at) {
    return pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, at);
}
static int clock_write_mono(pthread_rwlock_t *lock, const struct timespec *at) {
    return pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, at);
}

struct way {
    const char *name;
    int reads;
    clockid_t clock;
    int (*call)(pthread_rwlock_t *, const struct timespec *);
};
static const struct way WAYS[] = {
    {"timedrdlock", 1, CLOCK_REALTIME, pthread_rwlock_timedrdlock},
    {"clockrdlock-realtime", 1, CLOCK_REALTIME, clock_read_real},
    {"clockrdlock-monotonic", 1, CLOCK_MONOTONIC, clock_read_mono},
    {"timedwrlock", 0, CLOCK_REALTIME, pthread_rwlock_timedwrlock},
    {"clockwrlock-realtime", 0, CLOCK_REALTIME, clock_write_real},
    {"clockwrlock-monotonic", 0, CLOCK_MONOTONIC, clock_write_mono},
};

static const struct way *way;

/* Runs with a writer, or a reader, that holds the lock elsewhere. */
static void *fails_in_time(void *unused) {
    (void)unused;
    static const long DEADLINES[] = {-5000, -1, 0, 3, 25};
    for (size_t i = 0; i < ROWS(DEADLINES); i++) {
        struct timespec deadline = in_ms(way->clock, DEADLINES[i]);
        GIVES(way->call(&L, &deadline), ETIMEDOUT);
        CHECK(reached(way->clock, &deadline), "%s gave up before its deadline", way->name);
    }
    struct timespec epoch = {0, 0}, before = {-1, 0};
    GIVES(way->call(&L, &epoch), ETIMEDOUT);
    GIVES(way->call(&L, &before), ETIMEDOUT);
    struct timespec bad = in_ms(way->clock, 3600 * 1000);
    bad.tv_nsec = 1000000000;
    GIVES(way->call(&L, &bad), EINVAL);
    bad.tv_nsec = -1;
    GIVES(way->call(&L, &bad), EINVAL);
    return NULL;
}

TEST_EACH(while_write_held, WAYS) {
    way = &WAYS[row];
    GIVES(pthread_rwlock_init(&L, NULL), 0);
    GIVES(pthread_rwlock_wrlock(&L), 0);
    END(START(fails_in_time, NULL));
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
}

TEST_EACH(while_read_held, WAYS) {
    way = &WAYS[row];
    GIVES(pthread_rwlock_init(&L, NULL), 0);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    if (way->reads) {
        struct timespec later = in_ms(way->clock, 3600 * 1000), past = in_ms(way->clock, -1000);
        GIVES(way->call(&L, &later), 0);
        GIVES(way->call(&L, &past), 0);
        GIVES(pthread_rwlock_unlock(&L), 0);
        GIVES(pthread_rwlock_unlock(&L), 0);
    } else {
        END(START(fails_in_time, NULL));
    }
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
}

TEST_EACH(free_one_is_got, WAYS) {
    way = &WAYS[row];
    GIVES(pthread_rwlock_init(&L, NULL), 0);
    static const long DEADLINES[] = {-5000, -1, 3600 * 1000};
    for (size_t i = 0; i < ROWS(DEADLINES); i++) {
        struct timespec deadline = in_ms(way->clock, DEADLINES[i]);
        GIVES(way->call(&L, &deadline), 0);
        GIVES(pthread_rwlock_unlock(&L), 0);
    }
    /* POSIX: whether the deadline is valid need not be looked at when the lock is free. glibc looks. */
    struct timespec bad = in_ms(way->clock, 3600 * 1000);
    bad.tv_nsec = 1000000000;
    int code = way->call(&L, &bad);
    CHECK(code == 0 || code == EINVAL, "a bad deadline gives %s", error_name(code));
    if (code == 0) GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_destroy(&L), 0);
}

static int about_to, inside;

static void *gets_it(void *unused) {
    (void)unused;
    struct timespec later = in_ms(way->clock, 3600 * 1000);
    UP(&about_to);
    GIVES(way->call(&L, &later), 0);
    UP(&inside);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return NULL;
}

TEST_EACH(waiter_gets_it_before_the_deadline, WAYS) {
    way = &WAYS[row];
    GIVES(pthread_rwlock_init(&L, NULL), 0);
    GIVES(pthread_rwlock_wrlock(&L), 0);
    pthread_t waiter = START(gets_it, NULL);
    AWAIT(READ(&about_to));
    settle();
    CHECK(!READ(&inside), "%s got in beside a writer", way->name);
    GIVES(pthread_rwlock_unlock(&L), 0);
    END(waiter);
}

TEST(other_clocks_are_refused) {
    struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
    GIVES(pthread_rwlock_init(&L, NULL), 0);
    GIVES(pthread_rwlock_clockrdlock(&L, CLOCK_PROCESS_CPUTIME_ID, &later), EINVAL);
    GIVES(pthread_rwlock_clockwrlock(&L, CLOCK_PROCESS_CPUTIME_ID, &later), EINVAL);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
}

static int stop, got, timed_out, writers_in, readers_in;

static void *hurries(void *argument) {
    const struct way *mine = ANY(const struct way, argument);
    while (!READ(&stop)) {
        struct timespec deadline = in_ms(mine->clock, 1);
        int code = mine->call(&L, &deadline);
        if (code == ETIMEDOUT) {
            ADD(&timed_out, 1);
            continue;
        }
        GIVES(code, 0);
        ADD(mine->reads ? &readers_in : &writers_in, 1);
        sleep_us(300);
        if (mine->reads) CHECK(READ(&writers_in) == 0, "a reader is in beside a writer");
        else CHECK(READ(&writers_in) == 1 && READ(&readers_in) == 0, "a writer is not alone");
        ADD(mine->reads ? &readers_in : &writers_in, -1);
        ADD(&got, 1);
        GIVES(pthread_rwlock_unlock(&L), 0);
    }
    return NULL;
}

static const struct {
    const char *name;
    int kind;
} PREFERENCES[] = {{"reader", PTHREAD_RWLOCK_PREFER_READER_NP}, {"nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP}};

TEST_EACH(some_give_up_and_some_get_it, PREFERENCES) {
    enum { THREADS = 9 };
    pthread_t threads[THREADS];
    pthread_rwlockattr_t attributes;
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, PREFERENCES[row].kind), 0);
    GIVES(pthread_rwlock_init(&L, &attributes), 0);
    for (size_t i = 0; i < THREADS; i++) threads[i] = START(hurries, (void *)&WAYS[i % ROWS(WAYS)]);
    AWAIT(READ(&got) >= 300 && READ(&timed_out) >= 100);
    UP(&stop);
    for (size_t i = 0; i < THREADS; i++) END(threads[i]);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
}

/* ---- Between processes ------------------------------------------------------------------------ */

struct common {
    pthread_rwlock_t lock;
    long first_half, second_half;
    int reading, may_go;
};

static struct common *make_common(void) {
    pthread_rwlockattr_t attributes;
    struct common *common = ANY(struct common, shared_memory(sizeof *common));
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    GIVES(pthread_rwlock_init(&common->lock, &attributes), 0);
    return common;
}

static void reads_with_the_other(struct common *common) {
    GIVES(pthread_rwlock_rdlock(&common->lock), 0);
    ADD(&common->reading, 1);
    AWAIT(READ(&common->reading) == 2);
    GIVES(pthread_rwlock_trywrlock(&common->lock), EBUSY);
    ADD(&common->may_go, 1);
    AWAIT(READ(&common->may_go) == 2);
    GIVES(pthread_rwlock_unlock(&common->lock), 0);
}

TEST(processes_read_together) {
    struct common *common = make_common();
    pid_t child = forked();
    reads_with_the_other(common);
    if (child == 0) _exit(0);
    END_CHILD(child);
    GIVES(pthread_rwlock_trywrlock(&common->lock), 0);
}

static void mix(struct common *common) {
    for (int i = 0; i < 4000; i++) {
        if (i % 3) {
            GIVES(pthread_rwlock_rdlock(&common->lock), 0);
            CHECK(READ(&common->first_half) == READ(&common->second_half), "a reader saw half of what a writer does");
        } else {
            GIVES(pthread_rwlock_wrlock(&common->lock), 0);
            PUT(&common->first_half, common->first_half + 1);
            if (i % 32 == 0) sched_yield();
            PUT(&common->second_half, common->second_half + 1);
        }
        GIVES(pthread_rwlock_unlock(&common->lock), 0);
    }
}

TEST(processes_exclude) {
    struct common *common = make_common();
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = forked();
        if (children[i] == 0) {
            mix(common);
            _exit(0);
        }
    }
    mix(common);
    for (int i = 0; i < 3; i++) END_CHILD(children[i]);
    long want = 4 * ((4000 + 2) / 3);
    CHECK(common->first_half == want, "counted to %ld, not %ld", common->first_half, want);
}

/* ---- Readers that overlap ---------------------------------------------------------------------- */

static int stop_reading, entries;

/* Stays until another is in, so that the lock is never free as long as readers are let in. Once a writer holds them up, the last one
 * leaves after a while. */
static void *overlaps(void *unused) {
    (void)unused;
    while (!READ(&stop_reading)) {
        GIVES(pthread_rwlock_rdlock(&L), 0);
        int mine = ADD(&entries, 1);
        struct timespec leave = in_ms(CLOCK_MONOTONIC, 20);
        while (READ(&entries) < mine + 2 && !reached(CLOCK_MONOTONIC, &leave)) sleep_us(100);
        GIVES(pthread_rwlock_unlock(&L), 0);
    }
    return NULL;
}

/* The nonrecursive kind makes new readers wait for a writer, also for one with a deadline. */
TEST_EACH(writer_among_overlapping_readers, WAYS) {
    enum { READERS = 4 };
    pthread_t threads[READERS];
    pthread_rwlockattr_t attributes;
    if (WAYS[row].reads) SKIP("a way to read");
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP), 0);
    GIVES(pthread_rwlock_init(&L, &attributes), 0);
    for (int i = 0; i < READERS; i++) threads[i] = START(overlaps, NULL);
    AWAIT(READ(&entries) > 20);
    for (int round = 0; round < 5; round++) {
        struct timespec later = in_ms(WAYS[row].clock, TIMEOUT * 1000L);
        GIVES(WAYS[row].call(&L, &later), 0);
        int seen = READ(&entries);
        settle();
        CHECK(READ(&entries) == seen, "readers got in beside a writer");
        GIVES(pthread_rwlock_unlock(&L), 0);
        AWAIT(READ(&entries) > seen + 20);
    }
    UP(&stop_reading);
    for (int i = 0; i < READERS; i++) END(threads[i]);
}
