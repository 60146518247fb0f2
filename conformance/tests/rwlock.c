/* Reader-writer locks: who is let in together, who is refused, each way and each error. */
#define GROUP "rwlock"
#include "../check.h"

struct made {
    const char *name;
    int kind;
    int shared;
    enum { WITH, WITHOUT, STATIC } how;
};
static const struct made LOCKS[] = {
    {"default", PTHREAD_RWLOCK_DEFAULT_NP, 0, WITHOUT},
    {"static", PTHREAD_RWLOCK_DEFAULT_NP, 0, STATIC},
    {"prefer-reader", PTHREAD_RWLOCK_PREFER_READER_NP, 0, WITH},
    {"prefer-writer", PTHREAD_RWLOCK_PREFER_WRITER_NP, 0, WITH},
    {"prefer-writer-nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0, WITH},
    {"static-nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0, STATIC},
    {"shared", PTHREAD_RWLOCK_DEFAULT_NP, 1, WITH},
    {"shared-nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 1, WITH},
};

static const pthread_rwlock_t FIXED = PTHREAD_RWLOCK_INITIALIZER;
static const pthread_rwlock_t FIXED_NONRECURSIVE = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_rwlock_t L;

static int nonrecursive(const struct made *made) { return made->kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP; }

static void make(pthread_rwlock_t *lock, const struct made *made) {
    pthread_rwlockattr_t attributes;
    if (made->how == STATIC) {
        memcpy(lock, nonrecursive(made) ? &FIXED_NONRECURSIVE : &FIXED, sizeof *lock);
        return;
    }
    memset(lock, 0x5a, sizeof *lock);
    if (made->how == WITHOUT) {
        GIVES(pthread_rwlock_init(lock, NULL), 0);
        return;
    }
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, made->kind), 0);
    if (made->shared) GIVES(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    GIVES(pthread_rwlock_init(lock, &attributes), 0);
    GIVES(pthread_rwlockattr_destroy(&attributes), 0);
}

static int soon_of_timed(void *lock, int (*call)(pthread_rwlock_t *, const struct timespec *)) {
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    return call(ANY(pthread_rwlock_t, lock), &soon);
}
static int rdlock(void *lock) { return pthread_rwlock_rdlock(ANY(pthread_rwlock_t, lock)); }
static int tryrdlock(void *lock) { return pthread_rwlock_tryrdlock(ANY(pthread_rwlock_t, lock)); }
static int trywrlock(void *lock) { return pthread_rwlock_trywrlock(ANY(pthread_rwlock_t, lock)); }
static int unlock(void *lock) { return pthread_rwlock_unlock(ANY(pthread_rwlock_t, lock)); }
static int timedrdlock(void *lock) { return soon_of_timed(lock, pthread_rwlock_timedrdlock); }
static int timedwrlock(void *lock) { return soon_of_timed(lock, pthread_rwlock_timedwrlock); }
static int both_try_forms(void *lock) {
    int code = tryrdlock(lock);
    if (code == 0) code = unlock(lock);
    if (code == 0) code = trywrlock(lock);
    return code != 0 ? code : unlock(lock);
}

TEST_EACH(read_and_write_in_turn, LOCKS) {
    make(&L, &LOCKS[row]);
    for (int i = 0; i < 3; i++) {
        GIVES(pthread_rwlock_rdlock(&L), 0);
        GIVES(pthread_rwlock_unlock(&L), 0);
        GIVES(pthread_rwlock_wrlock(&L), 0);
        GIVES(pthread_rwlock_unlock(&L), 0);
        GIVES(ELSEWHERE(both_try_forms, &L), 0);
    }
    GIVES(pthread_rwlock_destroy(&L), 0);
}

TEST_EACH(while_write_held, LOCKS) {
    make(&L, &LOCKS[row]);
    for (int by_try = 0; by_try < 2; by_try++) {
        GIVES(by_try ? pthread_rwlock_trywrlock(&L) : pthread_rwlock_wrlock(&L), 0);
        GIVES(ELSEWHERE(tryrdlock, &L), EBUSY);
        GIVES(ELSEWHERE(trywrlock, &L), EBUSY);
        GIVES(ELSEWHERE(timedrdlock, &L), ETIMEDOUT);
        GIVES(ELSEWHERE(timedwrlock, &L), ETIMEDOUT);
        GIVES(pthread_rwlock_unlock(&L), 0);
        GIVES(ELSEWHERE(both_try_forms, &L), 0);
    }
}

TEST_EACH(while_read_held, LOCKS) {
    make(&L, &LOCKS[row]);
    for (int by_try = 0; by_try < 2; by_try++) {
        GIVES(by_try ? pthread_rwlock_tryrdlock(&L) : pthread_rwlock_rdlock(&L), 0);
        GIVES(ELSEWHERE(trywrlock, &L), EBUSY);
        GIVES(ELSEWHERE(timedwrlock, &L), ETIMEDOUT);
        GIVES(ELSEWHERE(tryrdlock, &L), 0); /* stays held, by a thread that is gone */
        GIVES(ELSEWHERE(timedrdlock, &L), 0);
        GIVES(ELSEWHERE(rdlock, &L), 0);
        for (int readers = 4; readers > 0; readers--) {
            GIVES(ELSEWHERE(trywrlock, &L), EBUSY);
            GIVES(pthread_rwlock_unlock(&L), 0);
        }
        GIVES(ELSEWHERE(both_try_forms, &L), 0);
    }
}

TEST_EACH(own_lock_again, LOCKS) {
    make(&L, &LOCKS[row]);
    GIVES(pthread_rwlock_wrlock(&L), 0);
    GIVES(pthread_rwlock_wrlock(&L), EDEADLK);
    GIVES(pthread_rwlock_rdlock(&L), EDEADLK);
    GIVES(timedwrlock(&L), EDEADLK);
    GIVES(timedrdlock(&L), EDEADLK);
    GIVES(pthread_rwlock_trywrlock(&L), EBUSY);
    GIVES(pthread_rwlock_tryrdlock(&L), EBUSY);
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    GIVES(pthread_rwlock_trywrlock(&L), EBUSY);
    GIVES(timedwrlock(&L), ETIMEDOUT); /* a reader that wants to write waits for itself */
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(ELSEWHERE(both_try_forms, &L), 0);
}

/* POSIX leaves it open; readers are only counted in glibc, so anybody may unlock for a reader. (A writer must do it itself.) */
TEST_EACH(read_unlock_elsewhere, LOCKS) {
    make(&L, &LOCKS[row]);
    GIVES(ELSEWHERE(rdlock, &L), 0);
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    GIVES(ELSEWHERE(unlock, &L), 0);
    GIVES(ELSEWHERE(both_try_forms, &L), 0);
}

/* ---- Meetings --------------------------------------------------------------------------------- */

static int readers_in, about_to, inside, may_go;

static void *reads_until_two(void *unused) {
    (void)unused;
    GIVES(pthread_rwlock_rdlock(&L), 0);
    ADD(&readers_in, 1);
    AWAIT(READ(&readers_in) == 4);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return NULL;
}

TEST_EACH(readers_are_in_together, LOCKS) {
    pthread_t threads[4];
    make(&L, &LOCKS[row]);
    for (int i = 0; i < 4; i++) threads[i] = START(reads_until_two, NULL);
    for (int i = 0; i < 4; i++) END(threads[i]);
    GIVES(pthread_rwlock_destroy(&L), 0);
}

static void *writes(void *unused) {
    (void)unused;
    ADD(&about_to, 1);
    GIVES(pthread_rwlock_wrlock(&L), 0);
    UP(&inside);
    AWAIT(READ(&may_go));
    GIVES(pthread_rwlock_unlock(&L), 0);
    return NULL;
}

static void *reads(void *unused) {
    (void)unused;
    ADD(&about_to, 1);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    ADD(&readers_in, 1);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return NULL;
}

TEST_EACH(writer_waits_for_the_last_reader, LOCKS) {
    make(&L, &LOCKS[row]);
    UP(&may_go);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    GIVES(ELSEWHERE(rdlock, &L), 0);
    pthread_t writer = START(writes, NULL);
    AWAIT(READ(&about_to));
    settle();
    CHECK(!READ(&inside), "a writer got in beside two readers");
    GIVES(pthread_rwlock_unlock(&L), 0);
    settle();
    CHECK(!READ(&inside), "a writer got in beside a reader");
    GIVES(pthread_rwlock_unlock(&L), 0);
    END(writer);
    GIVES(ELSEWHERE(both_try_forms, &L), 0);
}

TEST_EACH(all_readers_get_in_after_a_writer, LOCKS) {
    pthread_t threads[4];
    make(&L, &LOCKS[row]);
    GIVES(pthread_rwlock_wrlock(&L), 0);
    for (int i = 0; i < 4; i++) threads[i] = START(reads, NULL);
    AWAIT(READ(&about_to) == 4);
    settle();
    CHECK(READ(&readers_in) == 0, "%d readers got in beside a writer", readers_in);
    GIVES(pthread_rwlock_unlock(&L), 0);
    for (int i = 0; i < 4; i++) END(threads[i]);
    CHECK(READ(&readers_in) == 4, "%d of 4 readers got in", readers_in);
}

/* While a writer waits: does a reader get in? The kinds that prefer readers let a thread read again that reads already; without
 * that programs that read in callbacks hang. The nonrecursive kind makes new readers wait, so that writers do not starve. */
TEST_EACH(read_while_a_writer_waits, LOCKS) {
    make(&L, &LOCKS[row]);
    UP(&may_go);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    pthread_t writer = START(writes, NULL);
    AWAIT(READ(&about_to));
    if (nonrecursive(&LOCKS[row])) {
        /* Once the writer waits, and it has as long as it takes for that, readers are turned away. */
        struct timespec give_up = in_ms(CLOCK_MONOTONIC, TIMEOUT * 1000L);
        while (ELSEWHERE(tryrdlock, &L) == 0) {
            GIVES(pthread_rwlock_unlock(&L), 0);
            CHECK(!reached(CLOCK_MONOTONIC, &give_up), "readers still get in while a writer waits");
            sleep_us(1000);
        }
        GIVES(ELSEWHERE(timedrdlock, &L), ETIMEDOUT);
        pthread_t reader = START(reads, NULL);
        settle();
        CHECK(READ(&readers_in) == 0, "a reader got in while a writer waits");
        GIVES(pthread_rwlock_unlock(&L), 0);
        END(reader);
    } else {
        settle();
        GIVES(pthread_rwlock_tryrdlock(&L), 0);
        struct timespec later = in_ms(CLOCK_REALTIME, TIMEOUT * 1000L);
        GIVES(pthread_rwlock_timedrdlock(&L, &later), 0);
        GIVES(pthread_rwlock_rdlock(&L), 0);
        GIVES(ELSEWHERE(rdlock, &L), 0);
        CHECK(!READ(&inside), "the writer got in beside readers");
        for (int i = 0; i < 5; i++) GIVES(pthread_rwlock_unlock(&L), 0);
    }
    END(writer);
    GIVES(ELSEWHERE(both_try_forms, &L), 0);
}

static void *writes_in_vain(void *unused) {
    (void)unused;
    struct timespec soon = in_ms(CLOCK_REALTIME, 60);
    UP(&about_to);
    GIVES(pthread_rwlock_timedwrlock(&L, &soon), ETIMEDOUT);
    return NULL;
}

/* A writer that gave up holds nobody up any more. */
TEST_EACH(writer_that_gave_up_is_forgotten, LOCKS) {
    make(&L, &LOCKS[row]);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    pthread_t writer = START(writes_in_vain, NULL);
    AWAIT(READ(&about_to));
    pthread_t reader = START(reads, NULL);
    END(writer);
    END(reader);
    GIVES(ELSEWHERE(tryrdlock, &L), 0);
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(ELSEWHERE(both_try_forms, &L), 0);
}

static long first_half, second_half;

static void *mixes(void *seed) {
    unsigned dice = *ANY(unsigned, seed);
    for (int i = 0; i < 4000; i++) {
        dice = dice * 1103515245 + 12345;
        if (dice >> 16 & 3) {
            GIVES(pthread_rwlock_rdlock(&L), 0);
            long first = READ(&first_half);
            if (i % 64 == 0) sched_yield();
            CHECK(READ(&second_half) == first, "a reader saw half of what a writer does");
        } else {
            GIVES(pthread_rwlock_wrlock(&L), 0);
            PUT(&first_half, first_half + 1);
            if (i % 64 == 0) sched_yield();
            PUT(&second_half, second_half + 1);
        }
        GIVES(pthread_rwlock_unlock(&L), 0);
    }
    return NULL;
}

TEST_EACH(writers_exclude, LOCKS) {
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    make(&L, &LOCKS[row]);
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        threads[i] = START(mixes, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++) END(threads[i]);
    GIVES(pthread_rwlock_destroy(&L), 0);
}

struct value {
    const char *name;
    int kind, want;
};
static const struct value VALUES[] = {
    {"reader", PTHREAD_RWLOCK_PREFER_READER_NP, 0},
    {"writer", PTHREAD_RWLOCK_PREFER_WRITER_NP, 0},
    {"nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0},
    {"77", 77, EINVAL},
};

TEST_EACH(attribute_kind, VALUES) {
    pthread_rwlockattr_t attributes;
    int kind = -1;
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, VALUES[row].kind), VALUES[row].want);
    GIVES(pthread_rwlockattr_getkind_np(&attributes, &kind), 0);
    CHECK(kind == (VALUES[row].want == 0 ? VALUES[row].kind : PTHREAD_RWLOCK_DEFAULT_NP), "the kind is %d", kind);
    GIVES(pthread_rwlockattr_setpshared(&attributes, 77), EINVAL);
    GIVES(pthread_rwlockattr_destroy(&attributes), 0);
}
