/* Every kind of mutex, however it is made: lock, trylock, unlock, destroy. */
#define GROUP "mutex"
#include "../kinds.h"

TEST_EACH(lock_unlock_again, KINDS) {
    pthread_mutex_t mutex;
    make_mutex(&mutex, &KINDS[row]);
    for (int i = 0; i < 3; i++) {
        GIVES(pthread_mutex_lock(&mutex), 0);
        GIVES(pthread_mutex_unlock(&mutex), 0);
        GIVES(pthread_mutex_trylock(&mutex), 0);
        GIVES(pthread_mutex_unlock(&mutex), 0);
        GIVES(ELSEWHERE(lock_unlock, &mutex), 0);
        GIVES(ELSEWHERE(trylock_unlock, &mutex), 0);
    }
    GIVES(pthread_mutex_destroy(&mutex), 0);
}

TEST_EACH(trylock_elsewhere_is_busy, KINDS) {
    pthread_mutex_t mutex;
    make_mutex(&mutex, &KINDS[row]);
    GIVES(pthread_mutex_lock(&mutex), 0);
    GIVES(ELSEWHERE(trylock, &mutex), EBUSY);
    GIVES(pthread_mutex_unlock(&mutex), 0);
    GIVES(pthread_mutex_trylock(&mutex), 0);
    GIVES(ELSEWHERE(trylock, &mutex), EBUSY);
    GIVES(pthread_mutex_unlock(&mutex), 0);
    GIVES(ELSEWHERE(trylock_unlock, &mutex), 0);
}

static pthread_mutex_t M;
static int about_to, inside;

static void *locks_M(void *unused) {
    (void)unused;
    UP(&about_to);
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&inside);
    GIVES(pthread_mutex_unlock(&M), 0);
    return NULL;
}

TEST_EACH(lock_elsewhere_waits, KINDS) {
    make_mutex(&M, &KINDS[row]);
    GIVES(pthread_mutex_lock(&M), 0);
    pthread_t other = START(locks_M, NULL);
    AWAIT(READ(&about_to));
    settle();
    CHECK(!READ(&inside), "another thread got in while the mutex was held");
    GIVES(pthread_mutex_unlock(&M), 0);
    END(other);
    CHECK(READ(&inside), "the other thread never got in");
    GIVES(pthread_mutex_destroy(&M), 0);
}

static long counter;
static int rounds;

static void *counts(void *unused) {
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        long seen = counter;
        if (i % 256 == 0) sched_yield();
        counter = seen + 1;
        GIVES(pthread_mutex_unlock(&M), 0);
    }
    return NULL;
}

TEST_EACH(excludes, KINDS) {
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    make_mutex(&M, &KINDS[row]);
    rounds = KINDS[row].protocol == PTHREAD_PRIO_NONE ? 8000 : 500; /* the others call the kernel each time */
    for (int i = 0; i < THREADS; i++) threads[i] = START(counts, NULL);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
    CHECK(counter == (long)THREADS * rounds, "%d threads counted to %ld, not to %ld", THREADS, counter, (long)THREADS * rounds);
    GIVES(pthread_mutex_destroy(&M), 0);
}

TEST_EACH(trylock_by_the_owner, KINDS) {
    pthread_mutex_t mutex;
    make_mutex(&mutex, &KINDS[row]);
    int recursive = KINDS[row].type == PTHREAD_MUTEX_RECURSIVE;
    GIVES(pthread_mutex_lock(&mutex), 0);
    int code = pthread_mutex_trylock(&mutex);
    /* glibc says EDEADLK for these two, POSIX knows EBUSY only. */
    int says_more = KINDS[row].type == PTHREAD_MUTEX_ERRORCHECK && (KINDS[row].robust || KINDS[row].protocol != PTHREAD_PRIO_NONE);
    if (!(says_more && code == EDEADLK)) GIVES(code, recursive ? 0 : EBUSY);
    if (recursive) GIVES(pthread_mutex_unlock(&mutex), 0);
    GIVES(ELSEWHERE(trylock, &mutex), EBUSY);
    GIVES(pthread_mutex_unlock(&mutex), 0);
    GIVES(ELSEWHERE(trylock_unlock, &mutex), 0);
}

static int wait_for_itself_ended;

static void *waits_for_itself_body(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(&M), 0);
    UP(&about_to);
    pthread_mutex_lock(&M);
    UP(&wait_for_itself_ended);
    return NULL;
}

TEST_EACH(lock_by_the_owner, KINDS) {
    make_mutex(&M, &KINDS[row]);
    if (waits_for_itself(&KINDS[row])) {
        START(waits_for_itself_body, NULL);
        AWAIT(READ(&about_to));
        settle();
        CHECK(!READ(&wait_for_itself_ended), "the owner got the mutex again");
        GIVES(pthread_mutex_trylock(&M), EBUSY);
        return; /* the thread waits until the process exits */
    }
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_mutex_lock(&M), KINDS[row].type == PTHREAD_MUTEX_RECURSIVE ? 0 : EDEADLK);
    GIVES(ELSEWHERE(trylock, &M), EBUSY);
    GIVES(pthread_mutex_unlock(&M), 0);
    GIVES(ELSEWHERE(trylock_unlock, &M), KINDS[row].type == PTHREAD_MUTEX_RECURSIVE ? EBUSY : 0);
}

