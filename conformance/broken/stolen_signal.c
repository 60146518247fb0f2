/* Broken: a condition variable that is a counter of wake-ups: who comes later may take one that was meant for another. Its waits are
 * no cancellation points either, and have no deadline of their own clock.
 * caught by: cond.later_waiter_steals_no_signal/private cancel.ends_a_wait/wait cancel.pending_acts_at_entry/wait
 * caught by: probe.cpp_wait_for_woken_early
 * passes: cond.ring/private probe.ring_of_8_threads mutex.excludes/normal
 */
#include "real.h"
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

struct own {
    int waiters, wakeups;
};

static int take(struct own *own) {
    int seen = __atomic_load_n(&own->wakeups, __ATOMIC_SEQ_CST);
    while (seen > 0)
        if (__atomic_compare_exchange_n(&own->wakeups, &seen, seen - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 1;
    return 0;
}

static int wait(void *cond, pthread_mutex_t *mutex, const struct timespec *deadline) {
    struct own *own = (struct own *)cond;
    int code = 0;
    __atomic_add_fetch(&own->waiters, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(mutex);
    while (!take(own) && code == 0) {
        long done = syscall(SYS_futex, &own->wakeups, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, deadline, NULL, -1);
        if (done != 0 && errno == ETIMEDOUT) code = ETIMEDOUT;
    }
    __atomic_sub_fetch(&own->waiters, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(mutex);
    return code;
}

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes) {
    (void)attributes;
    memset(cond, 0, sizeof *cond);
    return 0;
}
int pthread_cond_destroy(pthread_cond_t *cond) {
    (void)cond;
    return 0;
}
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) { return wait(cond, mutex, NULL); }
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline) {
    return wait(cond, mutex, deadline);
}
int pthread_cond_signal(pthread_cond_t *cond) {
    struct own *own = (struct own *)cond;
    if (__atomic_load_n(&own->waiters, __ATOMIC_SEQ_CST) > __atomic_load_n(&own->wakeups, __ATOMIC_SEQ_CST)) {
        __atomic_add_fetch(&own->wakeups, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &own->wakeups, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    return 0;
}
int pthread_cond_broadcast(pthread_cond_t *cond) {
    struct own *own = (struct own *)cond;
    __atomic_store_n(&own->wakeups, __atomic_load_n(&own->waiters, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &own->wakeups, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return 0;
}
