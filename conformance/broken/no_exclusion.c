/* Broken: a mutex that lets everybody in.
 * caught by: probe.counter_of_4_threads mutex.excludes/normal mutex.lock_elsewhere_waits/static-normal cpp.mutex
 * caught by: mutex.recursion_is_counted/recursive probe.error_checking
 * passes: probe.two_readers_at_once spin.excludes/private rwlock.writers_exclude/default
 */
#include "real.h"

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    (void)mutex;
    return 0;
}
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    (void)mutex;
    return 0;
}
