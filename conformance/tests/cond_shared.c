/* Condition variables and mutexes that processes share, across fork. */
#define GROUP "cond_shared"
#include "../conds.h"

static const struct mixture SHARED[] = {
    {"normal", 1, 1, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0},
    {"recursive", 1, 1, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0, 0},
    {"errorcheck", 1, 1, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0, 0},
    {"monotonic", 1, 1, PTHREAD_MUTEX_NORMAL, 1, 0, 0, 0},
};

struct common {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int waiting, go, turn, served;
};

static struct common *make_common(size_t row) {
    struct common *common = ANY(struct common, shared_memory(sizeof *common));
    make_both(&common->cond, &common->mutex, &SHARED[row]);
    return common;
}

static void wait_for_go(struct common *common) {
    GIVES(pthread_mutex_lock(&common->mutex), 0);
    common->waiting++;
    while (!common->go) GIVES(pthread_cond_wait(&common->cond, &common->mutex), 0);
    common->served++;
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
}

static int waiting_in(struct common *common) {
    GIVES(pthread_mutex_lock(&common->mutex), 0);
    int seen = common->waiting;
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
    return seen;
}

static void give_go(struct common *common, int all) {
    AWAIT(waiting_in(common) >= (all ? 3 : 1));
    GIVES(pthread_mutex_lock(&common->mutex), 0);
    common->go = 1;
    GIVES(all ? pthread_cond_broadcast(&common->cond) : pthread_cond_signal(&common->cond), 0);
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
}

TEST_EACH(parent_signals_child, SHARED) {
    struct common *common = make_common(row);
    pid_t child = forked();
    if (child == 0) {
        wait_for_go(common);
        _exit(0);
    }
    give_go(common, 0);
    END_CHILD(child);
    GIVES(pthread_cond_destroy(&common->cond), 0);
}

TEST_EACH(child_signals_parent, SHARED) {
    struct common *common = make_common(row);
    pid_t child = forked();
    if (child == 0) {
        give_go(common, 0);
        _exit(0);
    }
    wait_for_go(common);
    END_CHILD(child);
    GIVES(pthread_cond_destroy(&common->cond), 0);
}

TEST_EACH(broadcast_reaches_all_processes, SHARED) {
    struct common *common = make_common(row);
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = forked();
        if (children[i] == 0) {
            wait_for_go(common);
            _exit(0);
        }
    }
    give_go(common, 1);
    for (int i = 0; i < 3; i++) END_CHILD(children[i]);
    CHECK(common->served == 3, "%d of 3 were woken", common->served);
}

static void play(struct common *common, int me) {
    for (int i = 0; i < 500; i++) {
        GIVES(pthread_mutex_lock(&common->mutex), 0);
        while (common->turn != me) GIVES(pthread_cond_wait(&common->cond, &common->mutex), 0);
        common->turn = !me;
        GIVES(pthread_cond_signal(&common->cond), 0);
        GIVES(pthread_mutex_unlock(&common->mutex), 0);
    }
}

TEST_EACH(ping_pong, SHARED) {
    struct common *common = make_common(row);
    pid_t child = forked();
    play(common, child == 0);
    if (child == 0) _exit(0);
    END_CHILD(child);
}

TEST_EACH(timed_out_in_one_process, SHARED) {
    struct common *common = make_common(row);
    clockid_t clock = clock_of(&SHARED[row]);
    pid_t child = forked();
    if (child == 0) {
        struct timespec soon = in_ms(clock, 10);
        GIVES(pthread_mutex_lock(&common->mutex), 0);
        int code;
        do code = pthread_cond_timedwait(&common->cond, &common->mutex, &soon);
        while (code == 0 && !reached(clock, &soon));
        GIVES(code, ETIMEDOUT);
        GIVES(ELSEWHERE(trylock, &common->mutex), EBUSY);
        GIVES(pthread_mutex_unlock(&common->mutex), 0);
        _exit(0);
    }
    END_CHILD(child);
    GIVES(pthread_mutex_trylock(&common->mutex), 0);
    GIVES(pthread_mutex_unlock(&common->mutex), 0);
    GIVES(pthread_cond_destroy(&common->cond), 0);
}
