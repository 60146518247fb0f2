/* Both reader-writer locks: each function with each error, who may be in together, and that writers are alone. */
#include "checks.h"

#include <sched.h>

struct rwlock {
    const char *name;
    int (*rdlock)(void *), (*tryrdlock)(void *), (*timedrdlock)(void *, const struct timespec *);
    int (*wrlock)(void *), (*trywrlock)(void *), (*timedwrlock)(void *, const struct timespec *);
    int (*rdunlock)(void *), (*wrunlock)(void *), (*downgrade)(void *);
    void *object;
};

#define EACH_LOCK(X) X(rwlock, 12) X(percpu_rwlock, 40)

#define DEFINE(name, bytes)                                                                                       \
    _Static_assert(sizeof(stanchion_##name##_t) == (bytes), "the size is part of the interface");                 \
    static int name##_rdlock(void *lock) { return stanchion_##name##_rdlock(lock); }                              \
    static int name##_tryrdlock(void *lock) { return stanchion_##name##_tryrdlock(lock); }                        \
    static int name##_timedrdlock(void *lock, const struct timespec *at) {                                        \
        return stanchion_##name##_timedrdlock(lock, at);                                                          \
    }                                                                                                             \
    static int name##_wrlock(void *lock) { return stanchion_##name##_wrlock(lock); }                              \
    static int name##_trywrlock(void *lock) { return stanchion_##name##_trywrlock(lock); }                        \
    static int name##_timedwrlock(void *lock, const struct timespec *at) {                                        \
        return stanchion_##name##_timedwrlock(lock, at);                                                          \
    }                                                                                                             \
    static int name##_rdunlock(void *lock) { return stanchion_##name##_rdunlock(lock); }                          \
    static int name##_wrunlock(void *lock) { return stanchion_##name##_wrunlock(lock); }                          \
    static int name##_downgrade(void *lock) { return stanchion_##name##_downgrade(lock); }
EACH_LOCK(DEFINE)
_Static_assert(sizeof(stanchion_class_t) == 24, "the size is part of the interface");

static stanchion_class_t a_class = STANCHION_CLASS_INIT;
static stanchion_rwlock_t queued = STANCHION_RWLOCK_INIT;
static stanchion_percpu_rwlock_t common = STANCHION_PERCPU_RWLOCK_INIT;
static stanchion_percpu_rwlock_t of_a_class = STANCHION_PERCPU_RWLOCK_INIT_IN(&a_class);
static stanchion_percpu_rwlock_t another_of_it = STANCHION_PERCPU_RWLOCK_INIT_IN(&a_class);

