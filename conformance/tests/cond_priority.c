/* POSIX: the scheduling policy determines which thread a signal wakes. Threads of a real-time class come before all others, those of a higher
 * priority before those of a lower one, and among equals the first to come is the first to be woken. */
#define GROUP "cond_priority"
#include "../conds.h"
#include <sched.h>

static pthread_mutex_t M;
static pthread_cond_t C;
static int arrived, served, order[64]; /* guarded by M */
static int timed;

struct waiter {
    int number, priority, is_other; /* priority 0 is none; `is_other`: round robin, and batch */
    pid_t tid;
    pthread_t thread;
};

/* All threads get one CPU, on which they run in the order in which they are woken, and whoever signals comes before all of them. */
static void prepare(void) {
    cpu_set_t here, one;
    SETUP(sched_getaffinity(0, sizeof here, &here) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &here)) CPU_SET(cpu, &one);
    SETUP(sched_setaffinity(0, sizeof one, &one) == 0);
    struct sched_param highest;
    memset(&highest, 0, sizeof highest);
    highest.sched_priority = 50;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &highest) != 0)
        SKIP("real-time priorities need the right to set them (CAP_SYS_NICE)");
    struct mixture plain = {"", 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0};
    make_both(&C, &M, &plain);
}

static void *waits(void *argument) {
    struct waiter *me = ANY(struct waiter, argument);
    struct timespec later = in_ms(CLOCK_REALTIME, 3600 * 1000);
    me->tid = my_tid();
    if (me->is_other && !me->priority) {
        struct sched_param none;
        memset(&none, 0, sizeof none);
        SETUP(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    }
    GIVES(pthread_mutex_lock(&M), 0);
    arrived++;
    GIVES(timed ? pthread_cond_timedwait(&C, &M, &later) : pthread_cond_wait(&C, &M), 0);
    order[served++] = me->number;
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

static int read_under_mutex(const int *cell) {
    GIVES(pthread_mutex_lock(&M), 0);
    int seen = *cell;
    GIVES(pthread_mutex_unlock(&M), 0);
    return seen;
}

/* Starts a thread and waits until it waits. */
static void start_waiter(struct waiter *waiter) {
    pthread_attr_t attributes;
    struct sched_param param;
    int before = read_under_mutex(&arrived);
    memset(&param, 0, sizeof param);
    param.sched_priority = waiter->priority;
    int real = waiter->is_other ? SCHED_RR : SCHED_FIFO;
    GIVES(pthread_attr_init(&attributes), 0);
    GIVES(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), 0);
    GIVES(pthread_attr_setschedpolicy(&attributes, waiter->priority ? real : SCHED_OTHER), 0);
    GIVES(pthread_attr_setschedparam(&attributes, &param), 0);
    GIVES(pthread_create(&waiter->thread, &attributes, waits, waiter), 0);
    GIVES(pthread_attr_destroy(&attributes), 0);
    AWAIT(read_under_mutex(&arrived) == before + 1); /* free only when the thread waits */
    AWAIT(sleeps(waiter->tid));
}

static void must_be(const int *wanted, int count) {
    char text[400] = "";
    int right = served == count;
    for (int i = 0; i < served; i++) {
        sprintf(text + strlen(text), " %d", order[i]);
        right = right && order[i] == wanted[i];
    }
    CHECK(right, "woken in the order%s", text);
}

/* Priorities in the order of arrival, and who is to come when. */
enum { WAITERS = 6 };
static const int ARRIVALS[WAITERS] = {0, 10, 0, 30, 20, 40}, WANTED[WAITERS] = {5, 3, 4, 1, 0, 2};

static const struct way {
    const char *name;
    int all, held, other_classes, timed;
} WAYS[] = {
    {"signal", 0, 1, 0, 0},
    {"signal-after-unlock", 0, 0, 0, 0},
    {"signal-round-robin-and-batch", 0, 1, 1, 0},
    {"signal-timed", 0, 1, 0, 1},
    {"signals-at-once", 2, 1, 0, 0},
    {"broadcast", 1, 1, 0, 0},
    {"broadcast-after-unlock", 1, 0, 0, 0},
};

TEST_EACH(highest_first, WAYS) {
    const struct way *way = &WAYS[row];
    struct waiter waiters[WAITERS];
    prepare();
    timed = way->timed;
    for (int i = 0; i < WAITERS; i++) {
        struct waiter waiter = {i, ARRIVALS[i], way->other_classes, 0, 0};
        waiters[i] = waiter;
        start_waiter(&waiters[i]);
    }
    for (int i = 1; i <= WAITERS; i = way->all ? WAITERS + 1 : i + 1) {
        GIVES(pthread_mutex_lock(&M), 0);
        if (!way->held) GIVES(pthread_mutex_unlock(&M), 0);
        for (int j = 0; j < (way->all == 2 ? WAITERS : 1); j++)
            GIVES(way->all == 1 ? pthread_cond_broadcast(&C) : pthread_cond_signal(&C), 0);
        if (way->held) GIVES(pthread_mutex_unlock(&M), 0);
        AWAIT(read_under_mutex(&served) == (way->all ? WAITERS : i));
    }
    for (int i = 0; i < WAITERS; i++) END(waiters[i].thread);
    /* Those of the usual class run as the system likes once both are awake. */
    if (way->all && order[WAITERS - 2] == WANTED[WAITERS - 1] && order[WAITERS - 1] == WANTED[WAITERS - 2]) {
        order[WAITERS - 2] = WANTED[WAITERS - 2];
        order[WAITERS - 1] = WANTED[WAITERS - 1];
    }
    must_be(WANTED, WAITERS);
    GIVES(pthread_cond_destroy(&C), 0);
    GIVES(pthread_mutex_destroy(&M), 0);
}

/* One of the lowest priority comes after a crowd. */
TEST(passes_a_crowd) {
    enum { CROWD = 12 };
    struct waiter waiters[CROWD + 1];
    int wanted[CROWD + 1];
    prepare();
    for (int i = 0; i <= CROWD; i++) {
        struct waiter waiter = {i, i == CROWD, 0, 0, 0};
        waiters[i] = waiter;
        wanted[(i + 1) % (CROWD + 1)] = i;
        start_waiter(&waiters[i]);
    }
    for (int i = 1; i <= CROWD + 1; i++) {
        GIVES(pthread_cond_signal(&C), 0);
        AWAIT(read_under_mutex(&served) == i);
    }
    must_be(wanted, CROWD + 1);
    for (int i = 0; i <= CROWD; i++) END(waiters[i].thread);
}

/* The priority is that of the thread when it begins to wait. */
static int stage;

static void *waits_twice(void *argument) {
    struct sched_param lowest;
    memset(&lowest, 0, sizeof lowest);
    lowest.sched_priority = 1;
    waits(argument);
    GIVES(pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest), 0);
    UP(&stage);
    return waits(argument);
}

