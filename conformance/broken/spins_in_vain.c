/* Broken: a spin lock lets everybody in, and `init` takes one that is not zero for one that it has made.
 * caught by: spin.lock_trylock_unlock/private spin.init_of_dirty_memory spin.lock_elsewhere_waits/private spin.excludes/private
 * caught by: spin.processes_exclude spin.processes_wait/parent-waits sloppy.private_spin_lock_of_two_processes
 * caught by: two_spin.excludes/handle-private two_spin.held_by_name_and_waited_for/handle-private
 * caught by: two_spin.held_by_the_other_and_waited_for/handle-private
 * passes: mutex.excludes/normal bounds.of_a_spin_lock probe.counter_of_4_threads
 */
#include "real.h"

int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
    REAL(pthread_spin_init, pthread_spinlock_t *, int);
    return *lock != 0 ? 0 : real(lock, shared);
}
int pthread_spin_lock(pthread_spinlock_t *lock) {
    (void)lock;
    return 0;
}
