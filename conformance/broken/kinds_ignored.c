/* Broken: every mutex that is made by attributes is a normal one.
 * caught by: probe.recursive probe.error_checking mutex.lock_by_the_owner/recursive mutex.lock_by_the_owner/errorcheck
 * caught by: mutex.unlock_elsewhere/errorcheck cond.errorcheck_not_owned c11.lock_by_the_owner/plain-recursive
 * passes: mutex.lock_by_the_owner/static-recursive mutex.lock_by_the_owner/normal probe.process_shared
 */
#include "real.h"
#include <threads.h>

int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int type) {
    REAL(pthread_mutexattr_settype, pthread_mutexattr_t *, int);
    return real(attributes, type >= 0 && type <= 3 ? PTHREAD_MUTEX_NORMAL : type);
}
int mtx_init(mtx_t *mutex, int type) {
    (void)type;
    return pthread_mutex_init((pthread_mutex_t *)mutex, NULL) == 0 ? thrd_success : thrd_error;
}
