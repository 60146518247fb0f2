/* Broken: a reader-writer lock that lets one reader in at a time.
 * caught by: probe.two_readers_at_once rwlock.readers_are_in_together/default rwlock.while_read_held/static cpp.shared_mutex_shares
 * caught by: rwlock_timed.processes_read_together
 * caught by: cpp.shared_timed_mutex_shares rwlock_timed.while_read_held/timedrdlock rwlock_beside.past_a_writer/default
 * passes: probe.try_forms_while_write_held probe.recursive rwlock.writers_exclude/default
 */
#include "real.h"

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) { return pthread_rwlock_wrlock(lock); }
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) { return pthread_rwlock_trywrlock(lock); }
