/* Broken: who waits for a mutex tries again and again; with a deadline, it sleeps for a little in between.
 * caught by: mutex_waits.waiters_with_a_deadline_sleep mutex_waits.the_most_urgent_is_next
 * caught by: cancel.mutex_lock_is_no_cancellation_point/wait
 * passes: mutex_waits.who_has_given_up_is_not_waited_for mutex_timed.held_one_times_out/normal
 */
#include "real.h"

static const struct timespec LITTLE = {0, 100000};

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    int code;
    while ((code = pthread_mutex_trylock(mutex)) == EBUSY) nanosleep(&LITTLE, NULL);
    return code;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline) {
    struct timespec now;
    for (;;) {
        int code = pthread_mutex_trylock(mutex);
        if (code != EBUSY) return code;
        if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000) return EINVAL;
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec)) return ETIMEDOUT;
        nanosleep(&LITTLE, NULL);
    }
}
