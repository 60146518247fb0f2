/* Broken: nobody waits for a reader-writer lock. Who finds that it can not be had goes in beside those who have it.
 * caught by: rwlock.writers_exclude/default rwlock.own_lock_again/default rwlock.writer_waits_for_the_last_reader/default
 * caught by: rwlock.all_readers_get_in_after_a_writer/default rwlock.read_while_a_writer_waits/default rwlock_timed.processes_exclude
 * caught by: sloppy.rdlock_waits_for_a_dead_writer cpp.shared_mutex cpp.shared_timed_mutex
 * caught by: two_rw.read_by_the_other_and_waited_for/handle-default two_rw.written_by_the_other_and_unlocked_by_name/handle-default
 * caught by: two_rw.read_by_the_other_and_unlocked_by_name/deepbind-default
 * caught by: rwlock_waits.urgent_threads_preempt_the_others/default
 * caught by: rwlock_waits.urgent_threads_preempt_the_others/prefer-writer-nonrecursive
 * passes: rwlock.readers_are_in_together/default rwlock.while_read_held/default rwlock.while_write_held/default probe.two_readers_at_once
 */
#include "real.h"

/* How often the thread is in without the lock. */
static __thread int beside;

static int walk_in(int code) {
    if (code != EBUSY) return code;
    beside++;
    return 0;
}
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) { return walk_in(pthread_rwlock_tryrdlock(lock)); }
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return walk_in(pthread_rwlock_trywrlock(lock)); }
int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    REAL(pthread_rwlock_unlock, pthread_rwlock_t *);
    if (beside == 0) return real(lock);
    beside--;
    return 0;
}
