/* Broken: it is not there at odd moments: while a library is opened, when the data of a thread are destroyed, and when the program's
 * destructors run, or what `exit` calls. Whoever locks then gets an error, and a broadcast wakes nobody.
 * caught by: early.lock_in_a_thread_destructor early.destructor_of_a_linked_library early.lock_in_an_atexit_function
 * caught by: early.exit_while_a_thread_waits early.exec_while_threads_wait early.opened_library
 * caught by: early.opened_by_many_threads cpp.notify_all_at_thread_exit
 * passes: mutex.excludes/normal cond.ring/private probe.threads_2500_one_after_another
 */
#include "real.h"
#include <stdlib.h>

static int over, opens;
static __thread int is_gone;
static pthread_key_t key;

static void go(void *unused) {
    (void)unused;
    is_gone = 1;
}
__attribute__((constructor)) static void begin(void) { pthread_key_create(&key, go); }
__attribute__((destructor)) static void end(void) { over = 1; }

void exit(int code) {
    void (*real)(int);
    *(void **)&real = dlsym(RTLD_NEXT, "exit");
    over = 1;
    real(code);
    abort();
}
void *dlopen(const char *path, int how) {
    void *(*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    __atomic_add_fetch(&opens, 1, __ATOMIC_SEQ_CST);
    void *library = real(path, how);
    __atomic_add_fetch(&opens, -1, __ATOMIC_SEQ_CST);
    return library;
}
static int is_away(void) { return over || is_gone || __atomic_load_n(&opens, __ATOMIC_SEQ_CST) > 0; }

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    if (is_away()) return EINVAL;
    pthread_setspecific(key, &key);
    return real(mutex);
}
int pthread_cond_broadcast(pthread_cond_t *cond) {
    REAL(pthread_cond_broadcast, pthread_cond_t *);
    return is_away() ? EINVAL : real(cond);
}
