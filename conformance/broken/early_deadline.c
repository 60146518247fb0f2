/* Broken: deadlines pass ten milliseconds early, and the clock that a call names is taken for the real-time clock.
 * caught by: mutex_timed.held_one_times_out/normal mutex_timed.some_give_up_and_some_get_it/normal
 * caught by: cond_timed.times_out_with_the_mutex_held/timedwait cond_timed.woken_before_the_deadline/clockwait-monotonic
 * caught by: rwlock_timed.while_write_held/timedwrlock
 * caught by: mutex_timed.lock_by_the_owner/normal cond_nested.deadlines/inner-first cpp.timed_mutex_gives_up
 * caught by: cpp.shared_timed_mutex_gives_up
 * caught by: cond_timed.clock_of_a_shared_condition_with_a_private_mutex
 * passes: mutex_timed.free_one_is_got/normal mutex.excludes/normal cond.ring/private
 */
#include "real.h"

static struct timespec sooner(const struct timespec *deadline) {
    struct timespec at = *deadline;
    if (at.tv_nsec >= 10000000 && at.tv_nsec < 1000000000) at.tv_nsec -= 10000000;
    return at;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline) {
    REAL(pthread_mutex_timedlock, pthread_mutex_t *, const struct timespec *);
    struct timespec at = sooner(deadline);
    return real(mutex, &at);
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline) {
    REAL(pthread_rwlock_timedwrlock, pthread_rwlock_t *, const struct timespec *);
    struct timespec at = sooner(deadline);
    return real(lock, &at);
}
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline) {
    REAL(pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    struct timespec at = sooner(deadline);
    return real(cond, mutex, &at);
}
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
    (void)clock;
    return pthread_cond_timedwait(cond, mutex, deadline);
}
