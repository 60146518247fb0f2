/* A mutex with which somebody waits for a condition is in use, though nobody holds it: destroying it gives EBUSY, and changes nothing. */
#define GROUP "cond_uses"
#include "../conds.h"

static pthread_mutex_t M;
static pthread_cond_t C;
static int waiting, go; /* guarded by M */

static void unlocks(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_unlock(&M), 0);
}

static void *waits(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    pthread_cleanup_push(unlocks, NULL);
    waiting++;
    while (!go) GIVES(pthread_cond_wait(&C, &M), 0);
    waiting--;
    pthread_cleanup_pop(1);
    return NULL;
}

static int read_under_mutex(const int *cell) {
    GIVES(pthread_mutex_lock(&M), 0);
    int seen = *cell;
    GIVES(pthread_mutex_unlock(&M), 0);
    return seen;
}

static const struct mixture *mixture;

static void make(size_t row) {
    mixture = &MIXTURES[row];
    if (mixture->robust) SKIP("glibc destroys robust mutexes at any time");
    make_both(&C, &M, mixture);
}

/* A shared condition with a private mutex: a waiter may have the mutex for a moment, as an interposer that leaves the condition to libc, and
   not the mutex, lets it wake for no reason. */
static int may_wake(void) {
    return mixture && mixture->cond_shared && !mixture->mutex_shared;
}

static void must_be_in_use(void) {
    for (int i = 0; i < 3; i++) {
        GIVES(pthread_mutex_destroy(&M), EBUSY);
        GIVES(ELSEWHERE(may_wake() ? lock_unlock : trylock_unlock, &M), 0);
    }
}

static void must_be_unused(void) {
    GIVES(ELSEWHERE(lock_unlock, &M), 0);
    GIVES(pthread_cond_destroy(&C), 0);
    GIVES(pthread_mutex_destroy(&M), 0);
}

TEST_EACH(until_all_are_woken, MIXTURES) {
    enum { WAITERS = 3 };
    pthread_t threads[WAITERS];
    make(row);
    for (int i = 0; i < WAITERS; i++) threads[i] = START(waits, NULL);
    AWAIT(read_under_mutex(&waiting) == WAITERS);
    must_be_in_use();
    GIVES(pthread_mutex_lock(&M), 0);
    go = 1;
    GIVES(pthread_cond_signal(&C), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    AWAIT(read_under_mutex(&waiting) <= WAITERS - 1);
    if (!may_wake()) must_be_in_use();
    GIVES(pthread_cond_broadcast(&C), 0);
    for (int i = 0; i < WAITERS; i++) END(threads[i]);
    must_be_unused();
}

TEST_EACH(until_it_is_cancelled, MIXTURES) {
    make(row);
    pthread_t first = START(waits, NULL), second = START(waits, NULL);
    AWAIT(read_under_mutex(&waiting) == 2);
    GIVES(pthread_cancel(first), 0);
    END(first);
    must_be_in_use();
    GIVES(pthread_cancel(second), 0);
    END(second);
    must_be_unused();
}

static clockid_t clock_of_cond;
static void *waits_briefly(void *unused) {
    (void)unused;
    int code = 0;
    struct timespec soon = in_ms(clock_of_cond, 150);
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&waiting);
    while (code == 0) code = pthread_cond_timedwait(&C, &M, &soon);
    GIVES(code, ETIMEDOUT);
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

TEST_EACH(until_its_deadline, MIXTURES) {
    make(row);
    clock_of_cond = clock_of(mixture);
    for (int i = 0; i < 3; i++) END(START(waits_briefly, NULL));
    must_be_unused();
}

/* Waits that fail do not count. */
TEST(unless_the_wait_fails) {
    struct mixture checking = {"", 0, 0, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0, 0};
    struct timespec bad = in_ms(CLOCK_REALTIME, 1000), past = in_ms(CLOCK_REALTIME, -1000);
    make_both(&C, &M, &checking);
    bad.tv_nsec = -1;
    GIVES(pthread_cond_wait(&C, &M), EPERM);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_cond_timedwait(&C, &M, &bad), EINVAL);
    GIVES(pthread_cond_timedwait(&C, &M, &past), ETIMEDOUT);
    GIVES(pthread_mutex_unlock(&M), 0);
    must_be_unused();
}

/* A child of a fork has none of those who waited. */
TEST(not_in_a_child) {
    struct mixture plain = {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0};
    make_both(&C, &M, &plain);
    pthread_t thread = START(waits, NULL);
    AWAIT(read_under_mutex(&waiting) == 1);
    pid_t child = forked();
    if (child == 0) {
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        _exit(0);
    }
    END_CHILD(child);
    must_be_in_use();
    GIVES(pthread_mutex_lock(&M), 0);
    go = 1;
    GIVES(pthread_cond_signal(&C), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    END(thread);
    must_be_unused();
}
