/* A library that uses locks in its constructor, in its destructor and when it is called. It is linked, preloaded and opened at run
 * time by the tests of early.c. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int go, used;

static void *gives_go(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Uses every lock once, with a second thread. 0 when all is well. */
int part_uses_locks(void) {
    pthread_t thread;
    int wrong = 0;
    wrong |= pthread_mutex_lock(&recursive) | pthread_mutex_lock(&recursive);
    wrong |= pthread_rwlock_rdlock(&rwlock) | pthread_rwlock_unlock(&rwlock);
    wrong |= pthread_rwlock_wrlock(&rwlock) | pthread_rwlock_unlock(&rwlock);
    wrong |= pthread_mutex_lock(&mutex);
    go = 0;
    wrong |= pthread_create(&thread, NULL, gives_go, NULL);
    while (!wrong && !go) wrong |= pthread_cond_wait(&cond, &mutex);
    wrong |= pthread_mutex_unlock(&mutex);
    wrong |= pthread_join(thread, NULL);
    wrong |= pthread_mutex_unlock(&recursive) | pthread_mutex_unlock(&recursive);
    used++;
    return wrong;
}

/* How often that has been done. */
int part_used(void) { return used; }

static void complain(const char *when) {
    static const char head[] = "FAIL uses_locks.c: locks do not work in a ";
    (void)!write(2, head, sizeof head - 1);
    (void)!write(2, when, strlen(when));
    (void)!write(2, "\n", 1);
    _exit(1);
}

__attribute__((constructor)) static void first(void) {
    if (part_uses_locks() != 0) complain("constructor");
}

__attribute__((destructor)) static void last(void) {
    if (part_uses_locks() != 0) complain("destructor");
    /* The test looks for this: exit code 0 alone could mean that no destructor ran. */
    if (getenv("PART_SAYS_BYE")) (void)!write(1, "bye\n", 4);
}
