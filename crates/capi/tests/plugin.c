/* A plugin that uses the library, for plugin_host.c. */
#include <stanchion_family.h>

static stanchion_mutex_t mutex = STANCHION_MUTEX_INIT;
static stanchion_pv_qspin_t queued;
static stanchion_rwlock_t rwlock = STANCHION_RWLOCK_INIT;
static long done;

long plugin_work(long times);

/* How often all threads together have been here with it. */
long plugin_work(long times) {
    long now = 0;
    for (long i = 0; i < times; i++) {
        stanchion_mutex_lock(&mutex);
        now = ++done;
        stanchion_mutex_unlock(&mutex);
        stanchion_pv_qspin_lock(&queued);
        stanchion_pv_qspin_unlock(&queued);
        stanchion_rwlock_rdlock(&rwlock);
        stanchion_rwlock_rdunlock(&rwlock);
    }
    return now;
}
