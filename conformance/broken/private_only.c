/* Broken: nothing is shared between processes, whatever the attributes say. Waiters in another process are not woken.
 * caught by: mutex_shared.parent_holds_child_waits/normal mutex_shared.child_holds_parent_waits/errorcheck
 * caught by: cond_shared.parent_signals_child/normal cond_shared.child_signals_parent/normal
 * caught by: mutex_shared.at_another_address/normal
 * passes: mutex.excludes/normal cond.ring/private probe.ring_of_8_threads
 */
#include "real.h"

int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared) {
    (void)attributes;
    (void)shared;
    return 0;
}
int pthread_condattr_setpshared(pthread_condattr_t *attributes, int shared) {
    (void)attributes;
    (void)shared;
    return 0;
}