TEST_EACH(recursion_is_counted, KINDS) {
    enum { DEPTH = 100 };
    pthread_mutex_t mutex;
    make_mutex(&mutex, &KINDS[row]);
    if (KINDS[row].type != PTHREAD_MUTEX_RECURSIVE) SKIP("not a recursive kind");
    for (int i = 0; i < DEPTH; i++) {
        struct timespec soon = in_ms(CLOCK_REALTIME, 20000);
        struct timespec soon_monotonic = in_ms(CLOCK_MONOTONIC, 20000);
        switch (i % 4) {
        case 0: GIVES(pthread_mutex_lock(&mutex), 0); break;
        case 1: GIVES(pthread_mutex_trylock(&mutex), 0); break;
        case 2: GIVES(pthread_mutex_timedlock(&mutex, &soon), 0); break;
        default: GIVES(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon_monotonic), 0);
        }
    }
    for (int i = 0; i < DEPTH; i++) {
        if (i % 10 == 0 || i == DEPTH - 1) GIVES(ELSEWHERE(trylock, &mutex), EBUSY);
        GIVES(pthread_mutex_unlock(&mutex), 0);
    }
    GIVES(ELSEWHERE(trylock_unlock, &mutex), 0);
    GIVES(pthread_mutex_unlock(&mutex), EPERM);
    GIVES(pthread_mutex_destroy(&mutex), 0);
}

/* Checking, recursive and robust kinds refuse it. For the others POSIX leaves it open; in glibc anybody may unlock, and
 * programs rely on it. Priority kinds are left out where POSIX leaves it open: the kernel minds the owner. */
TEST_EACH(unlock_elsewhere, KINDS) {
    const struct kind *kind = &KINDS[row];
    pthread_mutex_t mutex;
    make_mutex(&mutex, kind);
    GIVES(pthread_mutex_lock(&mutex), 0);
    if (!waits_for_itself(kind) || kind->robust) {
        GIVES(ELSEWHERE(unlock, &mutex), EPERM);
        GIVES(ELSEWHERE(trylock, &mutex), EBUSY);
        GIVES(pthread_mutex_unlock(&mutex), 0);
        GIVES(pthread_mutex_unlock(&mutex), EPERM);
        GIVES(ELSEWHERE(unlock, &mutex), EPERM);
    } else if (kind->protocol != PTHREAD_PRIO_NONE) {
        SKIP("undefined for this kind");
    } else {
        GIVES(ELSEWHERE(unlock, &mutex), 0);
    }
    GIVES(ELSEWHERE(trylock_unlock, &mutex), 0);
    GIVES(pthread_mutex_destroy(&mutex), 0);
}

TEST_EACH(destroy_of_a_held_one_is_busy, KINDS) {
    pthread_mutex_t mutex;
    make_mutex(&mutex, &KINDS[row]);
    if (KINDS[row].robust) SKIP("glibc does not look at robust kinds");
    GIVES(pthread_mutex_lock(&mutex), 0);
    GIVES(pthread_mutex_destroy(&mutex), EBUSY);
    GIVES(ELSEWHERE(trylock, &mutex), EBUSY);
    GIVES(pthread_mutex_unlock(&mutex), 0);
    GIVES(pthread_mutex_destroy(&mutex), 0);
}

TEST_EACH(init_after_destroy, KINDS) {
    pthread_mutex_t mutex;
    for (int i = 0; i < 3; i++) {
        make_mutex(&mutex, &KINDS[(row + (size_t)i) % ROWS(KINDS)]);
        GIVES(pthread_mutex_lock(&mutex), 0);
        GIVES(ELSEWHERE(trylock, &mutex), EBUSY);
        GIVES(pthread_mutex_unlock(&mutex), 0);
        GIVES(pthread_mutex_destroy(&mutex), 0);
    }
}

/* Programs build objects with a mutex in a template and copy them, as long as nobody has used it. */
TEST_EACH(copied_before_first_use, KINDS) {
    struct {
        char before[3];
        pthread_mutex_t mutex;
    } template_object, copy;
    make_mutex(&template_object.mutex, &KINDS[row]);
    memcpy(&copy, &template_object, sizeof copy);
    memset(&template_object, 0xff, sizeof template_object);
    GIVES(pthread_mutex_lock(&copy.mutex), 0);
    GIVES(ELSEWHERE(trylock, &copy.mutex), EBUSY);
    GIVES(pthread_mutex_unlock(&copy.mutex), 0);
    GIVES(ELSEWHERE(trylock_unlock, &copy.mutex), 0);
}

/* A thread that waited and is gone leaves nothing behind: its stack is used again by the next. */
TEST_EACH(waiters_come_and_go, KINDS) {
    make_mutex(&M, &KINDS[row]);
    for (int i = 0; i < 30; i++) {
        GIVES(pthread_mutex_lock(&M), 0);
        PUT(&about_to, 0);
        pthread_t other = START(locks_M, NULL);
        AWAIT(READ(&about_to));
        GIVES(pthread_mutex_unlock(&M), 0);
        END(other);
    }
    GIVES(pthread_mutex_destroy(&M), 0);
}
