/* Broken: unlock looks at the mutex again after it is free.
 * caught by: mutex_gone.last_user_unmaps_it_stirred/normal mutex_gone.waiter_unmaps_it/recursive
 * passes: mutex.excludes/normal probe.counter probe.timed_lock
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    static int (*real)(pthread_mutex_t *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    int code = real(mutex);
    /* "Does anybody wait?", asked too late. */
    if (*(volatile int *)mutex == 2) code = 0;
    return code;
}
