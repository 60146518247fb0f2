/* Broken: mutexes have a lock of their own in bytes that libc does not use, and nobody looks whether libc's functions hold them.
 * caught by: two.excludes/handle-normal two.excludes/deepbind-static two.held_by_the_other_and_tried/dlmopen-normal
 * caught by: two.locked_and_unlocked/handle-normal
 * passes: mutex.excludes/normal probe.counter_of_4_threads
 */
#include "real.h"

static int *own(pthread_mutex_t *mutex) { return (int *)((char *)mutex + 24); }

int pthread_mutex_trylock(pthread_mutex_t *mutex) { return __atomic_exchange_n(own(mutex), 1, __ATOMIC_SEQ_CST) ? EBUSY : 0; }
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    while (pthread_mutex_trylock(mutex) != 0) sched_yield();
    return 0;
}
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    __atomic_store_n(own(mutex), 0, __ATOMIC_SEQ_CST);
    return 0;
}
