/* Broken: mutexes do not work before its own constructor has run, which comes after those of the libraries that a program is linked with.
 * caught by: early.constructor_of_the_program early.constructor_of_a_linked_library early.preloaded_library/before
 * passes: mutex.excludes/normal cond.ring/private probe.stdout_untouched
 */
#include "real.h"

static int ready;

__attribute__((constructor)) static void begin(void) { ready = 1; }

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    return ready ? real(mutex) : EINVAL;
}
