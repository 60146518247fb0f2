/* Broken: a condition variable wakes who came first, whatever the scheduling priorities are. Its waits have no deadline and no cancellation.
 * A broadcast wakes the first waiter, and each that is back wakes the next.
 * caught by: cond_priority.highest_first/signal cond_priority.passes_a_crowd
 * caught by: cond_priority.changes_between_waits fork.sleepers_of_a_condition_variable
 * caught by: cond.broadcast_passes_a_waiter_in_a_handler
 * passes: cond.ring/private probe.ring_of_8_threads mutex.excludes/normal
 */
#include "real.h"
#include <linux/futex.h>
#include <sys/syscall.h>

struct waiter {
    struct waiter *next;
    void *cond;
    int told;
};
static struct waiter *first;
static int passes_on;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static int wake(void *cond, int most) {
    pthread_mutex_lock(&guard);
    for (struct waiter **at = &first; *at && most > 0;) {
        struct waiter *waiter = *at;
        if (waiter->cond != cond) {
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        most--;
        __atomic_store_n(&waiter->told, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &waiter->told, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    pthread_mutex_unlock(&guard);
    return 0;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
    struct waiter self = {NULL, cond, 0}, **end;
    pthread_mutex_lock(&guard);
    for (end = &first; *end; end = &(*end)->next) {
    }
    *end = &self;
    pthread_mutex_unlock(&guard);
    pthread_mutex_unlock(mutex);
    while (!__atomic_load_n(&self.told, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &self.told, FUTEX_WAIT, 0, NULL, NULL, 0);
    pthread_mutex_lock(&guard); /* the one who told is done with it */
    pthread_mutex_unlock(&guard);
    if (__atomic_load_n(&passes_on, __ATOMIC_SEQ_CST)) wake(cond, 1);
    return pthread_mutex_lock(mutex);
}
int pthread_cond_signal(pthread_cond_t *cond) { return wake(cond, 1); }
int pthread_cond_broadcast(pthread_cond_t *cond) {
    __atomic_store_n(&passes_on, 1, __ATOMIC_SEQ_CST);
    return wake(cond, 1);
}
