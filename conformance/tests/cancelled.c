/* Waits of a thread that has been cancelled: in its clean-up handlers and its destructors of thread-specific data. Such a thread is not cancelled
 * a second time, and its waits are as any others. POSIX lets a wait return for no reason, but a thread whose waits all do so polls. */
#define GROUP "cancelled"
#include "../conds.h"

/* So many returns for no reason in 100 ms do not matter. */
enum { FEW = 10 };

static pthread_mutex_t M, OTHER_M = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t C, OTHER_C = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int begun, ready, waiting, told, returns; /* `told` is guarded by M */

/* Where the thread is when it is cancelled, and where it waits after that. */
static const struct place {
    const char *name;
    enum { IN_A_WAIT, IN_A_PAUSE, BEFORE_A_TEST, NOWHERE } cancelled;
    int in_destructor;
    int again; /* it is cancelled while it waits there */
} PLACES[] = {
    {"handler-after-a-wait", IN_A_WAIT, 0, 0},  {"destructor-after-a-wait", IN_A_WAIT, 1, 0},
    {"handler-after-a-pause", IN_A_PAUSE, 0, 0}, {"destructor-after-a-pause", IN_A_PAUSE, 1, 0},
    {"handler-after-a-test", BEFORE_A_TEST, 0, 0}, {"destructor-after-a-test", BEFORE_A_TEST, 1, 0},
    {"again-in-handler", IN_A_WAIT, 0, 1},       {"again-in-destructor", IN_A_PAUSE, 1, 1},
    {"in-handler-of-an-exit", NOWHERE, 0, 1},    {"in-destructor-of-an-exit", NOWHERE, 1, 1},
};
static const struct place *place;
static void (*waits_late)(void);

static void unlocks_other(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_unlock(&OTHER_M), 0);
}

static void waits_for_ever(void) {
    GIVES(pthread_mutex_lock(&OTHER_M), 0);
    pthread_cleanup_push(unlocks_other, NULL);
    UP(&begun);
    for (;;) GIVES(pthread_cond_wait(&OTHER_C, &OTHER_M), 0);
    pthread_cleanup_pop(0);
}

static void is_ended(void) {
    int old;
    switch (place->cancelled) {
    case IN_A_WAIT: waits_for_ever(); break;
    case IN_A_PAUSE:
        UP(&begun);
        for (;;) pause();
    case BEFORE_A_TEST:
        GIVES(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
        UP(&begun);
        AWAIT(READ(&ready));
        GIVES(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old), 0);
        pthread_testcancel();
        FAIL("pthread_testcancel does nothing");
    case NOWHERE: UP(&begun); pthread_exit(PTHREAD_CANCELED);
    }
}

static void handler(void *unused) {
    (void)unused;
    if (!place->in_destructor) waits_late();
}

static void destructor(void *unused) {
    (void)unused;
    waits_late();
}

static void *comes_to_its_end(void *unused) {
    (void)unused;
    if (place->in_destructor) GIVES(pthread_setspecific(key, &key), 0);
    pthread_cleanup_push(handler, NULL);
    is_ended();
    pthread_cleanup_pop(0);
    return NULL;
}

static pthread_t begin(size_t row, void (*what)(void)) {
    struct mixture plain = {"", 0, 0, PTHREAD_MUTEX_NORMAL, 1, 0, 0, 0};
    make_both(&C, &M, &plain);
    place = &PLACES[row];
    waits_late = what;
    GIVES(pthread_key_create(&key, destructor), 0);
    pthread_t thread = START(comes_to_its_end, NULL);
    AWAIT(READ(&begun));
    if (place->cancelled == IN_A_WAIT) {
        GIVES(pthread_mutex_lock(&OTHER_M), 0); /* free only when the thread waits */
        GIVES(pthread_mutex_unlock(&OTHER_M), 0);
    }
    if (place->cancelled != NOWHERE) GIVES(pthread_cancel(thread), 0);
    UP(&ready);
    AWAIT(READ(&waiting));
    if (place->again) {
        settle();
        GIVES(pthread_cancel(thread), 0);
    }
    return thread;
}

static void must_be_held(void) { GIVES(ELSEWHERE(trylock, &M), EBUSY); }

static void waits_for_100_ms(void) {
    int code;
    struct timespec deadline = in_ms(CLOCK_MONOTONIC, 100);
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&waiting);
    do {
        code = pthread_cond_timedwait(&C, &M, &deadline);
        returns += code == 0;
    } while (code == 0 && !reached(CLOCK_MONOTONIC, &deadline));
    CHECK(code == 0 || code == ETIMEDOUT, "gives %s", error_name(code));
    CHECK(reached(CLOCK_MONOTONIC, &deadline), "gave up before its deadline");
    CHECK(returns <= FEW, "returned %d times within 100 ms, and nobody signalled", returns);
    must_be_held();
    GIVES(pthread_mutex_unlock(&M), 0);
}

TEST_EACH(timed_wait_lasts, PLACES) {
    pthread_t thread = begin(row, waits_for_100_ms);
    CHECK(END(thread) == PTHREAD_CANCELED, "the thread was not cancelled");
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
    GIVES(pthread_cond_destroy(&C), 0);
}

static void waits_to_be_told(void) {
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&waiting);
    while (!told) {
        GIVES(pthread_cond_wait(&C, &M), 0);
        returns++;
    }
    CHECK(returns <= FEW, "returned %d times, and was signalled once", returns);
    must_be_held();
    GIVES(pthread_mutex_unlock(&M), 0);
}

TEST_EACH(wait_lasts_until_it_is_signalled, PLACES) {
    pthread_t thread = begin(row, waits_to_be_told);
    settle();
    settle();
    GIVES(pthread_mutex_lock(&M), 0);
    told = 1;
    GIVES(pthread_cond_signal(&C), 0);
    GIVES(pthread_mutex_unlock(&M), 0);
    CHECK(END(thread) == PTHREAD_CANCELED, "the thread was not cancelled");
    GIVES(ELSEWHERE(trylock_unlock, &M), 0);
    GIVES(pthread_cond_destroy(&C), 0);
}
