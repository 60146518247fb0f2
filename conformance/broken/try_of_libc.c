/* Broken: a mutex and a reader-writer lock of its own, whose try forms are libc's: half of an interposition.
 * caught by: mutex.trylock_elsewhere_is_busy/normal probe.recursive probe.try_forms_while_write_held
 * caught by: rwlock.while_write_held/default cpp.mutex
 * passes: probe.counter_of_4_threads probe.stdout_untouched spin.excludes/private
 */
#include "real.h"

/* A byte behind what libc uses. */
static char *own(void *object, size_t at) { return (char *)object + at; }

static int take(char *byte) {
    while (__atomic_exchange_n(byte, 1, __ATOMIC_ACQUIRE)) sched_yield();
    return 0;
}
static int leave(char *byte) {
    __atomic_store_n(byte, 0, __ATOMIC_RELEASE);
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) { return take(own(mutex, 36)); }
int pthread_mutex_unlock(pthread_mutex_t *mutex) { return leave(own(mutex, 36)); }
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return take(own(lock, 52)); }
int pthread_rwlock_unlock(pthread_rwlock_t *lock) { return leave(own(lock, 52)); }
