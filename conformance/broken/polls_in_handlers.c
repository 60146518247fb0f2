/* Broken: a wait for a condition inside another wait, in the handler of a signal, returns at once, so that its caller polls.
 * caught by: cond_nested.sleeps_and_is_woken/two cond_nested.sleeps_and_is_woken/six-outer-first
 * passes: cond.ring/private cond_nested.deadlines/inner-first probe.ring_of_8_threads
 */
#include "real.h"

static __thread int waits;

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
    REAL(pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *);
    if (waits) {
        int code = pthread_mutex_unlock(mutex);
        return code != 0 ? code : pthread_mutex_lock(mutex);
    }
    waits = 1;
    int code = real(cond, mutex);
    waits = 0;
    return code;
}