TEST(changes_between_waits) {
    struct waiter changes = {0, 0, 0, 0, 0}, second = {1, 0, 0, 0, 0}, third = {2, 2, 0, 0, 0};
    struct sched_param usual;
    prepare();
    memset(&usual, 0, sizeof usual);
    pthread_attr_t attributes;
    GIVES(pthread_attr_init(&attributes), 0);
    GIVES(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), 0);
    GIVES(pthread_attr_setschedpolicy(&attributes, SCHED_OTHER), 0);
    GIVES(pthread_attr_setschedparam(&attributes, &usual), 0);
    GIVES(pthread_create(&changes.thread, &attributes, waits_twice, &changes), 0);
    AWAIT(read_under_mutex(&arrived) == 1);
    GIVES(pthread_cond_signal(&C), 0);
    AWAIT(READ(&stage));
    AWAIT(read_under_mutex(&arrived) == 2);
    start_waiter(&second);
    start_waiter(&third);
    for (int i = 2; i <= 4; i++) {
        GIVES(pthread_cond_signal(&C), 0);
        AWAIT(read_under_mutex(&served) == i);
    }
    static const int wanted[] = {0, 2, 0, 1};
    must_be(wanted, 4);
    END(changes.thread);
    END(second.thread);
    END(third.thread);
}
