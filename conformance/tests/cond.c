/* Condition variables: whom signal and broadcast wake, and what waiting does to the mutex. */
#define GROUP "cond"
#include "../conds.h"

static pthread_mutex_t M;
static pthread_cond_t C;
static int waiting, woken, go; /* guarded by M */

static void *waits(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    waiting++;
    while (!go) GIVES(pthread_cond_wait(&C, &M), 0);
    go--;
    woken++;
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

/* Waits until so many are in pthread_cond_wait: they have counted themselves and released the mutex. */
static void await_waiting(int wanted) {
    int seen = 0;
    struct timespec give_up = in_ms(CLOCK_MONOTONIC, TIMEOUT * 1000L);
    while (seen < wanted) {
        CHECK(!reached(CLOCK_MONOTONIC, &give_up), "%d of %d threads got to wait", seen, wanted);
        GIVES(pthread_mutex_lock(&M), 0);
        seen = waiting;
        GIVES(pthread_mutex_unlock(&M), 0);
        sleep_us(100);
    }
}

static int read_woken(void) {
    GIVES(pthread_mutex_lock(&M), 0);
    int seen = woken;
    GIVES(pthread_mutex_unlock(&M), 0);
    return seen;
}


static void each_signal_wakes_one(const struct mixture *mixture, int held) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    make_both(&C, &M, mixture);
    for (int i = 0; i < THREADS; i++) threads[i] = START(waits, NULL);
    await_waiting(THREADS);
    for (int i = 1; i <= THREADS; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        go++;
        if (!held) GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(pthread_cond_signal(&C), 0);
        if (held) GIVES(pthread_mutex_unlock(&M), 0);
        AWAIT(read_woken() == i);
    }
    for (int i = 0; i < THREADS; i++) END(threads[i]);
    GIVES(pthread_cond_destroy(&C), 0);
    GIVES(pthread_mutex_destroy(&M), 0);
}

TEST_EACH(signal_while_held_wakes_one, MIXTURES) { each_signal_wakes_one(&MIXTURES[row], 1); }
TEST_EACH(signal_while_not_held_wakes_one, MIXTURES) { each_signal_wakes_one(&MIXTURES[row], 0); }

TEST_EACH(broadcast_wakes_all, MIXTURES) {
    enum { THREADS = 12 };
    pthread_t threads[THREADS];
    for (int held = 0; held < 2; held++) {
        make_both(&C, &M, &MIXTURES[row]);
        waiting = woken = go = 0;
        for (int i = 0; i < THREADS; i++) threads[i] = START(waits, NULL);
        await_waiting(THREADS);
        GIVES(pthread_mutex_lock(&M), 0);
        go = THREADS;
        if (!held) GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(pthread_cond_broadcast(&C), 0);
        if (held) GIVES(pthread_mutex_unlock(&M), 0);
        for (int i = 0; i < THREADS; i++) END(threads[i]);
        GIVES(pthread_cond_destroy(&C), 0);
        GIVES(pthread_mutex_destroy(&M), 0);
    }
}

/* Nobody waits, nothing is remembered. */
TEST_EACH(signal_before_the_wait_is_lost, MIXTURES) {
    make_both(&C, &M, &MIXTURES[row]);
    GIVES(pthread_cond_signal(&C), 0);
    GIVES(pthread_cond_broadcast(&C), 0);
    GIVES(pthread_mutex_lock(&M), 0);
    struct timespec soon = in_ms(clock_of(&MIXTURES[row]), 20);
    int code;
    do code = pthread_cond_timedwait(&C, &M, &soon);
    while (code == 0 && !reached(clock_of(&MIXTURES[row]), &soon)); /* woken for nothing: allowed */
    GIVES(code, ETIMEDOUT);
    GIVES(pthread_mutex_unlock(&M), 0);
}

