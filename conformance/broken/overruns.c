/* Broken: a mutex keeps a word behind the bytes of its type, as one does that was laid out for a larger one, and so do reader-writer and
 * spin locks.
 * caught by: bounds.of_a_mutex/normal bounds.of_a_mutex/static-recursive
 * caught by: bounds.of_a_rwlock bounds.of_a_spin_lock
 * passes: mutex.excludes/normal probe.counter_of_4_threads
 */
#include "real.h"

/* Only written as it was read: whoever has that memory need not notice. */
static void touch(void *behind) { __atomic_fetch_add((volatile int *)behind, 0, __ATOMIC_RELAXED); }

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    int code = real(mutex);
    touch(mutex + 1);
    return code;
}
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    REAL(pthread_rwlock_rdlock, pthread_rwlock_t *);
    int code = real(lock);
    touch(lock + 1);
    return code;
}
int pthread_spin_unlock(pthread_spinlock_t *lock) {
    REAL(pthread_spin_unlock, pthread_spinlock_t *);
    touch((void *)(lock + 1));
    return real(lock);
}
