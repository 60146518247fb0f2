/* Waits for a condition in the handler of a signal that came in the middle of another wait, and so on. POSIX leaves this open; with glibc it
 * works, and programs whose handlers do more than they should rely on it. */
#define GROUP "cond_nested"
#include "../conds.h"

enum { DEEPEST = 12 };

static struct level {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int go, begun, over, returns; /* `go` is guarded by the mutex */
} levels[DEEPEST + 1];
static int depth, inside; /* `inside` is the waiting thread's own */
static pid_t waiter;
static int timed;

static const struct {
    const char *name;
    int levels, timed, inner_first;
} NESTS[] = {
    {"two", 2, 0, 1},          {"six", 6, 0, 1},          {"six-outer-first", 6, 0, 0},
    {"twelve", DEEPEST, 0, 1}, {"six-timed", 6, 1, 1},    {"six-timed-outer-first", 6, 1, 0},
};

static void waits(struct level *level) {
    struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
    GIVES(pthread_mutex_lock(&level->mutex), 0);
    UP(&level->begun);
    while (!level->go) {
        GIVES(timed ? pthread_cond_timedwait(&level->cond, &level->mutex, &later)
                    : pthread_cond_wait(&level->cond, &level->mutex),
              0);
        level->returns++;
    }
    GIVES(pthread_mutex_unlock(&level->mutex), 0);
    UP(&level->over);
}

static void waits_deeper(int signal) {
    (void)signal;
    int saved = errno;
    waits(&levels[++inside]);
    inside--;
    errno = saved;
}

static void *begins(void *unused) {
    (void)unused;
    waiter = my_tid();
    waits(&levels[0]);
    return NULL;
}

static void lets_go(struct level *level) {
    GIVES(pthread_mutex_lock(&level->mutex), 0);
    level->go = 1;
    GIVES(pthread_cond_signal(&level->cond), 0);
    GIVES(pthread_mutex_unlock(&level->mutex), 0);
}

/* Nanoseconds of CPU time that the thread has used. */
static long long used_by(pthread_t thread) {
    clockid_t clock;
    GIVES(pthread_getcpuclockid(thread, &clock), 0);
    struct timespec used = now(clock);
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}

TEST_EACH(sleeps_and_is_woken, NESTS) {
    enum { MS = 200 };
    struct mixture plain = {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = waits_deeper;
    action.sa_flags = SA_NODEFER;
    SETUP(sigaction(SIGUSR1, &action, NULL) == 0);
    depth = NESTS[row].levels;
    timed = NESTS[row].timed;
    for (int i = 0; i < depth; i++) make_both(&levels[i].cond, &levels[i].mutex, &plain);
    pthread_t thread = START(begins, NULL);
    for (int i = 0; i < depth; i++) {
        if (i > 0) GIVES(pthread_kill(thread, SIGUSR1), 0);
        AWAIT(READ(&levels[i].begun));
        GIVES(pthread_mutex_lock(&levels[i].mutex), 0); /* free only when the thread waits */
        GIVES(pthread_mutex_unlock(&levels[i].mutex), 0);
        AWAIT(sleeps(waiter));
    }
    long long before = used_by(thread);
    sleep_us(MS * 1000);
    long long used = used_by(thread) - before;
    CHECK(used < MS * 1000000LL / 4, "a thread that only waits used %lld ms of CPU time in %d ms", used / 1000000, MS);
    if (NESTS[row].inner_first) {
        for (int i = depth - 1; i >= 0; i--) {
            for (int j = 0; j < i; j++) CHECK(!READ(&levels[j].over), "a wait around the innermost one ended first");
            lets_go(&levels[i]);
            AWAIT(READ(&levels[i].over));
        }
    } else {
        /* All but the innermost end when that does. */
        for (int i = 0; i < depth; i++) lets_go(&levels[i]);
    }
    END(thread);
    for (int i = 0; i < depth; i++) {
        CHECK(levels[i].returns < 10, "wait %d returned %d times, and was signalled once", i, levels[i].returns);
        GIVES(pthread_cond_destroy(&levels[i].cond), 0);
        GIVES(pthread_mutex_destroy(&levels[i].mutex), 0);
    }
}

/* Deadlines of waits inside pass while that outside goes on, and the other way round. */
static int inner_code, outer_code;
static long inner_ms, outer_ms;

static void times_out_inside(int signal) {
    (void)signal;
    int saved = errno;
    struct timespec soon = in_ms(CLOCK_REALTIME, inner_ms);
    GIVES(pthread_mutex_lock(&levels[1].mutex), 0);
    do inner_code = pthread_cond_timedwait(&levels[1].cond, &levels[1].mutex, &soon);
    while (inner_code == 0 && !reached(CLOCK_REALTIME, &soon));
    GIVES(pthread_mutex_unlock(&levels[1].mutex), 0);
    errno = saved;
}

static void *times_out(void *unused) {
    (void)unused;
    struct timespec soon = in_ms(CLOCK_REALTIME, outer_ms);
    waiter = my_tid();
    GIVES(pthread_mutex_lock(&levels[0].mutex), 0);
    UP(&levels[0].begun);
    do outer_code = pthread_cond_timedwait(&levels[0].cond, &levels[0].mutex, &soon);
    while (outer_code == 0 && !reached(CLOCK_REALTIME, &soon));
    CHECK(reached(CLOCK_REALTIME, &soon), "gave up before its deadline");
    GIVES(pthread_mutex_unlock(&levels[0].mutex), 0);
    AWAIT(READ(&levels[0].over)); /* who signals it may have no CPU until then */
    return NULL;
}

static const struct {
    const char *name;
    long inner_ms, outer_ms;
} DEADLINES[] = {{"inner-first", 40, 120}, {"outer-first", 120, 40}};

TEST_EACH(deadlines, DEADLINES) {
    struct mixture plain = {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = times_out_inside;
    SETUP(sigaction(SIGUSR1, &action, NULL) == 0);
    inner_code = outer_code = -1;
    inner_ms = DEADLINES[row].inner_ms;
    outer_ms = DEADLINES[row].outer_ms;
    for (int i = 0; i < 2; i++) make_both(&levels[i].cond, &levels[i].mutex, &plain);
    pthread_t thread = START(times_out, NULL);
    AWAIT(READ(&levels[0].begun));
    AWAIT(sleeps(waiter));
    GIVES(pthread_kill(thread, SIGUSR1), 0);
    UP(&levels[0].over);
    END(thread);
    CHECK(outer_code == ETIMEDOUT || outer_code == 0, "the outer wait gives %s", error_name(outer_code));
    CHECK(inner_code == ETIMEDOUT || inner_code == 0, "the inner wait gives %s", error_name(inner_code));
    for (int i = 0; i < 2; i++) GIVES(pthread_cond_destroy(&levels[i].cond), 0);
}
