/* A library that is opened and closed at run time: its locks go with it, and come back zeroed at any address. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int go, code_of_constructor;

static void *gives_go(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&cond);
    return NULL;
}

int opened_uses_locks(void) {
    pthread_t thread;
    if (code_of_constructor != 0) return code_of_constructor;
    if (pthread_mutex_lock(&mutex) != 0) return 1;
    go = 0;
    if (pthread_create(&thread, NULL, gives_go, NULL) != 0) return 2;
    while (!go)
        if (pthread_cond_wait(&cond, &mutex) != 0) return 3;
    if (pthread_mutex_unlock(&mutex) != 0 || pthread_join(thread, NULL) != 0) return 4;
    if (pthread_mutex_lock(&checking) != 0 || pthread_mutex_unlock(&checking) != 0) return 5;
    return 0;
}

__attribute__((constructor)) static void first(void) { code_of_constructor = opened_uses_locks(); }
__attribute__((destructor)) static void last(void) {
    static const char complaint[] = "FAIL opened.c: locks do not work in the destructor of a library that is closed\n";
    if (opened_uses_locks() == 0) return;
    (void)!write(2, complaint, sizeof complaint - 1);
    _exit(1);
}
