/* Attributes of mutexes, robust mutexes whose owner died, priority ceilings. */
#define GROUP "mutex_special"
#include "../kinds.h"

static pthread_mutex_t M;

/* ---- Attributes ------------------------------------------------------------------------------- */

struct value {
    const char *name;
    int (*set)(pthread_mutexattr_t *, int);
    int (*get)(const pthread_mutexattr_t *, int *);
    int value, want;
};
static const struct value VALUES[] = {
    {"type-normal", pthread_mutexattr_settype, pthread_mutexattr_gettype, PTHREAD_MUTEX_NORMAL, 0},
    {"type-recursive", pthread_mutexattr_settype, pthread_mutexattr_gettype, PTHREAD_MUTEX_RECURSIVE, 0},
    {"type-errorcheck", pthread_mutexattr_settype, pthread_mutexattr_gettype, PTHREAD_MUTEX_ERRORCHECK, 0},
    {"type-adaptive", pthread_mutexattr_settype, pthread_mutexattr_gettype, PTHREAD_MUTEX_ADAPTIVE_NP, 0},
    {"type-77", pthread_mutexattr_settype, pthread_mutexattr_gettype, 77, EINVAL},
    {"type-negative", pthread_mutexattr_settype, pthread_mutexattr_gettype, -1, EINVAL},
    {"private", pthread_mutexattr_setpshared, pthread_mutexattr_getpshared, PTHREAD_PROCESS_PRIVATE, 0},
    {"shared", pthread_mutexattr_setpshared, pthread_mutexattr_getpshared, PTHREAD_PROCESS_SHARED, 0},
    {"shared-77", pthread_mutexattr_setpshared, pthread_mutexattr_getpshared, 77, EINVAL},
    {"stalled", pthread_mutexattr_setrobust, pthread_mutexattr_getrobust, PTHREAD_MUTEX_STALLED, 0},
    {"robust", pthread_mutexattr_setrobust, pthread_mutexattr_getrobust, PTHREAD_MUTEX_ROBUST, 0},
    {"robust-77", pthread_mutexattr_setrobust, pthread_mutexattr_getrobust, 77, EINVAL},
    {"no-protocol", pthread_mutexattr_setprotocol, pthread_mutexattr_getprotocol, PTHREAD_PRIO_NONE, 0},
    {"inherit", pthread_mutexattr_setprotocol, pthread_mutexattr_getprotocol, PTHREAD_PRIO_INHERIT, 0},
    {"protect", pthread_mutexattr_setprotocol, pthread_mutexattr_getprotocol, PTHREAD_PRIO_PROTECT, 0},
    {"protocol-77", pthread_mutexattr_setprotocol, pthread_mutexattr_getprotocol, 77, EINVAL},
    {"ceiling-1", pthread_mutexattr_setprioceiling, pthread_mutexattr_getprioceiling, 1, 0},
    {"ceiling-99", pthread_mutexattr_setprioceiling, pthread_mutexattr_getprioceiling, 99, 0},
    {"ceiling-100000", pthread_mutexattr_setprioceiling, pthread_mutexattr_getprioceiling, 100000, EINVAL},
};

TEST_EACH(attribute, VALUES) {
    const struct value *value = &VALUES[row];
    pthread_mutexattr_t attributes;
    int read_back = -1;
    GIVES(pthread_mutexattr_init(&attributes), 0);
    GIVES(value->set(&attributes, value->value), value->want);
    if (value->want == 0) {
        GIVES(value->get(&attributes, &read_back), 0);
        CHECK(read_back == value->value, "%d was set and %d read", value->value, read_back);
    }
    GIVES(pthread_mutexattr_destroy(&attributes), 0);
}

TEST(default_attributes) {
    pthread_mutexattr_t attributes;
    int value = -1;
    GIVES(pthread_mutexattr_init(&attributes), 0);
    GIVES(pthread_mutexattr_gettype(&attributes, &value), 0);
    CHECK(value == PTHREAD_MUTEX_DEFAULT, "the type is %d", value);
    value = -1;
    GIVES(pthread_mutexattr_getpshared(&attributes, &value), 0);
    CHECK(value == PTHREAD_PROCESS_PRIVATE, "pshared is %d", value);
    value = -1;
    GIVES(pthread_mutexattr_getrobust(&attributes, &value), 0);
    CHECK(value == PTHREAD_MUTEX_STALLED, "robust is %d", value);
    value = -1;
    GIVES(pthread_mutexattr_getprotocol(&attributes, &value), 0);
    CHECK(value == PTHREAD_PRIO_NONE, "the protocol is %d", value);
}

