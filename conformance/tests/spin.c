/* Spin locks, private and shared between processes. */
#define GROUP "spin"
#include "../check.h"

static const struct {
    const char *name;
    int shared;
} SPINS[] = {{"private", PTHREAD_PROCESS_PRIVATE}, {"shared", PTHREAD_PROCESS_SHARED}};

struct common {
    pthread_spinlock_t lock;
    int about_to, inside;
    long counter;
};

static struct common *make(size_t row) {
    struct common *common = ANY(struct common, shared_memory(sizeof *common));
    GIVES(pthread_spin_init(&common->lock, SPINS[row].shared), 0);
    return common;
}

static int trylock(void *lock) { return pthread_spin_trylock(ANY(pthread_spinlock_t, lock)); }
static int unlock(void *lock) { return pthread_spin_unlock(ANY(pthread_spinlock_t, lock)); }

TEST_EACH(lock_trylock_unlock, SPINS) {
    struct common *common = make(row);
    for (int i = 0; i < 3; i++) {
        GIVES(pthread_spin_lock(&common->lock), 0);
        GIVES(pthread_spin_trylock(&common->lock), EBUSY);
        GIVES(ELSEWHERE(trylock, (void *)&common->lock), EBUSY);
        GIVES(pthread_spin_unlock(&common->lock), 0);
        GIVES(pthread_spin_trylock(&common->lock), 0);
        GIVES(ELSEWHERE(trylock, (void *)&common->lock), EBUSY);
        GIVES(ELSEWHERE(unlock, (void *)&common->lock), 0);
    }
    GIVES(pthread_spin_destroy(&common->lock), 0);
}

/* POSIX has no static initialiser for spin locks; programs zero them, set them to 1 never. glibc's free lock is 0. */
TEST(init_of_dirty_memory) {
    pthread_spinlock_t lock;
    memset((void *)&lock, 0x5a, sizeof lock);
    GIVES(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
    GIVES(pthread_spin_trylock(&lock), 0);
    GIVES(pthread_spin_trylock(&lock), EBUSY);
    GIVES(pthread_spin_unlock(&lock), 0);
}

static void *enters(void *argument) {
    struct common *common = ANY(struct common, argument);
    UP(&common->about_to);
    GIVES(pthread_spin_lock(&common->lock), 0);
    UP(&common->inside);
    GIVES(pthread_spin_unlock(&common->lock), 0);
    return NULL;
}

TEST_EACH(lock_elsewhere_waits, SPINS) {
    struct common *common = make(row);
    GIVES(pthread_spin_lock(&common->lock), 0);
    pthread_t other = START(enters, common);
    AWAIT(READ(&common->about_to));
    settle();
    CHECK(!READ(&common->inside), "another thread got in");
    GIVES(pthread_spin_unlock(&common->lock), 0);
    END(other);
}

static void *counts(void *argument) {
    struct common *common = ANY(struct common, argument);
    for (int i = 0; i < 10000; i++) {
        GIVES(pthread_spin_lock(&common->lock), 0);
        long seen = common->counter;
        if (i % 1000 == 0) sched_yield();
        common->counter = seen + 1;
        GIVES(pthread_spin_unlock(&common->lock), 0);
    }
    return NULL;
}

TEST_EACH(excludes, SPINS) {
    pthread_t threads[4];
    struct common *common = make(row);
    for (int i = 0; i < 4; i++) threads[i] = START(counts, common);
    for (int i = 0; i < 4; i++) END(threads[i]);
    CHECK(common->counter == 40000, "counted to %ld, not 40000", common->counter);
}

TEST(processes_exclude) {
    struct common *common = make(1);
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = forked();
        if (children[i] == 0) {
            counts(common);
            _exit(0);
        }
    }
    counts(common);
    for (int i = 0; i < 3; i++) END_CHILD(children[i]);
    CHECK(common->counter == 40000, "counted to %ld, not 40000", common->counter);
}

static void hold(struct common *common) {
    GIVES(pthread_spin_lock(&common->lock), 0);
    UP(&common->inside);
    AWAIT(READ(&common->about_to));
    GIVES(pthread_spin_unlock(&common->lock), 0);
}

static void want(struct common *common) {
    AWAIT(READ(&common->inside));
    GIVES(pthread_spin_trylock(&common->lock), EBUSY);
    UP(&common->about_to);
    GIVES(pthread_spin_lock(&common->lock), 0);
    GIVES(pthread_spin_unlock(&common->lock), 0);
}

static const struct {
    const char *name;
    int child_holds;
} DIRECTIONS[] = {{"child-waits", 0}, {"parent-waits", 1}};

TEST_EACH(processes_wait, DIRECTIONS) {
    struct common *common = make(1);
    pid_t child = forked();
    if ((child == 0) == DIRECTIONS[row].child_holds) hold(common);
    else want(common);
    if (child == 0) _exit(0);
    END_CHILD(child);
}
