/* Broken: a mutex keeps a word behind the bytes of its type, as one does that was laid out for a larger one.
 * caught by: bounds.of_a_mutex/normal bounds.of_a_mutex/static-recursive
 * passes: mutex.excludes/normal probe.counter_of_4_threads
 */
#include "real.h"

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    int code = real(mutex);
    /* Only written as it was read: whoever has that memory need not notice. */
    __atomic_fetch_add((volatile int *)(mutex + 1), 0, __ATOMIC_RELAXED);
    return code;
}
