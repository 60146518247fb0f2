/* Broken: who waits for a reader-writer lock waits in line, readers behind writers; who finds it free goes first.
 * caught by: rwlock_beside.behind_a_writer/default rwlock_beside.behind_a_writer/prefer-writer-nonrecursive
 * caught by: fork.sleepers_of_a_rwlock/default/held-by-a-reader
 * passes: rwlock.read_and_write_in_turn/default rwlock_beside.past_a_writer/default
 */
#include "real.h"

static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;

static int in_line(int (*attempt)(pthread_rwlock_t *), pthread_rwlock_t *lock) {
    struct timespec little = {0, 100000};
    int code = attempt(lock);
    if (code != EBUSY) return code;
    pthread_mutex_lock(&line);
    while ((code = attempt(lock)) == EBUSY) nanosleep(&little, NULL);
    pthread_mutex_unlock(&line);
    return code;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) { return in_line(pthread_rwlock_tryrdlock, lock); }
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return in_line(pthread_rwlock_trywrlock, lock); }
