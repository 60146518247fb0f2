/* Broken: a thread has one node for all queues, and who has none in a queue may not unlock: neither the first of two mutexes that a
 * thread holds, nor one that another thread has locked, or nobody.
 * caught by: cancel_cpp.exceptions_pass_by sloppy.unlock_of_a_free_one/normal sloppy.unlocks_too_many_between_crowds/normal
 * caught by: sloppy.unlocked_twice_before_a_waiter/normal sloppy.signal_while_another_unlocks/normal
 * caught by: mutex_special.attributes_serve_many_mutexes
 * passes: mutex.excludes/normal cond.ring/private probe.counter_of_4_threads probe.ring_of_8_threads
 */
#include "real.h"

static __thread pthread_mutex_t *queue;

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    int code = real(mutex);
    if (code == 0) queue = mutex;
    return code;
}
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_unlock, pthread_mutex_t *);
    if (queue != mutex) return EPERM;
    queue = NULL;
    return real(mutex);
}
