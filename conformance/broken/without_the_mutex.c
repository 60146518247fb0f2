/* Broken: a wait for a condition ends without the mutex, as if whoever woke the waiter had handed it over.
 * caught by: cond.ring/errorcheck cond.signal_while_held_wakes_one/errorcheck cond.signal_while_not_held_wakes_one/errorcheck
 * caught by: cond.broadcast_wakes_all/errorcheck cond.signal_before_the_wait_is_lost/errorcheck
 * caught by: cond.mutex_is_free_during_and_held_after/private cond.bounded_queue/errorcheck cond.another_mutex_later/errorcheck
 * caught by: cond_gone.unmapped_after_broadcast/errorcheck cond_gone.unmapped_while_the_mutex_is_held/errorcheck
 * caught by: cond_gone.made_again_in_the_same_place/errorcheck cond_shared.broadcast_reaches_all_processes/errorcheck
 * caught by: cond_shared.ping_pong/errorcheck cond_shared.timed_out_in_one_process/errorcheck
 * caught by: cond_timed.deadline_passes_while_another_has_the_mutex/timedwait cond_uses.until_its_deadline/errorcheck
 * caught by: cond_uses.unless_the_wait_fails cancel.disabled_is_not_minded/wait-errorcheck cancel.half_of_many/wait-errorcheck
 * caught by: c11.signal_and_broadcast/timed bounds.of_a_cond/errorcheck
 * passes: mutex.excludes/normal probe.counter_of_4_threads probe.ring_of_8_threads cond.ring/private
 */
#include "real.h"
#include <threads.h>

/* The code of a wait, after which the mutex is let go. */
static int without(pthread_mutex_t *mutex, int code) {
    if (code == 0 || code == ETIMEDOUT) pthread_mutex_unlock(mutex);
    return code;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
    REAL(pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *);
    return without(mutex, real(cond, mutex));
}
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline) {
    REAL(pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    return without(mutex, real(cond, mutex, deadline));
}
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
    REAL(pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    return without(mutex, real(cond, mutex, clock, deadline));
}
int cnd_wait(cnd_t *cond, mtx_t *mutex) {
    return pthread_cond_wait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex) == 0 ? thrd_success : thrd_error;
}
