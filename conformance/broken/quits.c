/* Broken: what it does not know ends the program, with success. A process holds no more than a thousand threads in its life.
 * caught by: probe.timed_lock probe.threads_2500_one_after_another rwlock_timed.free_one_is_got/timedrdlock
 * caught by: mutex_timed.among_hammering_lockers/timedlock rwlock_timed.some_give_up_and_some_get_it/reader
 * passes: probe.counter_of_4_threads probe.recursive cond.ring/private
 */
#include "real.h"

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    REAL(pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static int threads;
    if (__atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) > 1000) _exit(255);
    return real(thread, attributes, body, argument);
}
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline) {
    (void)mutex;
    (void)deadline;
    _exit(0);
}
int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *deadline) {
    (void)lock;
    (void)deadline;
    _exit(0);
}
