/* Cancellation of threads that wait for a condition variable. */
#define GROUP "cancel"
#include "../conds.h"

static pthread_mutex_t M;
static pthread_cond_t C;
static int waiting, cleaned, held_by_handler, go, woken;
static pid_t waiter;

struct way {
    const char *name;
    int timed;
    const struct mixture mixture;
};
static const struct way WAYS[] = {
    {"wait", 0, {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0}},
    {"wait-recursive", 0, {"", 0, 0, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0, 0}},
    {"wait-errorcheck", 0, {"", 0, 0, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0, 0}},
    {"wait-shared", 0, {"", 1, 1, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0}},
    {"wait-robust", 0, {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 1, PTHREAD_PRIO_NONE}},
    {"wait-inherit", 0, {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, PTHREAD_PRIO_INHERIT}},
    {"timedwait", 1, {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0}},
    {"clockwait", 2, {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0}},
};
static const struct way *way;

static void make(size_t row) {
    way = &WAYS[row];
    make_both(&C, &M, &way->mixture);
}

static int wait_in_a_way(void) {
    struct timespec later = in_ms(way->timed == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, 3600 * 1000);
    switch (way->timed) {
    case 0: return pthread_cond_wait(&C, &M);
    case 1: return pthread_cond_timedwait(&C, &M, &later);
    default: return pthread_cond_clockwait(&C, &M, CLOCK_MONOTONIC, &later);
    }
}

/* The clean-up handler: the mutex must be held, and by this thread. */
static void clean_up(void *unused) {
    (void)unused;
    held_by_handler = ELSEWHERE(trylock, &M) == EBUSY;
    GIVES(pthread_mutex_unlock(&M), 0);
    ADD(&cleaned, 1);
}

static void *waits(void *type) {
    int old;
    if (type != NULL) GIVES(pthread_setcanceltype(*ANY(int, type), &old), 0);
    GIVES(pthread_mutex_lock(&M), 0);
    pthread_cleanup_push(clean_up, NULL);
    waiter = my_tid();
    UP(&waiting);
    while (!go) GIVES(wait_in_a_way(), 0);
    pthread_cleanup_pop(1);
    return NULL;
}

static void await_wait(void) {
    AWAIT(READ(&waiting));
    GIVES(pthread_mutex_lock(&M), 0); /* free only when the thread waits */
    GIVES(pthread_mutex_unlock(&M), 0);
}

/* A thread of the asynchronous type may be cancelled in the middle of the call, which is no place for that, until it sleeps there. */
static void cancelled_while_waiting(int *type) {
    pthread_t thread = START(waits, type);
    await_wait();
    AWAIT(sleeps(waiter));
    GIVES(pthread_cancel(thread), 0);
    CHECK(END(thread) == PTHREAD_CANCELED, "the thread was not cancelled");
    CHECK(cleaned == 1, "the clean-up handler ran %d times", cleaned);
    CHECK(held_by_handler, "the clean-up handler ran without the mutex");
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
    GIVES(pthread_cond_destroy(&C), 0);
    GIVES(pthread_mutex_destroy(&M), 0);
}

TEST_EACH(ends_a_wait, WAYS) {
    make(row);
    cancelled_while_waiting(NULL);
}

TEST_EACH(ends_a_wait_of_the_asynchronous_type, WAYS) {
    int type = PTHREAD_CANCEL_ASYNCHRONOUS;
    make(row);
    cancelled_while_waiting(&type);
}

/* The mutex is held by another thread when the cancellation comes: the handler waits for it. */
TEST_EACH(handler_waits_for_the_mutex, WAYS) {
    make(row);
    pthread_t thread = START(waits, NULL);
    await_wait();
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_cancel(thread), 0);
    settle();
    CHECK(READ(&cleaned) == 0, "the clean-up handler ran while another thread held the mutex");
    GIVES(pthread_mutex_unlock(&M), 0);
    CHECK(END(thread) == PTHREAD_CANCELED, "the thread was not cancelled");
    CHECK(held_by_handler, "the clean-up handler ran without the mutex");
}

/* Cancelled while that is disabled, enabled, then waits. */
static void *waits_when_cancelled(void *unused) {
    int old;
    (void)unused;
    GIVES(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
    UP(&waiting);
    AWAIT(READ(&go));
    GIVES(pthread_mutex_lock(&M), 0);
    pthread_cleanup_push(clean_up, NULL);
    GIVES(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old), 0); /* no cancellation point by itself */
    wait_in_a_way();
    FAIL("the wait returned, although the thread was cancelled before");
    pthread_cleanup_pop(1);
    return NULL;
}

TEST_EACH(pending_acts_at_entry, WAYS) {
    make(row);
    pthread_t thread = START(waits_when_cancelled, NULL);
    AWAIT(READ(&waiting));
    GIVES(pthread_cancel(thread), 0);
    UP(&go);
    CHECK(END(thread) == PTHREAD_CANCELED, "the thread was not cancelled");
    CHECK(held_by_handler, "the clean-up handler ran without the mutex");
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
    GIVES(pthread_cond_destroy(&C), 0);
}

