/* Broken: mutexes, reader-writer locks and condition variables have words of their own in bytes that libc does not use, or not so, and nobody looks
 * whether libc's functions use them, too.
 * caught by: two.excludes/handle-normal two.excludes/deepbind-static two.held_by_the_other_and_tried/dlmopen-normal
 * caught by: two.locked_and_unlocked/handle-normal two_rw.written_by_the_other_and_waited_for/handle-default
 * caught by: two_rw.locked_and_unlocked/deepbind-default two_cond.waited_for_by_the_other_and_signalled_by_name/handle
 * caught by: two.excludes_after_turns/handle-normal two.held_by_the_other_and_waited_for/handle-normal
 * caught by: two.held_by_name_and_waited_for/handle-normal two.locked_by_the_other_and_unlocked_by_name_while_waited_for/handle-normal
 * caught by: two.locked_by_name_and_unlocked_by_the_other_while_waited_for/deepbind-normal
 * caught by: two.locked_by_name_and_unlocked_by_the_other_while_waited_for_by_name/handle-normal two.held_by_name_and_tried/handle-normal
 * caught by: two.relocked/handle-errorcheck two.destroyed_while_held/handle-normal
 * caught by: two_cond.waited_for_by_the_other_and_broadcast_by_name/handle two_cond.waited_for_by_the_other_before/handle
 * caught by: two_cond.waited_for_by_name_before/handle two_cond.signalled_by_both_before_anybody_waits/handle
 * caught by: mutex_timed.free_one_is_got/normal two_cond.waited_for_by_name_and_signalled_by_the_other/handle
 * caught by: two_cond.waited_for_by_name_and_broadcast_by_the_other/handle
 * passes: cond.ring/private mutex.excludes/normal probe.counter_of_4_threads probe.two_readers_at_once probe.try_forms_while_write_held
 */
#include "real.h"
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

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
int pthread_mutex_destroy(pthread_mutex_t *mutex) { return __atomic_load_n(own(mutex), __ATOMIC_SEQ_CST) ? EBUSY : 0; }

static int *own_rw(pthread_rwlock_t *lock) { return (int *)((char *)lock + 16); }

/* Negative while somebody writes. */
static int enter(pthread_rwlock_t *lock, int by) {
    int seen = __atomic_load_n(own_rw(lock), __ATOMIC_SEQ_CST);
    while (by > 0 ? seen >= 0 : seen == 0)
        if (__atomic_compare_exchange_n(own_rw(lock), &seen, seen + by, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 0;
    return EBUSY;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) { return enter(lock, 1); }
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) { return enter(lock, -1); }
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    while (enter(lock, 1) != 0) sched_yield();
    return 0;
}
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    while (enter(lock, -1) != 0) sched_yield();
    return 0;
}
int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    __atomic_add_fetch(own_rw(lock), *own_rw(lock) < 0 ? 1 : -1, __ATOMIC_SEQ_CST);
    return 0;
}

static int *own_cond(pthread_cond_t *cond) { return (int *)((char *)cond + 24); }

/* All waiters look around at each signal. */
int pthread_cond_broadcast(pthread_cond_t *cond) {
    __atomic_add_fetch(own_cond(cond), 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, own_cond(cond), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return 0;
}
int pthread_cond_signal(pthread_cond_t *cond) { return pthread_cond_broadcast(cond); }
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
    int seen = __atomic_load_n(own_cond(cond), __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(mutex);
    while (__atomic_load_n(own_cond(cond), __ATOMIC_SEQ_CST) == seen)
        syscall(SYS_futex, own_cond(cond), FUTEX_WAIT, seen, NULL, NULL, 0);
    return pthread_mutex_lock(mutex);
}
