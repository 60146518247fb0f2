/* Broken: whoever waits for a condition holds up libc's functions there, nobody looks whether one came, and it stays so when nobody waits any more.
 * caught by: two_cond.signalled_and_destroyed_by_the_other_after_waits_by_name/handle
 * caught by: two_cond.waited_for_by_name_until_a_time_and_signalled_by_the_other/handle
 * caught by: two_cond.signalled_by_the_other_while_others_come_and_go/handle two_cond.signalled_by_the_other_while_interrupted/handle
 * caught by: two_cond.destroyed_by_the_other_as_timed_waits_by_name_end/handle
 * caught by: cond_gone.unmapped_long_before_the_mutex_is_released/private
 * passes: cond.ring/private probe.counter_of_4_threads
 */
#include "real.h"

static unsigned *words_of(pthread_cond_t *cond) { return (unsigned *)cond; }

/* Lock and count of libc's, where the versions have them, and a count of signals where none has one. */
enum { LOCK = 6, WAITERS = 7, EARLIER_LOCK = 8, EARLIER_WAITERS = 9, SIGNALS = 5, MONOTONIC = 2 };

int pthread_cond_broadcast(pthread_cond_t *cond) {
    __atomic_add_fetch(words_of(cond) + SIGNALS, 1, __ATOMIC_SEQ_CST);
    return 0;
}
int pthread_cond_signal(pthread_cond_t *cond) { return pthread_cond_broadcast(cond); }
int pthread_cond_destroy(pthread_cond_t *cond) {
    (void)cond;
    return 0;
}

static int wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end) {
    unsigned *words = words_of(cond), seen = __atomic_load_n(words + SIGNALS, __ATOMIC_SEQ_CST);
    clockid_t clock = ((words[WAITERS] | words[EARLIER_WAITERS]) & MONOTONIC) ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    int is_over = 0;
    words[LOCK] = words[EARLIER_LOCK] = 1;
    words[WAITERS] |= 8;
    words[EARLIER_WAITERS] |= 8;
    pthread_mutex_unlock(mutex);
    while (__atomic_load_n(words + SIGNALS, __ATOMIC_SEQ_CST) == seen && !is_over) {
        struct timespec now;
        usleep(200);
        clock_gettime(clock, &now);
        is_over = end && (now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec));
    }
    pthread_mutex_lock(mutex);
    return is_over ? ETIMEDOUT : 0;
}
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) { return wait_until(cond, mutex, NULL); }
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end) { return wait_until(cond, mutex, end); }
