/* Broken: a writer only tries again and again, and no reader knows of it. With a deadline of `clockwrlock` it waits.
 * caught by: rwlock_timed.writer_among_overlapping_readers/timedwrlock rwlock_waits.waiters_with_a_deadline_sleep/write/default
 * caught by: rwlock_waits.the_most_urgent_writer_is_next/default
 * passes: rwlock_timed.while_write_held/timedwrlock rwlock_timed.writer_among_overlapping_readers/clockwrlock-realtime
 */
#include "real.h"

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline) {
    REAL(pthread_rwlock_timedwrlock, pthread_rwlock_t *, const struct timespec *);
    struct timespec now, little = {0, 200000};
    for (;;) {
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec))
            return real(lock, deadline);
        if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000) return EINVAL;
        int code = pthread_rwlock_trywrlock(lock);
        if (code != EBUSY) return code;
        nanosleep(&little, NULL);
    }
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    struct timespec little = {0, 200000};
    int code;
    while ((code = pthread_rwlock_trywrlock(lock)) == EBUSY) nanosleep(&little, NULL);
    return code;
}
