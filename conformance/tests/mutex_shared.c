/* Mutexes that two processes share, across fork, in both directions. */
#define GROUP "mutex_shared"
#include "../kinds.h"

static const struct kind SHARED[] = {
    ALL_TYPES("", BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 1),
    ALL_TYPES("robust-", BY_ATTRIBUTES, 1, PTHREAD_PRIO_NONE, 1),
    ALL_TYPES("inherit-", BY_ATTRIBUTES, 0, PTHREAD_PRIO_INHERIT, 1),
};

struct common {
    pthread_mutex_t mutex;
    int ready, inside, left;
    long counter;
};

static struct common *make_common(const struct kind *kind) {
    struct common *common = ANY(struct common, shared_memory(sizeof *common));
    make_mutex(&common->mutex, kind);
    return common;
}

/* One process holds it, the other sees that it is busy, waits and gets it. */
static void hold(struct common *common) {
    GIVES(pthread_mutex_lock(&common->mutex), 0);
    UP(&common->ready);
    AWAIT(READ(&common->left) == 1);
    settle();
    CHECK(!READ(&common->inside), "the other process got in");
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
}

static void want(struct common *common) {
    AWAIT(READ(&common->ready));
    GIVES(pthread_mutex_trylock(&common->mutex), EBUSY);
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    GIVES(pthread_mutex_timedlock(&common->mutex, &soon), ETIMEDOUT);
    soon = in_ms(CLOCK_MONOTONIC, 5);
    GIVES(pthread_mutex_clocklock(&common->mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    UP(&common->left);
    GIVES(pthread_mutex_lock(&common->mutex), 0);
    UP(&common->inside);
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
}

TEST_EACH(parent_holds_child_waits, SHARED) {
    needs_any_clock(&SHARED[row]);
    struct common *common = make_common(&SHARED[row]);
    pid_t child = forked();
    if (child == 0) {
        want(common);
        _exit(0);
    }
    hold(common);
    END_CHILD(child);
    GIVES(pthread_mutex_destroy(&common->mutex), 0);
}

TEST_EACH(child_holds_parent_waits, SHARED) {
    needs_any_clock(&SHARED[row]);
    struct common *common = make_common(&SHARED[row]);
    pid_t child = forked();
    if (child == 0) {
        hold(common);
        _exit(0);
    }
    want(common);
    END_CHILD(child);
    GIVES(pthread_mutex_destroy(&common->mutex), 0);
}

/* The mutex is found at different addresses, as by processes that map the same file. */
TEST_EACH(at_another_address, SHARED) {
    needs_any_clock(&SHARED[row]);
    int file = memfd_create("common", 0);
    SETUP(file >= 0 && ftruncate(file, sizeof(struct common)) == 0);
    void *here = mmap(NULL, sizeof(struct common), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void *there = mmap(NULL, sizeof(struct common), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    SETUP(here != MAP_FAILED && there != MAP_FAILED && here != there);
    struct common *common = ANY(struct common, here);
    make_mutex(&common->mutex, &SHARED[row]);
    pid_t child = forked();
    if (child == 0) {
        want(ANY(struct common, there));
        _exit(0);
    }
    hold(common);
    END_CHILD(child);
}

static void count(struct common *common, int rounds) {
    for (int i = 0; i < rounds; i++) {
        GIVES(pthread_mutex_lock(&common->mutex), 0);
        long seen = common->counter;
        if (i % 32 == 0) sched_yield();
        common->counter = seen + 1;
        GIVES(pthread_mutex_unlock(&common->mutex), 0);
    }
}

TEST_EACH(processes_count_together, SHARED) {
    enum { CHILDREN = 4, ROUNDS = 5000 };
    struct common *common = make_common(&SHARED[row]);
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = forked();
        if (children[i] == 0) {
            count(common, ROUNDS);
            _exit(0);
        }
    }
    count(common, ROUNDS);
    for (int i = 0; i < CHILDREN; i++) END_CHILD(children[i]);
    CHECK(common->counter == (CHILDREN + 1L) * ROUNDS, "counted to %ld, not %ld", common->counter, (CHILDREN + 1L) * ROUNDS);
}

/* The kernel frees what a process that was killed held. */
TEST_EACH(killed_owner, SHARED) {
    struct common *common = make_common(&SHARED[row]);
    if (!SHARED[row].robust) SKIP("not robust");
    pid_t child = forked();
    if (child == 0) {
        GIVES(pthread_mutex_lock(&common->mutex), 0);
        UP(&common->ready);
        for (;;) pause();
    }
    AWAIT(READ(&common->ready));
    GIVES(pthread_mutex_trylock(&common->mutex), EBUSY);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    GIVES(pthread_mutex_lock(&common->mutex), EOWNERDEAD);
    GIVES(pthread_mutex_consistent(&common->mutex), 0);
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
    GIVES(pthread_mutex_lock(&common->mutex), 0);
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
}