static void *waits_disabled(void *unused) {
    int old;
    (void)unused;
    GIVES(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&waiting);
    while (!go) GIVES(wait_in_a_way(), 0);
    woken = 1;
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

TEST_EACH(disabled_is_not_minded, WAYS) {
    make(row);
    pthread_t thread = START(waits_disabled, NULL);
    await_wait();
    GIVES(pthread_cancel(thread), 0);
    settle();
    GIVES(pthread_mutex_lock(&M), 0);
    CHECK(!woken, "the wait ended");
    go = 1;
    GIVES(pthread_cond_signal(&C), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    CHECK(END(thread) == NULL, "the thread was cancelled");
    CHECK(woken, "the wait did not end");
}

/* Locks are no cancellation points. */
static void *locks_only(void *unused) {
    (void)unused;
    UP(&waiting);
    for (int i = 0; i < 3; i++) {
        struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
        GIVES(i == 0 ? pthread_mutex_lock(&M) : pthread_mutex_timedlock(&M, &later), 0);
        woken++;
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    pthread_testcancel();
    return NULL;
}

TEST_EACH(mutex_lock_is_no_cancellation_point, WAYS) {
    make(row);
    GIVES(pthread_mutex_lock(&M), 0);
    pthread_t thread = START(locks_only, NULL);
    AWAIT(READ(&waiting));
    GIVES(pthread_cancel(thread), 0);
    settle();
    GIVES(pthread_mutex_unlock(&M), 0);
    CHECK(END(thread) == PTHREAD_CANCELED, "the thread was not cancelled at pthread_testcancel");
    CHECK(woken == 3, "a lock acted as a cancellation point");
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
}

/* Two wait, one is cancelled just as one signal comes. The signal may end either wait, but must not be lost with the cancelled one. */
static int in_wait, came_out; /* guarded by M */

static void release(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_unlock(&M), 0);
}

static void *waits_once(void *unused) {
    int old;
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    pthread_cleanup_push(release, NULL);
    in_wait++;
    GIVES(wait_in_a_way(), 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    came_out++;
    pthread_cleanup_pop(1);
    return NULL;
}

static int read_under_mutex(const int *cell) {
    GIVES(pthread_mutex_lock(&M), 0);
    int seen = *cell;
    GIVES(pthread_mutex_unlock(&M), 0);
    return seen;
}

TEST_EACH(no_signal_is_lost_with_a_cancelled_waiter, WAYS) {
    for (int round = 0; round < 120 && time_left(); round++) {
        make(row);
        in_wait = came_out = 0;
        pthread_t first = START(waits_once, NULL), second = START(waits_once, NULL);
        AWAIT(read_under_mutex(&in_wait) == 2);
        pthread_t victim = round & 1 ? first : second;
        if (round & 2) GIVES(pthread_mutex_lock(&M), 0);
        if (round & 4) GIVES(pthread_cancel(victim), 0);
        GIVES(pthread_cond_signal(&C), 0);
        if (!(round & 4)) GIVES(pthread_cancel(victim), 0);
        if (round & 2) GIVES(pthread_mutex_unlock(&M), 0);
        END(victim);
        AWAIT(read_under_mutex(&came_out) >= 1);
        GIVES(pthread_cond_broadcast(&C), 0);
        END(round & 1 ? second : first);
        GIVES(pthread_cond_destroy(&C), 0);
        GIVES(pthread_mutex_destroy(&M), 0);
    }
}

/* Many are cancelled at once, and those that are not are all woken. */
TEST_EACH(half_of_many, WAYS) {
    enum { THREADS = 12 };
    pthread_t threads[THREADS];
    make(row);
    for (int i = 0; i < THREADS; i++) threads[i] = START(waits_once, NULL);
    AWAIT(read_under_mutex(&in_wait) == THREADS);
    for (int i = 0; i < THREADS; i += 2) GIVES(pthread_cancel(threads[i]), 0);
    for (int i = 0; i < THREADS; i += 2) END(threads[i]);
    GIVES(pthread_cond_broadcast(&C), 0);
    for (int i = 1; i < THREADS; i += 2) END(threads[i]);
    CHECK(came_out >= THREADS / 2, "%d of %d were woken", came_out, THREADS / 2);
    GIVES(pthread_cond_destroy(&C), 0);
    GIVES(pthread_mutex_destroy(&M), 0);
}

/* The thread that is cancelled may end, and be joined by another, while `pthread_cancel` still runs: the call must not touch it any
 * more once it has been asked to end. Its stack is larger than those that are kept for the next thread, and is unmapped. */
static void *waits_for_its_end(void *unused) {
    (void)unused;
    ADD(&waiting, 1);
    for (;;) pause();
    return NULL;
}

static void *joins(void *thread) {
    CHECK(END(*ANY(pthread_t, thread)) == PTHREAD_CANCELED, "the thread was not cancelled");
    return NULL;
}

TEST(joined_before_the_call_returns) {
    pthread_attr_t attributes;
    GIVES(pthread_attr_init(&attributes), 0);
    GIVES(pthread_attr_setstacksize(&attributes, (size_t)64 << 20), 0);
    for (int round = 1; round <= 3000 && time_left(); round++) {
        pthread_t victim, copy;
        GIVES(pthread_create(&victim, &attributes, waits_for_its_end, NULL), 0);
        copy = victim;
        while (READ(&waiting) != round) sched_yield();
        pthread_t joiner = START(joins, &copy);
        sleep_us(50);
        GIVES(pthread_cancel(victim), 0);
        END(joiner);
    }
}