#define ROW(says, name, object)                                                                                   \
    {says, name##_rdlock, name##_tryrdlock, name##_timedrdlock, name##_wrlock, name##_trywrlock,                   \
     name##_timedwrlock, name##_rdunlock, name##_wrunlock, name##_downgrade, object}

static const struct rwlock LOCKS[] = {
    ROW("rwlock", rwlock, &queued),
    ROW("percpu_rwlock", percpu_rwlock, &common),
    ROW("percpu_rwlock of a class", percpu_rwlock, &of_a_class),
};

enum what { RD, TRYRD, TIMEDRD, WR, TRYWR, TIMEDWR, RDUN, WRUN, DOWN };
enum who { SELF, OTHER };
enum when { NONE, NO_PLACE, PAST, SOON, LATER, SECOND_OF_NANOS };

struct step {
    const char *says;
    enum what what;
    enum who who; /* another thread gives up at once what it was granted */
    enum when when;
    int want;
};

static const struct step STEPS[] = {
    {"rdlock when free", RD, SELF, NONE, 0},
    {"tryrdlock of another thread while read", TRYRD, OTHER, NONE, 0},
    {"timedrdlock of another thread while read", TIMEDRD, OTHER, PAST, 0},
    {"trywrlock of another thread while read", TRYWR, OTHER, NONE, EBUSY},
    {"timedwrlock of another thread while read", TIMEDWR, OTHER, SOON, ETIMEDOUT},
    {"timedwrlock of another thread while read, deadline over", TIMEDWR, OTHER, PAST, ETIMEDOUT},
    {"tryrdlock of a reader", TRYRD, SELF, NONE, 0},
    {"rdunlock of one of two", RDUN, SELF, NONE, 0},
    {"trywrlock of another thread while read once", TRYWR, OTHER, NONE, EBUSY},
    {"rdunlock of the last", RDUN, SELF, NONE, 0},
    {"trywrlock of another thread when free", TRYWR, OTHER, NONE, 0},
    {"wrlock when free", WR, SELF, NONE, 0},
    {"tryrdlock of another thread while written", TRYRD, OTHER, NONE, EBUSY},
    {"timedrdlock of another thread while written", TIMEDRD, OTHER, SOON, ETIMEDOUT},
    {"trywrlock of another thread while written", TRYWR, OTHER, NONE, EBUSY},
    {"timedwrlock of another thread while written", TIMEDWR, OTHER, SOON, ETIMEDOUT},
    {"downgrade", DOWN, SELF, NONE, 0},
    {"tryrdlock of another thread after downgrade", TRYRD, OTHER, NONE, 0},
    {"trywrlock of another thread after downgrade", TRYWR, OTHER, NONE, EBUSY},
    {"rdunlock after downgrade", RDUN, SELF, NONE, 0},
    {"trywrlock when free", TRYWR, SELF, NONE, 0},
    {"tryrdlock of another thread after trywrlock", TRYRD, OTHER, NONE, EBUSY},
    {"wrunlock after trywrlock", WRUN, SELF, NONE, 0},
    {"timedwrlock when free, deadline over", TIMEDWR, SELF, PAST, 0},
    {"trywrlock of another thread after timedwrlock", TRYWR, OTHER, NONE, EBUSY},
    {"wrunlock after timedwrlock", WRUN, SELF, NONE, 0},
    {"timedrdlock when free", TIMEDRD, SELF, LATER, 0},
    {"rdunlock after timedrdlock", RDUN, SELF, NONE, 0},
    {"timedrdlock with a second of nanoseconds", TIMEDRD, SELF, SECOND_OF_NANOS, EINVAL},
    {"timedwrlock with a second of nanoseconds", TIMEDWR, SELF, SECOND_OF_NANOS, EINVAL},
    {"timedrdlock with no deadline", TIMEDRD, SELF, NO_PLACE, EINVAL},
    {"timedwrlock with no deadline", TIMEDWR, SELF, NO_PLACE, EINVAL},
    {"trywrlock of another thread in the end", TRYWR, OTHER, NONE, 0},
};

struct call {
    const struct rwlock *lock;
    const struct step *step;
    int got;
};

static int perform(const struct rwlock *lock, void *object, const struct step *step) {
    struct timespec at = in_ms(CLOCK_MONOTONIC, step->when == SOON ? 20 : step->when == LATER ? 60000 : 0);
    const struct timespec *until = step->when == NO_PLACE ? NULL : &at;
    int got = -1;
    if (step->when == PAST) {
        at.tv_sec = 1;
    } else if (step->when == SECOND_OF_NANOS) {
        at.tv_nsec = 1000000000;
    }
    switch (step->what) {
    case RD: return lock->rdlock(object);
    case TRYRD: return lock->tryrdlock(object);
    case WR: return lock->wrlock(object);
    case TRYWR: return lock->trywrlock(object);
    case RDUN: return lock->rdunlock(object);
    case WRUN: return lock->wrunlock(object);
    case DOWN: return lock->downgrade(object);
    case TIMEDRD: got = lock->timedrdlock(object, until); break;
    case TIMEDWR: got = lock->timedwrlock(object, until); break;
    }
    if (got == ETIMEDOUT) {
        expect(lock->name, "whether the deadline is over after ETIMEDOUT", has_passed(CLOCK_MONOTONIC, at), 1);
    }
    return got;
}

static void *be_other(void *argument) {
    struct call *call = argument;
    const struct rwlock *lock = call->lock;
    const enum what what = call->step->what;
    call->got = perform(lock, lock->object, call->step);
    if (call->got == 0) {
        (what == TRYRD || what == TIMEDRD ? lock->rdunlock : lock->wrunlock)(lock->object);
    }
    return NULL;
}

static void step_lock(const struct rwlock *lock, const struct step *step) {
    struct call call = {lock, step, -1};
    if (step->who == OTHER) {
        pthread_t thread;
        start(&thread, be_other, &call);
        pthread_join(thread, NULL);
    } else {
        call.got = perform(lock, lock->object, step);
    }
    expect(lock->name, step->says, call.got, step->want);
}

/* No function takes a place where no lock can be. */
static void check_places(const struct rwlock *lock) {
    static char bytes[64];
    for (int what = RD; what <= DOWN; what++) {
        const struct step step = {"", (enum what)what, SELF, LATER, EINVAL};
        expect(lock->name, "a function, called with null", perform(lock, NULL, &step), EINVAL);
        expect(lock->name, "a function, called with a misaligned address",
               perform(lock, bytes + (((size_t)bytes & 1) == 0), &step), EINVAL);
    }
}

/* One more read lock than can be counted. */
static void check_overflow(const struct rwlock *lock, long most) {
    for (long at = 0; at < most; at++) {
        if (lock->rdlock(lock->object) != 0) {
            expect(lock->name, "how many read locks could be taken", at, most);
            exit(sum_up("rwlocks"));
        }
    }
    expect(lock->name, "rdlock, one more than can be counted", lock->rdlock(lock->object), EAGAIN);
    expect(lock->name, "tryrdlock, one more than can be counted", lock->tryrdlock(lock->object), EBUSY);
    for (long at = 0; at < most; at++) {
        lock->rdunlock(lock->object);
    }
    expect(lock->name, "trywrlock after that", lock->trywrlock(lock->object), 0);
    expect(lock->name, "wrunlock after that", lock->wrunlock(lock->object), 0);
}

/* Two locks of one class, held at the same time and given up in the order in which they were acquired. */
static void check_two_of_a_class(void) {
    expect("two of a class", "rdlock of one", stanchion_percpu_rwlock_rdlock(&of_a_class), 0);
    expect("two of a class", "rdlock of the other", stanchion_percpu_rwlock_rdlock(&another_of_it), 0);
    expect("two of a class", "trywrlock of one", stanchion_percpu_rwlock_trywrlock(&of_a_class), EBUSY);
    expect("two of a class", "trywrlock of the other", stanchion_percpu_rwlock_trywrlock(&another_of_it), EBUSY);
    expect("two of a class", "rdunlock of one", stanchion_percpu_rwlock_rdunlock(&of_a_class), 0);
    expect("two of a class", "trywrlock of it", stanchion_percpu_rwlock_trywrlock(&of_a_class), 0);
    expect("two of a class", "wrunlock of it", stanchion_percpu_rwlock_wrunlock(&of_a_class), 0);
    expect("two of a class", "rdunlock of the other", stanchion_percpu_rwlock_rdunlock(&another_of_it), 0);
    expect("two of a class", "trywrlock of it", stanchion_percpu_rwlock_trywrlock(&another_of_it), 0);
    expect("two of a class", "wrunlock of it", stanchion_percpu_rwlock_wrunlock(&another_of_it), 0);
}

static void check_misaligned_class(void) {
    stanchion_percpu_rwlock_t lock = STANCHION_PERCPU_RWLOCK_INIT_IN((stanchion_class_t *)(void *)((char *)&a_class + 1));
    expect("percpu_rwlock", "rdlock with a misaligned class", stanchion_percpu_rwlock_rdlock(&lock), EINVAL);
    expect("percpu_rwlock", "wrlock with a misaligned class", stanchion_percpu_rwlock_wrlock(&lock), EINVAL);
}

/* Two numbers that writers keep equal, and readers compare. */

enum { WRITERS = 2, READERS = 4, ROUNDS = 2000 };

struct pair {
    const struct rwlock *lock;
    volatile long one, other;
    long differed;
    pthread_barrier_t all_are_here;
};

static void *write_pairs(void *argument) {
    struct pair *pair = argument;
    pthread_barrier_wait(&pair->all_are_here);
    for (int round = 0; round < ROUNDS; round++) {
        pair->lock->wrlock(pair->lock->object);
        pair->one = pair->one + 1;
        if (round % 8 == 0) {
            sched_yield(); /* let others see the half of it, if they can */
        }
        pair->other = pair->other + 1;
        if (round % 4 == 0) {
            const long seen = pair->one;
            pair->lock->downgrade(pair->lock->object);
            if (pair->one != seen) {
                __atomic_fetch_add(&pair->differed, 1, __ATOMIC_RELAXED);
            }
            pair->lock->rdunlock(pair->lock->object);
        } else {
            pair->lock->wrunlock(pair->lock->object);
        }
    }
    return NULL;
}

static void *read_pairs(void *argument) {
    struct pair *pair = argument;
    pthread_barrier_wait(&pair->all_are_here);
    for (int round = 0; round < ROUNDS; round++) {
        pair->lock->rdlock(pair->lock->object);
        if (pair->one != pair->other) {
            __atomic_fetch_add(&pair->differed, 1, __ATOMIC_RELAXED);
        }
        pair->lock->rdunlock(pair->lock->object);
    }
    return NULL;
}

static void check_exclusion(const struct rwlock *lock) {
    struct pair pair = {.lock = lock};
    pthread_t threads[WRITERS + READERS];
    pthread_barrier_init(&pair.all_are_here, NULL, WRITERS + READERS);
    for (int at = 0; at < WRITERS + READERS; at++) {
        start(&threads[at], at < WRITERS ? write_pairs : read_pairs, &pair);
    }
    for (int at = 0; at < WRITERS + READERS; at++) {
        pthread_join(threads[at], NULL);
    }
    pthread_barrier_destroy(&pair.all_are_here);
    expect(lock->name, "how often a reader saw a writer's half", pair.differed, 0);
    expect(lock->name, "what all writers wrote", pair.one, (long)WRITERS * ROUNDS);
}

/* Who has to wait does not get in before the holder leaves. */

struct waiter {
    const struct rwlock *lock;
    int (*acquire)(void *), (*release)(void *);
    int asks, is_in;
};

static void *gets_in(void *argument) {
    struct waiter *waiter = argument;
    __atomic_store_n(&waiter->asks, 1, __ATOMIC_RELEASE);
    waiter->acquire(waiter->lock->object);
    __atomic_store_n(&waiter->is_in, 1, __ATOMIC_RELEASE);
    waiter->release(waiter->lock->object);
    return NULL;
}

static void check_waiting(const struct rwlock *lock, const char *says, int reads_first, int writes_then) {
    struct waiter waiter = {.lock = lock,
                            .acquire = writes_then ? lock->wrlock : lock->rdlock,
                            .release = writes_then ? lock->wrunlock : lock->rdunlock};
    const struct timespec a_while = {.tv_nsec = 20000000};
    pthread_t thread;
    (reads_first ? lock->rdlock : lock->wrlock)(lock->object);
    start(&thread, gets_in, &waiter);
    while (!__atomic_load_n(&waiter.asks, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    nanosleep(&a_while, NULL);
    expect(lock->name, says, __atomic_load_n(&waiter.is_in, __ATOMIC_ACQUIRE), 0);
    (reads_first ? lock->rdunlock : lock->wrunlock)(lock->object);
    pthread_join(thread, NULL);
    expect(lock->name, "whether who waited got in", waiter.is_in, 1);
}

int main(void) {
    begin();
    for (size_t which = 0; which < sizeof LOCKS / sizeof *LOCKS; which++) {
        const struct rwlock *lock = &LOCKS[which];
        for (size_t at = 0; at < sizeof STEPS / sizeof *STEPS; at++) {
            step_lock(lock, &STEPS[at]);
        }
        check_places(lock);
        check_waiting(lock, "whether a writer is in beside a reader", 1, 1);
        check_waiting(lock, "whether a writer is in beside a writer", 0, 1);
        check_waiting(lock, "whether a reader is in beside a writer", 0, 0);
        check_exclusion(lock);
    }
    check_overflow(&LOCKS[0], 16384);
    check_overflow(&LOCKS[2], 65536);
    check_two_of_a_class();
    check_misaligned_class();
    return sum_up("rwlocks");
}
