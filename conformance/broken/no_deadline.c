/* Broken: waits and locks with a deadline wait for ever.
 * caught by: probe.timed_lock cond_timed.times_out_with_the_mutex_held/timedwait cond_timed.signals_and_deadlines_at_once/timedwait
 * caught by: cond_timed.times_out_with_the_mutex_held/clockwait-monotonic mutex_timed.held_one_times_out/normal
 * caught by: cpp.condition_variable_times_out
 * passes: probe.counter_of_4_threads cond.ring/private rwlock_timed.while_write_held/timedrdlock
 */
#include "real.h"

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline) {
    (void)deadline;
    return pthread_cond_wait(cond, mutex);
}
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
    (void)clock;
    (void)deadline;
    return pthread_cond_wait(cond, mutex);
}
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline) {
    (void)deadline;
    return pthread_mutex_lock(mutex);
}
