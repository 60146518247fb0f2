/* Broken: a mutex and a reader-writer lock of its own, whose try forms are libc's: half of an interposition.
 * caught by: mutex.trylock_elsewhere_is_busy/normal probe.recursive probe.try_forms_while_write_held
 * caught by: rwlock.while_write_held/default cpp.mutex
 * caught by: mutex.lock_unlock_again/normal rwlock.read_and_write_in_turn/default rwlock.read_unlock_elsewhere/default
 * caught by: rwlock.writer_that_gave_up_is_forgotten/default rwlock_timed.waiter_gets_it_before_the_deadline/timedrdlock
 * caught by: sloppy.rwlock_of_a_dead_writer two_rw.read_both_ways/handle-default two_rw.used_both_ways_at_once/handle-default
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
