/* Broken: when a waiter is cancelled its clean-up handlers run before it has the mutex again, and a signal that came at that moment
 * is lost with it.
 * caught by: cancel.ends_a_wait/wait cancel_cpp.destructors_run_with_the_mutex_held/wait cancel.handler_waits_for_the_mutex/wait
 * caught by: cancel.ends_a_wait_of_the_asynchronous_type/wait cancel.no_signal_is_lost_with_a_cancelled_waiter/wait
 * passes: cancel.disabled_is_not_minded/wait cond.ring/private probe.ring_of_8_threads
 */
#include "real.h"

/* The cancellation is acted upon here, outside of libc's wait, after the mutex was let go. */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
    REAL(pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    for (;;) {
        struct timespec soon;
        int state;
        clock_gettime(CLOCK_MONOTONIC, &soon);
        soon.tv_nsec += 5000000;
        if (soon.tv_nsec >= 1000000000) {
            soon.tv_nsec -= 1000000000;
            soon.tv_sec++;
        }
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        int code = real(cond, mutex, CLOCK_MONOTONIC, &soon);
        if (code != ETIMEDOUT) {
            pthread_setcancelstate(state, &state);
            return code;
        }
        pthread_mutex_unlock(mutex);
        pthread_setcancelstate(state, &state);
        pthread_testcancel();
        return pthread_mutex_lock(mutex); /* woken for nothing, which is allowed */
    }
}
