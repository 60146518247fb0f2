/* The kinds of mutex, the ways to make one and the ways to lock one, as tables. */
#ifndef KINDS_H
#define KINDS_H
#include "check.h"

/* What a kind does is asked of its `type`; the other members say how it is made. */
struct kind {
    const char *name;
    int type;
    enum { BY_ATTRIBUTES, WITHOUT_ATTRIBUTES, STATICALLY, ZEROED } made;
    int robust, protocol, shared;
};

static const pthread_mutex_t FIXED_NORMAL = PTHREAD_MUTEX_INITIALIZER;
static const pthread_mutex_t FIXED_RECURSIVE = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const pthread_mutex_t FIXED_ERRORCHECK = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static const pthread_mutex_t FIXED_ADAPTIVE = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

#define ALL_TYPES(prefix, made, robust, protocol, shared)                                                                      \
    {prefix "normal", PTHREAD_MUTEX_NORMAL, made, robust, protocol, shared},                                                   \
    {prefix "recursive", PTHREAD_MUTEX_RECURSIVE, made, robust, protocol, shared},                                             \
    {prefix "errorcheck", PTHREAD_MUTEX_ERRORCHECK, made, robust, protocol, shared},                                           \
    {prefix "adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, made, robust, protocol, shared}

static const struct kind KINDS[] = {
    ALL_TYPES("", BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0),
    ALL_TYPES("static-", STATICALLY, 0, PTHREAD_PRIO_NONE, 0),
    ALL_TYPES("shared-", BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 1),
    ALL_TYPES("robust-", BY_ATTRIBUTES, 1, PTHREAD_PRIO_NONE, 0),
    ALL_TYPES("inherit-", BY_ATTRIBUTES, 0, PTHREAD_PRIO_INHERIT, 0),
    ALL_TYPES("protect-", BY_ATTRIBUTES, 0, PTHREAD_PRIO_PROTECT, 0),
    {"default", PTHREAD_MUTEX_NORMAL, WITHOUT_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0},
    {"zeroed", PTHREAD_MUTEX_NORMAL, ZEROED, 0, PTHREAD_PRIO_NONE, 0},
};

/* Under glibc only a thread of a real-time class can lock a mutex with priority protection, and not everybody may have that
 * class. Threads that are started later inherit it. */
UNUSED static void enter_class_of(const struct kind *kind) {
    if (kind->protocol != PTHREAD_PRIO_PROTECT) return;
    struct sched_param lowest;
    memset(&lowest, 0, sizeof lowest);
    lowest.sched_priority = sched_get_priority_min(SCHED_FIFO);
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest) != 0)
        SKIP("priority protection needs the right to set priorities (CAP_SYS_NICE)");
}

UNUSED static void make_mutex(pthread_mutex_t *mutex, const struct kind *kind) {
    enter_class_of(kind);
    switch (kind->made) {
    case WITHOUT_ATTRIBUTES: GIVES(pthread_mutex_init(mutex, NULL), 0); return;
    case ZEROED: memset(mutex, 0, sizeof *mutex); return;
    case STATICALLY:
        memcpy(mutex,
               kind->type == PTHREAD_MUTEX_RECURSIVE    ? &FIXED_RECURSIVE
               : kind->type == PTHREAD_MUTEX_ERRORCHECK ? &FIXED_ERRORCHECK
               : kind->type == PTHREAD_MUTEX_NORMAL     ? &FIXED_NORMAL
                                                        : &FIXED_ADAPTIVE,
               sizeof *mutex);
        return;
    case BY_ATTRIBUTES: break;
    }
    pthread_mutexattr_t attributes;
    memset(mutex, 0x5a, sizeof *mutex); /* `init` must not rely on what is there */
    GIVES(pthread_mutexattr_init(&attributes), 0);
    GIVES(pthread_mutexattr_settype(&attributes, kind->type), 0);
    if (kind->robust) GIVES(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
    if (kind->shared) GIVES(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    GIVES(pthread_mutexattr_setprotocol(&attributes, kind->protocol), 0);
    if (kind->protocol == PTHREAD_PRIO_PROTECT)
        GIVES(pthread_mutexattr_setprioceiling(&attributes, sched_get_priority_min(SCHED_FIFO) + 1), 0);
    GIVES(pthread_mutex_init(mutex, &attributes), 0);
    GIVES(pthread_mutexattr_destroy(&attributes), 0);
}

/* Relocking by the owner: a recursive kind counts, a checking kind says so, the others wait for ever. */
UNUSED static int waits_for_itself(const struct kind *kind) {
    return kind->type == PTHREAD_MUTEX_NORMAL || kind->type == PTHREAD_MUTEX_ADAPTIVE_NP;
}

/* The calls with a `void *`, for ELSEWHERE and tables. */
UNUSED static int lock(void *mutex) { return pthread_mutex_lock(ANY(pthread_mutex_t, mutex)); }
UNUSED static int trylock(void *mutex) { return pthread_mutex_trylock(ANY(pthread_mutex_t, mutex)); }
UNUSED static int unlock(void *mutex) { return pthread_mutex_unlock(ANY(pthread_mutex_t, mutex)); }
UNUSED static int lock_unlock(void *mutex) {
    int code = lock(mutex);
    return code != 0 ? code : unlock(mutex);
}
UNUSED static int trylock_unlock(void *mutex) {
    int code = trylock(mutex);
    return code != 0 ? code : unlock(mutex);
}

/* The ways to lock that have a deadline, each with the clock that it goes by. */
struct timed_way {
    const char *name;
    clockid_t clock;
    int (*call)(pthread_mutex_t *, const struct timespec *);
};
UNUSED static int by_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline) {
    return pthread_mutex_timedlock(mutex, deadline);
}
UNUSED static int by_clocklock_realtime(pthread_mutex_t *mutex, const struct timespec *deadline) {
    return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, deadline);
}
UNUSED static int by_clocklock_monotonic(pthread_mutex_t *mutex, const struct timespec *deadline) {
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, deadline);
}
UNUSED static const struct timed_way TIMED_WAYS[] = {
    {"timedlock", CLOCK_REALTIME, by_timedlock},
    {"clocklock-realtime", CLOCK_REALTIME, by_clocklock_realtime},
    {"clocklock-monotonic", CLOCK_MONOTONIC, by_clocklock_monotonic},
};

/* By CLOCK_MONOTONIC, a priority-inheriting mutex is waited for with FUTEX_LOCK_PI2, which Linux has since 5.14 and valgrind 3.19
 * does not. glibc says EINVAL without it. */
UNUSED static void needs_any_clock(const struct kind *kind) {
    enum { LOCK_PI2_PRIVATE = 13 | 128 };
    int word = 0;
    struct timespec later = in_ms(CLOCK_MONOTONIC, 1000);
    if (kind->protocol != PTHREAD_PRIO_INHERIT) return;
    if (syscall(SYS_futex, &word, LOCK_PI2_PRIVATE, 0, &later) != 0) SKIP("no FUTEX_LOCK_PI2: %s", strerror(errno));
}

#endif
