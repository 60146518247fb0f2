/* Threads that wait for one lock get it in the order of their priorities: for tests of locks of several kinds. */
#ifndef URGENT_H
#define URGENT_H
#include "check.h"
#include <sched.h>

/* Real-time priorities in the order in which the threads come; 0 is none. */
static const int PRIORITIES[6] = {0, 10, 0, 30, 20, 40};
static int order[6], served;
static pid_t tids[6];
static int (*get_it)(void), (*give_it_back)(void);

static void *waits_with_priority(void *number) {
    size_t i = (size_t)number;
    struct sched_param how;
    memset(&how, 0, sizeof how);
    how.sched_priority = PRIORITIES[i];
    if (pthread_setschedparam(pthread_self(), PRIORITIES[i] > 0 ? SCHED_FIFO : SCHED_OTHER, &how) != 0) {
        PUT(&tids[i], -1);
        return NULL;
    }
    PUT(&tids[i], my_tid());
    GIVES(get_it(), 0);
    order[served++] = PRIORITIES[i];
    sleep_us(2000); /* the next one is to be woken by this one's release, not to find the lock free by chance */
    GIVES(give_it_back(), 0);
    return NULL;
}

/* POSIX: the scheduling policy determines who is next. `acquire` gets the lock alone. */
static void most_urgent_is_next(int (*acquire)(void), int (*release)(void)) {
    pthread_t threads[6];
    get_it = acquire;
    give_it_back = release;
    GIVES(get_it(), 0);
    for (size_t i = 0; i < ROWS(threads); i++) {
        threads[i] = START(waits_with_priority, (void *)i);
        AWAIT(READ(&tids[i]) != 0);
        if (READ(&tids[i]) < 0) SKIP("real-time priorities are not permitted here");
        AWAIT(sleeps(READ(&tids[i])));
        sleep_us(2000);
    }
    GIVES(give_it_back(), 0);
    for (size_t i = 0; i < ROWS(threads); i++) END(threads[i]);
    /* Who was first in line before anybody urgent came may be awake, and first. */
    int first = order[0] == 0;
    for (int i = first + 1; i < 6; i++)
        CHECK(order[i - 1] >= order[i], "priorities are served as %d %d %d %d %d %d", order[0], order[1], order[2], order[3],
              order[4], order[5]);
}

static int over;
static size_t inside;
static long sections, of_threads[7];

static void section_of(size_t i, int work) {
    GIVES(get_it(), 0);
    PUT(&inside, i);
    sections++;
    for (volatile int left = work; left > 0; left--) {
    }
    CHECK(READ(&inside) == i, "thread %zu got in beside thread %zu", READ(&inside), i);
    GIVES(give_it_back(), 0);
    of_threads[i]++;
}

static void *ordinary_one(void *number) {
    unsigned seed = (unsigned)(size_t)number;
    while (!READ(&over)) section_of((size_t)number, rand_r(&seed) % 3000);
    return NULL;
}

static void *urgent_one(void *number) {
    size_t i = (size_t)number;
    struct sched_param how;
    memset(&how, 0, sizeof how);
    how.sched_priority = 10 + (int)i;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &how) != 0) SKIP("real-time priorities are not permitted here");
    while (!READ(&over)) {
        section_of(i, 0);
        sleep_us(100 + 150 * (long)i);
    }
    return NULL;
}

/* Urgent threads come and go on the one CPU of those that hold the lock most of the time: they preempt the one that
 * releases it, at any moment. All get on. */
UNUSED static void urgent_ones_preempt_the_others(int (*acquire)(void), int (*release)(void)) {
    pthread_t threads[7];
    cpu_set_t allowed, one;
    int cpu = 0;
    get_it = acquire;
    give_it_back = release;
    SETUP(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    while (!CPU_ISSET(cpu, &allowed)) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    SETUP(sched_setaffinity(0, sizeof one, &one) == 0);
    for (size_t i = 0; i < ROWS(threads); i++) threads[i] = START(i < 3 ? ordinary_one : urgent_one, (void *)i);
    while (time_left()) sleep_us(10000);
    PUT(&over, 1);
    long sum = 0;
    for (size_t i = 0; i < ROWS(threads); i++) END(threads[i]);
    for (size_t i = 0; i < ROWS(threads); i++) sum += of_threads[i];
    CHECK(sum == sections, "%ld sections were counted of %ld", sections, sum);
}

#endif
