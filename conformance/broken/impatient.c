/* Broken: who has waited for a second to write gives up, with an error.
 * caught by: rwlock_waits.writers_wait_for_seconds/default rwlock_waits.writers_wait_for_seconds/prefer-writer-nonrecursive
 * passes: rwlock.writer_waits_for_the_last_reader/default probe.two_readers_at_once
 */
#include "real.h"

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    struct timespec soon;
    clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_sec++;
    return pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &soon);
}
