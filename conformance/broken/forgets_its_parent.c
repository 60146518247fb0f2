/* Broken: a mutex of the kinds that know no owner remembers the process that has locked it, and a child may not unlock what was locked
 * before the fork.
 * caught by: fork.locks_held_across_fork/normal fork.rwlock_held_across_fork fork.contended_before_fork fork.waiters_stay_with_the_parent
 * caught by: fork.sleepers_of_a_mutex/static-adaptive fork.sleepers_of_a_condition_variable fork.fork_from_another_thread
 * caught by: fork.fork_and_exec fork.generations late.fork_handler_of_a_linked_library
 * passes: mutex.excludes/normal mutex.excludes/recursive cond.ring/private cond_uses.not_in_a_child
 */
#include "real.h"

/* In bytes that libc uses for robust mutexes only. */
static int *locker(pthread_mutex_t *mutex) { return (int *)((char *)mutex + 36); }
static int has_no_owner(pthread_mutex_t *mutex) {
    int kind = mutex->__data.__kind & 127;
    return kind == PTHREAD_MUTEX_NORMAL || kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    int code = real(mutex);
    if (code == 0 && has_no_owner(mutex)) *locker(mutex) = getpid();
    return code;
}
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_unlock, pthread_mutex_t *);
    if (has_no_owner(mutex)) {
        if (*locker(mutex) != 0 && *locker(mutex) != getpid()) return EPERM;
        *locker(mutex) = 0;
    }
    return real(mutex);
}
