/* What the test programs share: checks that are counted, points of time, a second thread. */
#ifndef CHECKS_H
#define CHECKS_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <stanchion.h>

static int checks, failures, ends_at_first;

/* Counts a check, and says what was expected if it fails. */
static void expect(const char *who, const char *what, long got, long want) {
    checks += 1;
    if (got != want) {
        failures += 1;
        printf("FAILED %s: %s gives %ld, expected %ld\n", who, what, got, want);
        if (ends_at_first) {
            exit(EXIT_FAILURE);
        }
    }
}

/* `delay` milliseconds from now. */
static struct timespec in_ms(clockid_t clock, long delay) {
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += delay / 1000;
    at.tv_nsec += delay % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec += 1;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static int has_passed(clockid_t clock, struct timespec at) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > at.tv_sec || (now.tv_sec == at.tv_sec && now.tv_nsec >= at.tv_nsec);
}

static void start(pthread_t *thread, void *(*run)(void *), void *argument) {
    if (pthread_create(thread, NULL, run, argument) != 0) {
        printf("FAILED to start a thread\n");
        exit(2);
    }
}

/* Ends a program that hangs. One that is expected to fail, with a fault, ends sooner, and at the first failure. */
static void begin(void) {
    const char *seconds = getenv("CHECK_SECONDS");
    setvbuf(stdout, NULL, _IOLBF, 0);
    ends_at_first = seconds != NULL;
    alarm(seconds != NULL ? (unsigned)atoi(seconds) : 120);
}

static int sum_up(const char *name) {
    printf("%s: %d checks, %d failed\n", name, checks, failures);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
