/* POSIX: a condition variable may be destroyed, and its memory given back, right after a broadcast that woke all its waiters, even
 * while these have not returned from their wait. And condition variables that processes share. */
#define GROUP "cond_gone"
#include "../conds.h"
#include "../stir.h"

enum { WAITERS = 5, ROUNDS = 150, LAST = 1000000 };

static pthread_mutex_t M;
static struct page {
    pthread_cond_t cond;
    int go;
} *page;
static int waiting, stirred, round_now, timed; /* but for `stirred` and `timed` guarded by M */
static int left;

static void *waits(void *unused) {
    (void)unused;
    if (stirred) stir();
    for (int round = 1;; round++) {
        while (READ(&round_now) != round && READ(&round_now) != LAST) sched_yield();
        if (READ(&round_now) == LAST) return NULL;
        GIVES(pthread_mutex_lock(&M), 0);
        struct page *mine = page;
        struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
        waiting++;
        while (page == mine) { /* woken for nothing: allowed */
            if (timed) GIVES(pthread_cond_timedwait(&mine->cond, &M, &later), 0);
            else GIVES(pthread_cond_wait(&mine->cond, &M), 0);
        }
        GIVES(pthread_mutex_unlock(&M), 0);
        ADD(&left, 1);
    }
}

static int waiting_is(int number) {
    GIVES(pthread_mutex_lock(&M), 0);
    int is = waiting == number;
    GIVES(pthread_mutex_unlock(&M), 0);
    return is;
}
static int all_wait(void) { return waiting_is(WAITERS); }

static void unmap_after_broadcast(const struct mixture *mixture, int destroy_while_held) {
    pthread_t threads[WAITERS];
    struct page *mine = ANY(struct page, own_page());
    make_both(&mine->cond, &M, mixture);
    give_back(mine);
    for (int i = 0; i < WAITERS; i++) threads[i] = START(waits, NULL);
    for (int round = 1; round <= ROUNDS && time_left(); round++) {
        GIVES(pthread_mutex_lock(&M), 0);
        mine = ANY(struct page, own_page());
        make_cond(&mine->cond, mixture);
        page = mine;
        waiting = 0;
        PUT(&left, 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        PUT(&round_now, round);
        while (!all_wait()) sched_yield();
        GIVES(pthread_mutex_lock(&M), 0);
        page = NULL;
        GIVES(pthread_cond_broadcast(&mine->cond), 0);
        if (!destroy_while_held) GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(pthread_cond_destroy(&mine->cond), 0);
        give_back(mine);
        if (destroy_while_held) GIVES(pthread_mutex_unlock(&M), 0);
        AWAIT(READ(&left) == WAITERS);
    }
    PUT(&round_now, LAST);
    for (int i = 0; i < WAITERS; i++) END(threads[i]);
}

TEST_EACH(unmapped_after_broadcast, MIXTURES) { unmap_after_broadcast(&MIXTURES[row], 0); }
TEST_EACH(unmapped_after_broadcast_stirred, MIXTURES) {
    stirred = 1;
    unmap_after_broadcast(&MIXTURES[row], 0);
}
TEST_EACH(unmapped_while_the_mutex_is_held, MIXTURES) { unmap_after_broadcast(&MIXTURES[row], 1); }
TEST_EACH(timed_and_unmapped_after_broadcast, MIXTURES) {
    timed = stirred = 1;
    unmap_after_broadcast(&MIXTURES[row], 0);
}

/* The waiter gets the mutex long after the condition variable has gone. A library whose waiters look at it now and then must know that. */
TEST_EACH(unmapped_long_before_the_mutex_is_released, MIXTURES) {
    struct page *mine = ANY(struct page, own_page());
    make_both(&mine->cond, &M, &MIXTURES[row]);
    page = mine;
    pthread_t one = START(waits, NULL);
    PUT(&round_now, 1);
    AWAIT(waiting_is(1));
    GIVES(pthread_mutex_lock(&M), 0);
    page = NULL;
    GIVES(pthread_cond_broadcast(&mine->cond), 0);
    GIVES(pthread_cond_destroy(&mine->cond), 0);
    give_back(mine);
    usleep(1500000);
    GIVES(pthread_mutex_unlock(&M), 0);
    PUT(&round_now, LAST);
    END(one);
}

/* Destroyed and made again in the same place, many times: nothing of the old one is left. */
static int served;

static void *waits_for_go(void *argument) {
    struct page *mine = ANY(struct page, argument);
    GIVES(pthread_mutex_lock(&M), 0);
    waiting++;
    while (!mine->go) GIVES(pthread_cond_wait(&mine->cond, &M), 0);
    served++;
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

TEST_EACH(made_again_in_the_same_place, MIXTURES) {
    struct page *mine = ANY(struct page, own_page());
    make_both(&mine->cond, &M, &MIXTURES[row]);
    for (int round = 1; round <= 50 && time_left(); round++) {
        pthread_t threads[WAITERS];
        make_cond(&mine->cond, &MIXTURES[row]);
        waiting = served = mine->go = 0;
        for (int i = 0; i < WAITERS; i++) threads[i] = START(waits_for_go, mine);
        while (!all_wait()) sched_yield();
        GIVES(pthread_mutex_lock(&M), 0);
        mine->go = 1;
        GIVES(pthread_cond_broadcast(&mine->cond), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        for (int i = 0; i < WAITERS; i++) END(threads[i]);
        CHECK(served == WAITERS, "%d of %d were woken", served, WAITERS);
        GIVES(pthread_cond_destroy(&mine->cond), 0);
    }
}
