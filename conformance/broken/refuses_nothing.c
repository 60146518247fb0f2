/* Broken: what it does not know is fine: values of attributes, clocks, protocols, ceilings, and repairs of mutexes. Nothing comes of them.
 * caught by: mutex_special.attribute/type-77 mutex_special.attribute/protocol-77 mutex_special.default_attributes
 * caught by: mutex_special.owner_died_and_it_was_repaired/normal mutex_special.consistent_of_sound_ones_is_refused/normal
 * caught by: mutex_special.ceilings/normal mutex_special.ceiling_below_the_thread/protect-normal mutex_shared.killed_owner/robust-normal
 * caught by: mutex_timed.other_clocks_are_refused/normal cond_timed.other_clocks_are_refused rwlock_timed.other_clocks_are_refused
 * caught by: rwlock.attribute_kind/77
 * passes: mutex.excludes/normal cond.ring/private mutex.lock_by_the_owner/recursive rwlock.writers_exclude/default
 */
#include "real.h"

int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int type) {
    REAL(pthread_mutexattr_settype, pthread_mutexattr_t *, int);
    (void)real(attributes, type);
    return 0;
}
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attributes, int *robust) {
    (void)attributes;
    (void)robust;
    return 0;
}
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol) {
    (void)attributes;
    (void)protocol;
    return 0;
}
int pthread_mutex_getprioceiling(const pthread_mutex_t *mutex, int *ceiling) {
    (void)mutex;
    (void)ceiling;
    return 0;
}
int pthread_mutex_consistent(pthread_mutex_t *mutex) {
    (void)mutex;
    return 0;
}
int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) {
    REAL(pthread_condattr_setclock, pthread_condattr_t *, clockid_t);
    (void)real(attributes, clock);
    return 0;
}
int pthread_rwlockattr_setkind_np(pthread_rwlockattr_t *attributes, int kind) {
    REAL(pthread_rwlockattr_setkind_np, pthread_rwlockattr_t *, int);
    (void)real(attributes, kind);
    return 0;
}

static clockid_t known(clockid_t clock) { return clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME; }

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
    REAL(pthread_mutex_clocklock, pthread_mutex_t *, clockid_t, const struct timespec *);
    return real(mutex, known(clock), deadline);
}
int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline) {
    REAL(pthread_rwlock_clockrdlock, pthread_rwlock_t *, clockid_t, const struct timespec *);
    return real(lock, known(clock), deadline);
}