TEST(attributes_serve_many_mutexes) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutexes[3];
    GIVES(pthread_mutexattr_init(&attributes), 0);
    GIVES(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE), 0);
    for (int i = 0; i < 3; i++) GIVES(pthread_mutex_init(&mutexes[i], &attributes), 0);
    /* What happens to the attributes later changes no mutex. */
    GIVES(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK), 0);
    GIVES(pthread_mutexattr_destroy(&attributes), 0);
    for (int i = 0; i < 3; i++) {
        GIVES(pthread_mutex_lock(&mutexes[i]), 0);
        GIVES(pthread_mutex_lock(&mutexes[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        GIVES(pthread_mutex_unlock(&mutexes[i]), 0);
        GIVES(pthread_mutex_unlock(&mutexes[i]), 0);
        GIVES(pthread_mutex_unlock(&mutexes[i]), EPERM);
    }
}

/* ---- Robust ----------------------------------------------------------------------------------- */

static const struct kind ROBUST[] = {
    ALL_TYPES("", BY_ATTRIBUTES, 1, PTHREAD_PRIO_NONE, 0),
    ALL_TYPES("shared-", BY_ATTRIBUTES, 1, PTHREAD_PRIO_NONE, 1),
    ALL_TYPES("inherit-", BY_ATTRIBUTES, 1, PTHREAD_PRIO_INHERIT, 0),
};

static int by_lock(void) { return pthread_mutex_lock(&M); }
static int by_trylock(void) { return pthread_mutex_trylock(&M); }
static int by_timed(void) {
    struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
    return pthread_mutex_timedlock(&M, &later);
}
static int by_clock(void) {
    struct timespec later = in_ms(CLOCK_MONOTONIC, 3600 * 1000);
    return pthread_mutex_clocklock(&M, CLOCK_MONOTONIC, &later);
}
static int (*const WAYS[])(void) = {by_lock, by_trylock, by_timed, by_clock};

TEST_EACH(owner_died_and_it_was_repaired, ROBUST) {
    for (size_t way = 0; way < ROWS(WAYS); way++) {
        if (ROBUST[row].protocol != PTHREAD_PRIO_NONE && way == 3) continue; /* not in glibc before 2.35 */
        make_mutex(&M, &ROBUST[row]);
        GIVES(ELSEWHERE(lock, &M), 0);
        GIVES(WAYS[way](), EOWNERDEAD);
        GIVES(ELSEWHERE(trylock, &M), EBUSY);
        GIVES(pthread_mutex_consistent(&M), 0);
        GIVES(pthread_mutex_consistent(&M), EINVAL);
        GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(ELSEWHERE(lock_unlock, &M), 0);
        GIVES(pthread_mutex_destroy(&M), 0);
    }
}

/* A mutex for each way: in glibc up to 2.36 a trylock leaves such a mutex locked. */
TEST_EACH(owner_died_and_it_was_not_repaired, ROBUST) {
    for (size_t way = 0; way < ROWS(WAYS); way++) {
        if (ROBUST[row].protocol != PTHREAD_PRIO_NONE && way == 3) continue;
        make_mutex(&M, &ROBUST[row]);
        GIVES(ELSEWHERE(lock, &M), 0);
        GIVES(pthread_mutex_lock(&M), EOWNERDEAD);
        GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(WAYS[way](), ENOTRECOVERABLE);
        GIVES(pthread_mutex_destroy(&M), 0);
    }
}

static int has_it, may_die, code_of_waiter = -1;

static void *dies_with_it(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&has_it);
    AWAIT(READ(&may_die));
    return NULL;
}

static void *waits_for_it(void *unused) {
    (void)unused;
    code_of_waiter = pthread_mutex_lock(&M);
    return NULL;
}

TEST_EACH(a_waiter_learns_of_the_death, ROBUST) {
    make_mutex(&M, &ROBUST[row]);
    pthread_t owner = START(dies_with_it, NULL);
    AWAIT(READ(&has_it));
    pthread_t waiter = START(waits_for_it, NULL);
    settle();
    UP(&may_die);
    END(owner);
    END(waiter);
    GIVES(code_of_waiter, EOWNERDEAD);
}

TEST_EACH(consistent_of_sound_ones_is_refused, KINDS) {
    make_mutex(&M, &KINDS[row]);
    GIVES(pthread_mutex_consistent(&M), EINVAL);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_mutex_consistent(&M), EINVAL);
    GIVES(pthread_mutex_unlock(&M), 0);
}

/* ---- Priorities ------------------------------------------------------------------------------- */

TEST_EACH(ceilings, KINDS) {
    const struct kind *kind = &KINDS[row];
    int ceiling = -1, lowest = sched_get_priority_min(SCHED_FIFO);
    make_mutex(&M, kind);
    if (kind->protocol != PTHREAD_PRIO_PROTECT) {
        GIVES(pthread_mutex_getprioceiling(&M, &ceiling), EINVAL);
        GIVES(pthread_mutex_setprioceiling(&M, 5, &ceiling), EINVAL);
        GIVES(ELSEWHERE(trylock_unlock, &M), 0);
        return;
    }
    GIVES(pthread_mutex_getprioceiling(&M, &ceiling), 0);
    CHECK(ceiling == lowest + 1, "the ceiling is %d", ceiling);
    GIVES(pthread_mutex_setprioceiling(&M, lowest + 6, &ceiling), 0);
    CHECK(ceiling == lowest + 1, "the old ceiling was %d", ceiling);
    GIVES(pthread_mutex_getprioceiling(&M, &ceiling), 0);
    CHECK(ceiling == lowest + 6, "the new ceiling is %d", ceiling);
    GIVES(pthread_mutex_setprioceiling(&M, 100000, &ceiling), EINVAL);
    GIVES(ELSEWHERE(lock_unlock, &M), 0);
}

TEST_EACH(ceiling_below_the_thread, KINDS) {
    const struct kind *kind = &KINDS[row];
    if (kind->protocol != PTHREAD_PRIO_PROTECT) SKIP("has no ceiling");
    make_mutex(&M, kind);
    struct sched_param high;
    memset(&high, 0, sizeof high);
    high.sched_priority = sched_get_priority_min(SCHED_FIFO) + 9;
    SETUP(pthread_setschedparam(pthread_self(), SCHED_FIFO, &high) == 0);
    GIVES(pthread_mutex_lock(&M), EINVAL);
    GIVES(pthread_mutex_trylock(&M), EINVAL);
}
