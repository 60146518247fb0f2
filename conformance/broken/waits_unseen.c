/* Broken: a mutex with which threads wait for a condition counts as unused while nobody holds it.
 * caught by: cond_uses.until_all_are_woken/private cond_uses.until_it_is_cancelled/inherit-mutex cond_uses.not_in_a_child
 * passes: cond_uses.until_its_deadline/private cond_uses.unless_the_wait_fails mutex.destroy_of_a_held_one_is_busy/normal cond.ring/private
 */
#include "real.h"

int pthread_mutex_destroy(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_destroy, pthread_mutex_t *);
    if (pthread_mutex_trylock(mutex) != 0) return EBUSY;
    mutex->__data.__nusers = 1;
    pthread_mutex_unlock(mutex);
    return real(mutex);
}
