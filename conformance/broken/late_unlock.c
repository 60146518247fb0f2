/* Broken: unlock looks at the mutex again after it is free, when the next owner may have given its memory back. So does
 * pthread_cancel at the thread.
 * caught by: mutex_gone.last_user_unmaps_it/static-normal mutex_gone.waiter_unmaps_it/recursive
 * caught by: cancel.joined_before_the_call_returns
 * passes: mutex.excludes/normal probe.counter_of_4_threads probe.timed_lock
 */
#include "real.h"

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_unlock, pthread_mutex_t *);
    int code = real(mutex);
    /* "Does anybody wait?", asked too late. */
    if (*(volatile int *)mutex == 2) code = 0;
    return code;
}
int pthread_cancel(pthread_t thread) {
    REAL(pthread_cancel, pthread_t);
    struct timespec little = {0, 500000};
    int code = real(thread);
    nanosleep(&little, NULL);
    (void)*(volatile char *)thread;
    return code;
}
