/* A library that holds its mutex across forks, as allocators do. Its handlers are registered in its constructor, before those of a
 * program and, perhaps, of a library that is preloaded. Linked by the tests of late.c. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t locks_at_fork_mutex = PTHREAD_MUTEX_INITIALIZER;

static void before(void) {
    struct timespec while_others_come = {0, 3000000};
    pthread_mutex_lock(&locks_at_fork_mutex);
    nanosleep(&while_others_come, NULL);
}
static void in_parent(void) { pthread_mutex_unlock(&locks_at_fork_mutex); }
/* Those who waited are not in the child. */
static void in_child(void) {
    static const char complaint[] = "FAIL locks_at_fork.c: a mutex does not work in an atfork handler of the child\n";
    if (pthread_mutex_unlock(&locks_at_fork_mutex) == 0 && pthread_mutex_lock(&locks_at_fork_mutex) == 0 &&
        pthread_mutex_unlock(&locks_at_fork_mutex) == 0)
        return;
    (void)!write(2, complaint, sizeof complaint - 1);
    _exit(1);
}

__attribute__((constructor)) static void first(void) { pthread_atfork(before, in_parent, in_child); }
