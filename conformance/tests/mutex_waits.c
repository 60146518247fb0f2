/* How threads wait for a mutex: asleep, with and without a deadline, and the most urgent first. */
#define GROUP "mutex_waits"
#include "../urgent.h"
#include <sys/resource.h>

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER;

static long cpu_ms(void) {
    struct rusage used;
    SETUP(getrusage(RUSAGE_SELF, &used) == 0);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

static void *gives_up(void *unused) {
    struct timespec later = in_ms(CLOCK_REALTIME, 2000);
    GIVES(pthread_mutex_timedlock(&M, &later), ETIMEDOUT);
    return unused;
}

/* A hundred threads wait for two seconds. Tries in between would use much more than a twentieth of a CPU. */
TEST(waiters_with_a_deadline_sleep) {
    not_if_waiters_spin();
    pthread_t threads[100];
    GIVES(pthread_mutex_lock(&M), 0);
    for (size_t i = 0; i < ROWS(threads); i++) threads[i] = START(gives_up, NULL);
    sleep_us(300000);
    long before = cpu_ms();
    sleep_us(1500000);
    long used = cpu_ms() - before;
    for (size_t i = 0; i < ROWS(threads); i++) END(threads[i]);
    CHECK(used < 75, "a hundred waiters used %ld ms of CPU time in 1.5 s", used);
    GIVES(pthread_mutex_unlock(&M), 0);
}

/* All that waited and gave up are forgotten. */
TEST(who_has_given_up_is_not_waited_for) {
    pthread_t threads[10];
    GIVES(pthread_mutex_lock(&M), 0);
    for (size_t i = 0; i < ROWS(threads); i++) threads[i] = START(gives_up, NULL);
    for (size_t i = 0; i < ROWS(threads); i++) END(threads[i]);
    GIVES(pthread_mutex_unlock(&M), 0);
    for (int i = 0; i < 1000; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
    }
}

static int stop;

static void *keeps_it_busy(void *unused) {
    while (!READ(&stop)) {
        GIVES(pthread_mutex_lock(&M), 0);
        for (volatile int i = 0; i < 300; i++) {
        }
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    return unused;
}

/* Beside threads that use it all the time, a deadline of a second suffices each time. */
TEST(a_deadline_among_busy_threads_suffices) {
    pthread_t threads[4];
    for (size_t i = 0; i < ROWS(threads); i++) threads[i] = START(keeps_it_busy, NULL);
    while (time_left()) {
        struct timespec soon = in_ms(CLOCK_REALTIME, 1000);
        GIVES(pthread_mutex_timedlock(&M, &soon), 0);
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    UP(&stop);
    for (size_t i = 0; i < ROWS(threads); i++) END(threads[i]);
}

static int lock_m(void) { return pthread_mutex_lock(&M); }
static int unlock_m(void) { return pthread_mutex_unlock(&M); }

TEST(the_most_urgent_is_next) {
    not_if_waiters_spin();
    most_urgent_is_next(lock_m, unlock_m);
}

TEST(urgent_threads_preempt_the_others) {
    not_if_waiters_spin();
    urgent_ones_preempt_the_others(lock_m, unlock_m);
}
