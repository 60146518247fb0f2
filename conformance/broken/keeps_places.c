/* Broken: a mutex has room for eight who wait, and who has waited keeps the place: who comes later gets an error.
 * caught by: mutex.waiters_come_and_go/normal mutex_waits.a_deadline_among_busy_threads_suffices cpp.condition_variable_any
 * caught by: cpp.condition_variable cpp.condition_variable_any_of_a_recursive_mutex cpp.condition_variable_any_of_a_shared_mutex
 * caught by: cpp.condition_variable_any_of_a_timed_mutex
 * passes: mutex.lock_elsewhere_waits/normal mutex.lock_unlock_again/normal probe.recursive
 */
#include "real.h"

/* In bytes that libc uses for robust mutexes only. */
static int *places(pthread_mutex_t *mutex) { return (int *)((char *)mutex + 36); }

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    int code = pthread_mutex_trylock(mutex);
    if (code != EBUSY) return code;
    return __atomic_fetch_add(places(mutex), 1, __ATOMIC_RELAXED) < 8 ? real(mutex) : EAGAIN;
}
