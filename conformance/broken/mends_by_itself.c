/* Broken: whoever unlocks a mutex that a dead thread held counts as having repaired it.
 * caught by: mutex_special.owner_died_and_it_was_not_repaired/normal
 * passes: mutex_special.owner_died_and_it_was_repaired/normal mutex.excludes/normal
 */
#include "real.h"

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_unlock, pthread_mutex_t *);
    (void)pthread_mutex_consistent(mutex);
    return real(mutex);
}
