/* Threads that count together: a mutex in static storage, and a checked one that tells misuse. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <stanchion.h>

enum { THREADS = 64, ROUNDS = 1000 };

static stanchion_mutex_t mutex = STANCHION_MUTEX_INIT;
static long hits;

static void *count(void *unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        stanchion_mutex_lock(&mutex);
        hits++;
        stanchion_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int at = 0; at < THREADS; at++) {
        if (pthread_create(&threads[at], NULL, count, NULL) != 0) {
            perror("pthread_create");
            return 1;
        }
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
    }
    printf("%d threads counted to %ld with a mutex of %zu bytes\n", THREADS, hits, sizeof mutex);

    static stanchion_checked_mutex_t checked = STANCHION_CHECKED_MUTEX_INIT;
    stanchion_checked_mutex_lock(&checked);
    printf("locked twice: %s\n", stanchion_checked_mutex_lock(&checked) == EDEADLK ? "EDEADLK" : "?");
    stanchion_checked_mutex_unlock(&checked);
    printf("unlocked twice: %s\n", stanchion_checked_mutex_unlock(&checked) == EPERM ? "EPERM" : "?");
    return 0;
}
