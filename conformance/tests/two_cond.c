/* Condition variables that are used both by name and in a way that a preloaded library does not see; as two.c has it for mutexes. Whoever waits
 * first decides: the other way must be told, or work. */
#define GROUP "two_cond"
#include "../two_ways.h"
#include <signal.h>

static pthread_mutex_t M;
static pthread_cond_t C;

static const struct way {
    const char *name;
    void (*get)(void);
    int monotonic, fixed;
} WAYS[] = {
    {"handle", by_handle, 0, 0},           {"handle-static", by_handle, 0, 1},     {"handle-monotonic", by_handle, 1, 0},
    {"deepbind", by_deepbind, 0, 0},       {"deepbind-static", by_deepbind, 0, 1}, {"deepbind-monotonic", by_deepbind, 1, 0},
    {"dlmopen", by_dlmopen, 0, 0},         {"dlmopen-static", by_dlmopen, 0, 1},   {"dlmopen-monotonic", by_dlmopen, 1, 0},
};

static void begin(const char *test, size_t row) {
    pthread_condattr_t attributes;
    static const pthread_cond_t fixed = PTHREAD_COND_INITIALIZER;
    in_a_process(test, WAYS[row].name);
    WAYS[row].get();
    GIVES(pthread_mutex_init(&M, NULL), 0);
    memcpy(&C, &fixed, sizeof C);
    if (WAYS[row].fixed) return;
    GIVES(pthread_condattr_init(&attributes), 0);
    if (WAYS[row].monotonic) GIVES(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    GIVES(pthread_cond_init(&C, &attributes), 0);
}

static int waiting, go, woken; /* guarded by M */

static void *waits(void *argument) {
    const struct functions *functions = ANY(const struct functions, argument);
    WORKS(functions->pthread_mutex_lock(&M));
    waiting++;
    while (!go) WORKS(functions->pthread_cond_wait(&C, &M));
    woken++;
    WORKS(functions->pthread_mutex_unlock(&M));
    return NULL;
}

static int read_under_mutex(const struct functions *functions, const int *cell) {
    WORKS(functions->pthread_mutex_lock(&M));
    int seen = *cell;
    WORKS(functions->pthread_mutex_unlock(&M));
    return seen;
}

static int signalled_it;
static void *signals(void *unused) {
    (void)unused;
    AWAIT(read_under_mutex(&by_name, &waiting) >= 1);
    WORKS(other.pthread_cond_signal(&C));
    UP(&signalled_it);
    return NULL;
}

static clockid_t clock_of(size_t row) { return WAYS[row].monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME; }

/* One way waits, and is signalled by another. */
static void signalled(const struct functions *waiters, const struct functions *wakes, int all) {
    enum { WAITERS = 3 };
    pthread_t threads[WAITERS];
    for (int i = 0; i < WAITERS; i++) threads[i] = START(waits, (void *)waiters);
    AWAIT(read_under_mutex(waiters, &waiting) == WAITERS);
    WORKS(waiters->pthread_mutex_lock(&M));
    go = 1;
    WORKS(waiters->pthread_mutex_unlock(&M));
    for (int i = 0; i < (all ? 1 : WAITERS); i++) WORKS(all ? wakes->pthread_cond_broadcast(&C) : wakes->pthread_cond_signal(&C));
    for (int i = 0; i < WAITERS; i++) END(threads[i]);
}

TEST_EACH(waited_for_by_the_other_and_signalled_by_name, WAYS) {
    begin("waited_for_by_the_other_and_signalled_by_name", row);
    signalled(&other, &by_name, 0);
}
TEST_EACH(waited_for_by_the_other_and_broadcast_by_name, WAYS) {
    begin("waited_for_by_the_other_and_broadcast_by_name", row);
    signalled(&other, &by_name, 1);
}
TEST_EACH(waited_for_by_name_and_signalled_by_the_other, WAYS) {
    begin("waited_for_by_name_and_signalled_by_the_other", row);
    signalled(&by_name, &other, 0);
}
TEST_EACH(waited_for_by_name_and_broadcast_by_the_other, WAYS) {
    begin("waited_for_by_name_and_broadcast_by_the_other", row);
    signalled(&by_name, &other, 1);
}

/* The wait that was signalled by the other way ends by its own deadline, if by nothing else. */
TEST_EACH(waited_for_by_name_until_a_time_and_signalled_by_the_other, WAYS) {
    begin("waited_for_by_name_until_a_time_and_signalled_by_the_other", row);
    pthread_t signaller = START(signals, NULL);
    GIVES(pthread_mutex_lock(&M), 0);
    struct timespec end = in_ms(clock_of(row), 500);
    waiting = 1;
    while (pthread_cond_timedwait(&C, &M, &end) == 0) {}
    GIVES(pthread_mutex_unlock(&M), 0);
    END(signaller);
}

/* Somebody always waits by name, and nobody for long: the others are signalled by name all the time. */
static void *waits_again(void *unused) {
    (void)unused;
    for (;;) {
        WORKS(pthread_mutex_lock(&M));
        if (go) break;
        waiting++;
        WORKS(pthread_cond_wait(&C, &M));
        WORKS(pthread_mutex_unlock(&M));
    }
    WORKS(pthread_mutex_unlock(&M));
    return NULL;
}
TEST_EACH(signalled_by_the_other_while_others_come_and_go, WAYS) {
    enum { WAITERS = 3 };
    pthread_t threads[WAITERS];
    begin("signalled_by_the_other_while_others_come_and_go", row);
    for (int i = 0; i < WAITERS; i++) threads[i] = START(waits_again, NULL);
    AWAIT(read_under_mutex(&by_name, &waiting) >= WAITERS);
    pthread_t signaller = START(signals, NULL);
    while (!READ(&signalled_it)) {
        usleep(20000);
        WORKS(by_name.pthread_cond_signal(&C));
    }
    END(signaller);
    WORKS(by_name.pthread_mutex_lock(&M));
    go = 1;
    WORKS(by_name.pthread_mutex_unlock(&M));
    for (int i = 0; i < WAITERS; i++) WORKS(by_name.pthread_cond_broadcast(&C));
    for (int i = 0; i < WAITERS; i++) END(threads[i]);
}

/* As a profiler does: signals interrupt the sleep all the time. */
static void nothing(int number) { (void)number; }
TEST_EACH(signalled_by_the_other_while_interrupted, WAYS) {
    begin("signalled_by_the_other_while_interrupted", row);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = nothing;
    action.sa_flags = SA_RESTART;
    SETUP(sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_t one = START(waits, (void *)&by_name);
    AWAIT(read_under_mutex(&by_name, &waiting) == 1);
    WORKS(by_name.pthread_mutex_lock(&M));
    go = 1;
    WORKS(by_name.pthread_mutex_unlock(&M));
    pthread_t signaller = START(signals, NULL);
    while (!READ(&signalled_it)) {
        usleep(200000);
        pthread_kill(one, SIGUSR1);
    }
    END(signaller);
    END(one);
}

/* Waiters whose time is over may still be on their way out when nobody waits any more. */
static void *waits_until(void *argument) {
    const struct timespec *end = ANY(const struct timespec, argument);
    WORKS(pthread_mutex_lock(&M));
    waiting++;
    pthread_cond_timedwait(&C, &M, end);
    WORKS(pthread_mutex_unlock(&M));
    return NULL;
}
TEST_EACH(destroyed_by_the_other_as_timed_waits_by_name_end, WAYS) {
    enum { WAITERS = 3 };
    pthread_t threads[WAITERS];
    begin("destroyed_by_the_other_as_timed_waits_by_name_end", row);
    for (int round = 0; round < 300 && time_left(); round++) {
        waiting = 0;
        struct timespec end = in_ms(clock_of(row), 2);
        for (int i = 0; i < WAITERS; i++) threads[i] = START(waits_until, &end);
        AWAIT(read_under_mutex(&by_name, &waiting) == WAITERS);
        while (!reached(clock_of(row), &end)) {}
        for (volatile int i = 0; i < round * 30; i++) {}
        WORKS(by_name.pthread_cond_broadcast(&C));
        WORKS(other.pthread_cond_destroy(&C));
        for (int i = 0; i < WAITERS; i++) END(threads[i]);
    }
}

/* Everybody who waited by name was woken by name: to the other way the condition is one for which nobody waits. */
TEST_EACH(signalled_and_destroyed_by_the_other_after_waits_by_name, WAYS) {
    begin("signalled_and_destroyed_by_the_other_after_waits_by_name", row);
    signalled(&by_name, &by_name, 0);
    waiting = go = 0;
    signalled(&by_name, &by_name, 1);
    WORKS(other.pthread_cond_signal(&C));
    WORKS(other.pthread_cond_broadcast(&C));
    WORKS(other.pthread_cond_destroy(&C));
}

/* The other way waited first, and that is over. Threads that wait by name are woken either way. */
TEST_EACH(waited_for_by_the_other_before, WAYS) {
    begin("waited_for_by_the_other_before", row);
    for (int round = 0; round < 4; round++) {
        const struct functions *wakes = round & 1 ? &by_name : &other;
        pthread_t first = START(waits, (void *)&other), second = START(waits, (void *)(round ? &by_name : &other));
        AWAIT(read_under_mutex(&other, &waiting) == 2);
        WORKS(wakes->pthread_mutex_lock(&M));
        go = 1;
        WORKS(wakes->pthread_cond_broadcast(&C));
        WORKS(wakes->pthread_mutex_unlock(&M));
        END(first);
        END(second);
        CHECK(woken == 2, "%d of 2 were woken", woken);
        waiting = go = woken = 0;
    }
    WORKS(by_name.pthread_cond_destroy(&C));
}

/* Somebody waited by name before, and now both ways do. A signal by name wakes them, or tells. */
TEST_EACH(waited_for_by_name_before, WAYS) {
    begin("waited_for_by_name_before", row);
    for (int round = 0; round < 2; round++) {
        pthread_t first = START(waits, (void *)&by_name), second = START(waits, (void *)(round ? &other : &by_name));
        AWAIT(read_under_mutex(&by_name, &waiting) == 2);
        WORKS(by_name.pthread_mutex_lock(&M));
        go = 1;
        WORKS(by_name.pthread_mutex_unlock(&M));
        WORKS(by_name.pthread_cond_broadcast(&C));
        END(first);
        END(second);
        waiting = go = 0;
    }
}

/* Nobody ever waited: signals are for nobody, whoever gives them. */
TEST_EACH(signalled_by_both_before_anybody_waits, WAYS) {
    begin("signalled_by_both_before_anybody_waits", row);
    for (int i = 0; i < 8; i++) {
        WORKS((i & 1 ? &by_name : &other)->pthread_cond_signal(&C));
        WORKS((i & 2 ? &by_name : &other)->pthread_cond_broadcast(&C));
    }
    signalled(&other, &by_name, 0);
}
