/* A table that many threads read and one changes, behind a per-CPU lock of a class of its own; and what a counted mutex tells. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <stanchion.h>

enum { READERS = 8, LOOKUPS = 10000, CHANGES = 50, ENTRIES = 16 };

static stanchion_class_t tables = STANCHION_CLASS_INIT;
static stanchion_percpu_rwlock_t lock = STANCHION_PERCPU_RWLOCK_INIT_IN(&tables);
static int routes[ENTRIES];

static stanchion_counted_mutex_t counted = STANCHION_COUNTED_MUTEX_INIT;
static long torn;

/* All entries are the same, unless somebody sees the middle of a change. */
static void *look_up(void *unused) {
    (void)unused;
    for (int round = 0; round < LOOKUPS; round++) {
        stanchion_percpu_rwlock_rdlock(&lock);
        const int differs = routes[round % ENTRIES] != routes[0];
        stanchion_percpu_rwlock_rdunlock(&lock);
        if (differs) {
            stanchion_counted_mutex_lock(&counted);
            torn++;
            stanchion_counted_mutex_unlock(&counted);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t readers[READERS];
    for (int at = 0; at < READERS; at++) {
        if (pthread_create(&readers[at], NULL, look_up, NULL) != 0) {
            perror("pthread_create");
            return 1;
        }
    }
    for (int change = 1; change <= CHANGES; change++) {
        stanchion_percpu_rwlock_wrlock(&lock);
        for (int at = 0; at < ENTRIES; at++) {
            routes[at] = change;
        }
        stanchion_percpu_rwlock_wrunlock(&lock);
    }
    for (int at = 0; at < READERS; at++) {
        pthread_join(readers[at], NULL);
    }
    printf("the last change is %d, and %ld lookups saw a change half done\n", routes[ENTRIES - 1], torn);

    uint64_t queued = 0;
    const int error = stanchion_event_read("lock_slowpath", &queued);
    printf("lock_slowpath: error %d, %" PRIu64 " times\n", error, queued);
    return 0;
}
