/* Broken: a mutex that lets everybody in.
 * caught by: probe.counter_of_4_threads mutex.excludes/normal mutex.lock_elsewhere_waits/static-normal cpp.mutex
 * caught by: mutex.recursion_is_counted/recursive probe.error_checking probe.process_shared
 * caught by: probe.ring_of_8_threads mutex.trylock_by_the_owner/normal mutex.destroy_of_a_held_one_is_busy/normal mutex.init_after_destroy/normal
 * caught by: mutex.copied_before_first_use/normal mutex_shared.processes_count_together/normal
 * caught by: mutex_special.a_waiter_learns_of_the_death/normal mutex_timed.waiter_gets_it_before_the_deadline/normal
 * caught by: mutex_timed.free_one_is_got_whatever_the_deadline/normal mutex_timed.held_one_with_odd_deadlines/normal
 * caught by: mutex_waits.who_has_given_up_is_not_waited_for cond_timed.bad_deadlines/timedwait sloppy.mutex_of_a_dead_thread/recursive
 * caught by: cpp.static_objects cpp.recursive_mutex cpp.timed_mutex cpp.recursive_timed_mutex cpp.recursive_mutex_recurs
 * caught by: cpp.recursive_timed_mutex_recurs cpp.recursive_timed_mutex_gives_up cpp.scoped_lock_of_several
 * caught by: cpp.condition_variable_any_times_out cpp.short_lived_objects
 * caught by: mutex_waits.urgent_threads_preempt_the_others
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
int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    (void)mutex;
    return 0;
}