static void *waits_once(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    waiting++;
    GIVES(pthread_cond_wait(&C, &M), 0);
    woken++;
    GIVES(pthread_cond_signal(&C), 0); /* for the one in the test's own thread */
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

/* A signal is for those who wait when it is given. The test's thread signals with the mutex held, and starts to wait before the
 * earlier waiter can have the mutex: the earlier one must be woken all the same. */
TEST_EACH(later_waiter_steals_no_signal, MIXTURES) {
    const struct mixture *mixture = &MIXTURES[row];
    make_both(&C, &M, mixture);
    for (int round = 0; round < 200 && time_left(); round++) {
        waiting = woken = 0;
        pthread_t earlier = START(waits_once, NULL);
        await_waiting(1);
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(pthread_cond_signal(&C), 0);
        struct timespec give_up = in_ms(clock_of(mixture), TIMEOUT * 1000L);
        while (!woken) {
            int code = pthread_cond_timedwait(&C, &M, &give_up);
            CHECK(code == 0, "the earlier waiter sleeps on in round %d: its signal went to a later one", round);
        }
        GIVES(pthread_mutex_unlock(&M), 0);
        END(earlier);
    }
}

static void *waits_alone(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    waiting++;
    while (!go) GIVES(pthread_cond_wait(&C, &M), 0);
    /* The mutex is held again, once, by this thread. */
    GIVES(ELSEWHERE(trylock, &M), EBUSY);
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
    return NULL;
}

TEST_EACH(mutex_is_free_during_and_held_after, MIXTURES) {
    make_both(&C, &M, &MIXTURES[row]);
    pthread_t waiter = START(waits_alone, NULL);
    await_waiting(1);
    GIVES(pthread_mutex_lock(&M), 0);
    go = 1;
    GIVES(pthread_cond_broadcast(&C), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    END(waiter);
}

TEST(errorcheck_not_owned) {
    struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
    make_both(&C, &M, &MIXTURES[4]);
    CHECK(strcmp(MIXTURES[4].name, "errorcheck") == 0, "the table has moved");
    GIVES(pthread_cond_wait(&C, &M), EPERM);
    GIVES(pthread_cond_timedwait(&C, &M, &later), EPERM);
    GIVES(pthread_cond_clockwait(&C, &M, CLOCK_MONOTONIC, &later), EPERM);
    GIVES(ELSEWHERE(lock, &M), 0);
    GIVES(pthread_cond_wait(&C, &M), EPERM);
    /* Nobody waits now. */
    GIVES(pthread_cond_destroy(&C), 0);
}

static pthread_cond_t turn_of[8];
static int turn, laps;

static void *passes_on(void *argument) {
    int me = (int)(size_t)argument;
    GIVES(pthread_mutex_lock(&M), 0);
    for (int lap = 0; lap < laps; lap++) {
        while (turn != me) GIVES(pthread_cond_wait(&turn_of[me], &M), 0);
        turn = (me + 1) % 8;
        GIVES(pthread_cond_signal(&turn_of[turn]), 0);
    }
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

TEST_EACH(ring, MIXTURES) {
    pthread_t threads[8];
    laps = 250;
    make_both(&C, &M, &MIXTURES[row]);
    for (int i = 0; i < 8; i++) make_cond(&turn_of[i], &MIXTURES[row]);
    for (size_t i = 0; i < 8; i++) threads[i] = START(passes_on, (void *)i);
    for (int i = 0; i < 8; i++) END(threads[i]);
}

/* A bounded queue with one condition variable for both ends: a lost wake-up stops it. */
static int in_queue, put_in, taken_out;
enum { ITEMS = 6000, CAPACITY = 3 };

static void *puts_in(void *held) {
    for (int i = 0; i < ITEMS / 3; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        while (in_queue == CAPACITY) GIVES(pthread_cond_wait(&C, &M), 0);
        in_queue++;
        put_in++;
        if (!held) GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(pthread_cond_broadcast(&C), 0);
        if (held) GIVES(pthread_mutex_unlock(&M), 0);
    }
    return NULL;
}

static void *takes_out(void *held) {
    for (int i = 0; i < ITEMS / 3; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        while (in_queue == 0) GIVES(pthread_cond_wait(&C, &M), 0);
        in_queue--;
        taken_out++;
        if (!held) GIVES(pthread_mutex_unlock(&M), 0);
        GIVES(pthread_cond_broadcast(&C), 0);
        if (held) GIVES(pthread_mutex_unlock(&M), 0);
    }
    return NULL;
}

TEST_EACH(bounded_queue, MIXTURES) {
    pthread_t threads[6];
    make_both(&C, &M, &MIXTURES[row]);
    for (size_t i = 0; i < 6; i++) threads[i] = START(i % 2 ? puts_in : takes_out, (void *)(i / 2 % 2));
    for (int i = 0; i < 6; i++) END(threads[i]);
    CHECK(in_queue == 0 && put_in == ITEMS && taken_out == ITEMS, "%d in, %d out, %d left", put_in, taken_out, in_queue);
    GIVES(pthread_cond_destroy(&C), 0);
}

/* Two condition variables with one mutex, and one condition variable with two mutexes, one after the other. */
TEST_EACH(another_mutex_later, MIXTURES) {
    pthread_t waiter;
    make_both(&C, &M, &MIXTURES[row]);
    for (int round = 0; round < 20; round++) {
        waiting = woken = go = 0;
        waiter = START(waits, NULL);
        await_waiting(1);
        GIVES(pthread_mutex_lock(&M), 0);
        go = 1;
        GIVES(pthread_cond_signal(&C), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
        END(waiter);
        GIVES(pthread_mutex_destroy(&M), 0);
        memset(&M, 0, sizeof M);
        GIVES(pthread_mutex_init(&M, NULL), 0);
    }
}

static int in_handler, goes_on;

static void stays(int unused) {
    (void)unused;
    ADD(&in_handler, 1);
    while (!READ(&goes_on)) sleep_us(1000);
}

/* The first of three waiters is in the handler of a signal. A broadcast of the holder wakes the others all the same. */
TEST(broadcast_passes_a_waiter_in_a_handler) {
    pthread_t threads[3];
    struct sigaction action = {.sa_handler = stays};
    SETUP(sigaction(SIGUSR1, &action, NULL) == 0);
    for (size_t i = 0; i < ROWS(threads); i++) {
        threads[i] = START(waits, NULL);
        await_waiting((int)i + 1);
    }
    GIVES(pthread_kill(threads[0], SIGUSR1), 0);
    while (!READ(&in_handler)) sleep_us(1000);
    GIVES(pthread_mutex_lock(&M), 0);
    go = (int)ROWS(threads);
    GIVES(pthread_cond_broadcast(&C), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    for (size_t i = 1; i < ROWS(threads); i++) END(threads[i]);
    ADD(&goes_on, 1);
    END(threads[0]);
}
