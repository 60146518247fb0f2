/* Condition variables and the mutexes they go with, in every mixture, as a table. */
#ifndef CONDS_H
#define CONDS_H
#include "kinds.h"

struct mixture {
    const char *name;
    int cond_shared, mutex_shared, type, monotonic;
    int fixed;            /* made by static initialisers */
    int robust, protocol; /* of the mutex: an interposing library may leave such a one to libc, but not the condition variable */
};

static const struct mixture MIXTURES[] = {
    {"private", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0},
    {"static", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 1, 0, 0},
    {"monotonic", 0, 0, PTHREAD_MUTEX_NORMAL, 1, 0, 0, 0},
    {"recursive", 0, 0, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0, 0},
    {"errorcheck", 0, 0, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0, 0},
    {"adaptive", 0, 0, PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0, 0},
    {"static-recursive", 0, 0, PTHREAD_MUTEX_RECURSIVE, 0, 1, 0, 0},
    {"shared", 1, 1, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0},
    {"shared-errorcheck", 1, 1, PTHREAD_MUTEX_ERRORCHECK, 1, 0, 0, 0},
    {"shared-cond-private-mutex", 1, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0},
    {"private-cond-shared-mutex", 0, 1, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0},
    {"robust-mutex", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 1, PTHREAD_PRIO_NONE},
    {"inherit-mutex", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, PTHREAD_PRIO_INHERIT},
    {"inherit-recursive-mutex", 0, 0, PTHREAD_MUTEX_RECURSIVE, 1, 0, 0, PTHREAD_PRIO_INHERIT},
};

static const pthread_cond_t FIXED_COND = PTHREAD_COND_INITIALIZER;

UNUSED static void make_cond(pthread_cond_t *cond, const struct mixture *mixture) {
    pthread_condattr_t attributes;
    if (mixture->fixed) {
        memcpy(cond, &FIXED_COND, sizeof *cond);
        return;
    }
    memset(cond, 0x5a, sizeof *cond);
    GIVES(pthread_condattr_init(&attributes), 0);
    if (mixture->monotonic) GIVES(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    if (mixture->cond_shared) GIVES(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    GIVES(pthread_cond_init(cond, &attributes), 0);
    GIVES(pthread_condattr_destroy(&attributes), 0);
}

UNUSED static void make_both(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct mixture *mixture) {
    struct kind kind;
    memset(&kind, 0, sizeof kind);
    kind.type = mixture->type;
    kind.made = mixture->fixed ? STATICALLY : BY_ATTRIBUTES;
    kind.shared = mixture->mutex_shared;
    kind.robust = mixture->robust;
    kind.protocol = mixture->protocol;
    make_mutex(mutex, &kind);
    make_cond(cond, mixture);
}

/* The clock of pthread_cond_timedwait. */
UNUSED static clockid_t clock_of(const struct mixture *mixture) {
    return mixture->monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

#endif
