/* A library whose constructor waits for a thread that uses a condition variable. The dynamic loader is in the middle of its work then,
 * and that thread must not need it. Opened by the tests of late.c, which use none before. */
#include <pthread.h>
#include <stddef.h>

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
int first_cond_code = -1;

static void *signals(void *unused) {
    (void)unused;
    first_cond_code = pthread_cond_signal(&cond);
    return NULL;
}

__attribute__((constructor)) static void first(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, signals, NULL) == 0) pthread_join(thread, NULL);
}
