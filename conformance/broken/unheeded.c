/* Broken: C11's mutexes are locked and unlocked by functions that do nothing, `call_once` calls once in each thread, and
 * whoever finds a static object of a C++ function not yet made makes it.
 * caught by: c11.lock_and_unlock/plain c11.timed/timed c11.excludes/plain c11.signal_and_broadcast/plain-recursive
 * caught by: c11.timed_wait_times_out/plain-recursive c11.call_once_runs_once cpp.local_statics_are_made_once
 * passes: mutex.excludes/normal probe.counter_of_4_threads cpp.mutex
 */
#include "real.h"
#include <threads.h>

int mtx_lock(mtx_t *mutex) {
    (void)mutex;
    return thrd_success;
}
int mtx_unlock(mtx_t *mutex) {
    (void)mutex;
    return thrd_success;
}
void call_once(once_flag *flag, void (*function)(void)) {
    static __thread once_flag *called;
    if (called == flag) return;
    called = flag;
    function();
}
int __cxa_guard_acquire(long long *guard) { return *(volatile char *)guard == 0; }
