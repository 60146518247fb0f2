/* Broken: a thread that was cancelled once does not wait any more, neither in its clean-up handlers nor in its destructors.
 * caught by: cancelled.timed_wait_lasts/handler-after-a-pause cancelled.timed_wait_lasts/destructor-after-a-wait
 * caught by: cancelled.wait_lasts_until_it_is_signalled/again-in-handler
 * passes: cancel.ends_a_wait/wait cancel.pending_acts_at_entry/wait cancel.half_of_many/wait cond.ring/private
 */
#include "real.h"

/* One is enough for the tests that catch it. */
static pthread_t cancelled;
static int any;

int pthread_cancel(pthread_t thread) {
    REAL(pthread_cancel, pthread_t);
    cancelled = thread;
    __atomic_store_n(&any, 1, __ATOMIC_SEQ_CST);
    return real(thread);
}

static int is_cancelled(void) {
    if (!__atomic_load_n(&any, __ATOMIC_SEQ_CST) || !pthread_equal(cancelled, pthread_self())) return 0;
    pthread_testcancel();
    return 1;
}

static int lets_go(pthread_mutex_t *mutex) {
    int code = pthread_mutex_unlock(mutex);
    sched_yield();
    return code != 0 ? code : pthread_mutex_lock(mutex);
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
    REAL(pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *);
    return is_cancelled() ? lets_go(mutex) : real(cond, mutex);
}
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline) {
    REAL(pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    return is_cancelled() ? lets_go(mutex) : real(cond, mutex, deadline);
}
