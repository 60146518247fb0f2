/* Makes threads lose their CPU in the middle of anything: a signal handler that sleeps a little, for races that need it. */
#ifndef STIR_H
#define STIR_H
#include "check.h"
#include <sys/syscall.h>

static void doze(int signal) {
    (void)signal;
    int saved = errno;
    struct timespec little = {0, 150000};
    nanosleep(&little, NULL);
    errno = saved;
}

/* From now on the calling thread is stopped three thousand times a second, wherever it is. */
UNUSED static void stir(void) {
    struct sigaction action;
    struct sigevent event;
    struct itimerspec often = {{0, 300000}, {0, 300000}};
    timer_t timer;
    memset(&action, 0, sizeof action);
    action.sa_handler = doze;
    action.sa_flags = SA_RESTART;
    SETUP(sigaction(SIGUSR1, &action, NULL) == 0);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    SETUP(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    SETUP(timer_settime(timer, 0, &often, NULL) == 0);
}

/* An object in a page of its own: once it is unmapped, whoever touches it dies of a signal. */
UNUSED static void *own_page(void) {
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SETUP(page != MAP_FAILED);
    return page;
}
UNUSED static void give_back(void *page) { SETUP(munmap(page, (size_t)sysconf(_SC_PAGESIZE)) == 0); }

#endif
