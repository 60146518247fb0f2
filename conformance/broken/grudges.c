/* Broken: a writer that has given up keeps new readers out until the lock is free once.
 * caught by: rwlock_waits.a_writer_that_gave_up_keeps_nobody_out
 * passes: rwlock_timed.while_read_held/timedwrlock rwlock_timed.while_write_held/timedwrlock rwlock_waits.waiters_with_a_deadline_sleep/write/default
 */
#include "real.h"

static pthread_rwlock_t *wanted;

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline) {
    REAL(pthread_rwlock_timedwrlock, pthread_rwlock_t *, const struct timespec *);
    int code = real(lock, deadline);
    if (code == ETIMEDOUT) __atomic_store_n(&wanted, lock, __ATOMIC_SEQ_CST);
    return code;
}
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    REAL(pthread_rwlock_rdlock, pthread_rwlock_t *);
    struct timespec little = {0, 100000};
    while (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) == lock) {
        if (pthread_rwlock_trywrlock(lock) == 0) {
            __atomic_store_n(&wanted, NULL, __ATOMIC_SEQ_CST);
            pthread_rwlock_unlock(lock);
        }
        nanosleep(&little, NULL);
    }
    return real(lock);
}
