/* How threads wait for a reader-writer lock: asleep, without a trace once they have given up at a deadline, and the most urgent first. */
#define GROUP "rwlock_waits"
#include "../urgent.h"
#include <sys/resource.h>

static pthread_rwlock_t L;

static const struct way {
    const char *name;
    int reads;
    int kind;
} WAYS[] = {
    {"read/default", 1, PTHREAD_RWLOCK_PREFER_READER_NP},
    {"read/prefer-writer-nonrecursive", 1, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP},
    {"write/default", 0, PTHREAD_RWLOCK_PREFER_READER_NP},
    {"write/prefer-writer-nonrecursive", 0, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP},
};

static const struct way *way;

static void make_lock(int kind) {
    pthread_rwlockattr_t attributes;
    GIVES(pthread_rwlockattr_init(&attributes), 0);
    GIVES(pthread_rwlockattr_setkind_np(&attributes, kind), 0);
    GIVES(pthread_rwlock_init(&L, &attributes), 0);
}

/* How often the calling thread has given its CPU away by itself. */
static long sleeps_so_far(void) {
    struct rusage used;
    SETUP(getrusage(RUSAGE_THREAD, &used) == 0);
    return used.ru_nvcsw;
}

static int all_sleeps;

static void *gives_up(void *unused) {
    struct timespec later = in_ms(CLOCK_REALTIME, 1000);
    long before = sleeps_so_far();
    GIVES(way->reads ? pthread_rwlock_timedrdlock(&L, &later) : pthread_rwlock_timedwrlock(&L, &later), ETIMEDOUT);
    ADD(&all_sleeps, (int)(sleeps_so_far() - before));
    return unused;
}

/* A hundred threads wait for a second. Each sleeps until its deadline; arrivals and departures of others may wake somebody. Who tries again and
 * again sleeps a thousand times. */
TEST_EACH(waiters_with_a_deadline_sleep, WAYS) {
    pthread_t threads[100];
    way = &WAYS[row];
    make_lock(way->kind);
    GIVES(pthread_rwlock_wrlock(&L), 0);
    for (size_t i = 0; i < ROWS(threads); i++) threads[i] = START(gives_up, NULL);
    for (size_t i = 0; i < ROWS(threads); i++) END(threads[i]);
    CHECK(READ(&all_sleeps) <= 2000, "a hundred waiters went to sleep %d times in a second", READ(&all_sleeps));
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
}

static pid_t writer_tid;
static int writer_is_back, reads;

static void *tries_to_write(void *unused) {
    struct timespec later = in_ms(CLOCK_REALTIME, 300);
    PUT(&writer_tid, my_tid());
    GIVES(pthread_rwlock_timedwrlock(&L, &later), ETIMEDOUT);
    UP(&writer_is_back);
    return unused;
}

static void *reads_behind(void *unused) {
    GIVES(pthread_rwlock_rdlock(&L), 0);
    UP(&reads);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return unused;
}

/* A reader that waits behind a writer gets in beside readers once the writer has given up, and so does one that comes then. */
TEST(a_writer_that_gave_up_keeps_nobody_out) {
    make_lock(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    GIVES(pthread_rwlock_rdlock(&L), 0);
    pthread_t writer = START(tries_to_write, NULL);
    AWAIT(READ(&writer_is_back) || (READ(&writer_tid) != 0 && sleeps(READ(&writer_tid))));
    pthread_t behind = START(reads_behind, NULL);
    END(writer);
    AWAIT(READ(&reads) == 1);
    END(behind);
    END(START(reads_behind, NULL));
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
}

static int write_l(void) { return pthread_rwlock_wrlock(&L); }
static int unlock_l(void) { return pthread_rwlock_unlock(&L); }

static const struct kind {
    const char *name;
    int kind;
} KINDS[] = {
    {"default", PTHREAD_RWLOCK_PREFER_READER_NP},
    {"prefer-writer-nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP},
};

TEST_EACH(the_most_urgent_writer_is_next, KINDS) {
    make_lock(KINDS[row].kind);
    most_urgent_is_next(write_l, unlock_l);
}

TEST_EACH(urgent_threads_preempt_the_others, KINDS) {
    make_lock(KINDS[row].kind);
    urgent_ones_preempt_the_others(write_l, unlock_l);
}

static void *holds_for_a_while(void *unused) {
    GIVES(pthread_rwlock_wrlock(&L), 0);
    sleep_us(600000);
    GIVES(pthread_rwlock_unlock(&L), 0);
    return unused;
}

/* Who waits longer than a second may look around; nothing happens to the lock then. */
TEST_EACH(writers_wait_for_seconds, KINDS) {
    pthread_t threads[4];
    make_lock(KINDS[row].kind);
    GIVES(pthread_rwlock_wrlock(&L), 0);
    for (size_t i = 0; i < ROWS(threads); i++) threads[i] = START(holds_for_a_while, NULL);
    sleep_us(3000000);
    GIVES(pthread_rwlock_unlock(&L), 0);
    for (size_t i = 0; i < ROWS(threads); i++) END(threads[i]);
    GIVES(pthread_rwlock_trywrlock(&L), 0);
    GIVES(pthread_rwlock_unlock(&L), 0);
    GIVES(pthread_rwlock_tryrdlock(&L), 0);
    GIVES(pthread_rwlock_unlock(&L), 0);
}
