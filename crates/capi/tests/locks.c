/* Every lock: each function with each error, and that it excludes. Tables, as all locks offer the same. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "checks.h"

#include <stanchion_family.h>

#include <sched.h>
#include <sys/mman.h>

/* Mutexes: all types and their functions, as functions of any type. */

struct mutex {
    const char *name;
    size_t size;
    int (*lock)(void *);
    int (*trylock)(void *);
    int (*timedlock)(void *, const struct timespec *);
    int (*unlock)(void *);
    void *object;
    int relock; /* what locking it once more gives; -1: it would wait for ever */
    int strangers_unlock; /* what unlocking it gives while nobody holds it; -1: undefined */
};

#define EACH_UNCHECKED(X) X(mutex, 4) X(counted_mutex, 4) STANCHION_EACH_FAMILY(X)

#define DEFINE(name, bytes)                                                                                       \
    _Static_assert(sizeof(stanchion_##name##_t) == (bytes), "the size is part of the interface");                 \
    static stanchion_##name##_t name##_object;                                                                    \
    static int name##_lock(void *lock) { return stanchion_##name##_lock(lock); }                                  \
    static int name##_trylock(void *lock) { return stanchion_##name##_trylock(lock); }                            \
    static int name##_timedlock(void *lock, const struct timespec *at) {                                          \
        return stanchion_##name##_timedlock(lock, at);                                                            \
    }                                                                                                             \
    static int name##_unlock(void *lock) { return stanchion_##name##_unlock(lock); }
EACH_UNCHECKED(DEFINE)
DEFINE(checked_mutex, 16)

#define ROW(name, bytes, relock, strangers_unlock)                                                                \
    {#name, bytes, name##_lock, name##_trylock, name##_timedlock, name##_unlock, &name##_object, relock, strangers_unlock},
#define UNCHECKED(name, bytes) ROW(name, bytes, -1, -1)
static const struct mutex MUTEXES[] = {EACH_UNCHECKED(UNCHECKED) ROW(checked_mutex, 16, EDEADLK, EPERM)};

/* What one step does, what it must give, and how long it must take at least. */

enum what { LOCK, TRYLOCK, TIMEDLOCK, UNLOCK, RELOCK, RELOCK_TIMED, UNLOCK_AGAIN, STRANGERS_TRYLOCK, STRANGERS_UNLOCK };
enum when { NONE, NO_PLACE, CROOKED_PLACE, PAST, SOON, LATER, SECOND_OF_NANOS, LESS_THAN_NO_NANOS };
enum where { HERE, NOWHERE, CROOKED };

struct step {
    const char *says;
    enum what what;
    enum when when;
    enum where where;
    int want;
};

static const struct step MUTEX_STEPS[] = {
    {"lock when free", LOCK, NONE, HERE, 0},
    {"trylock when held", TRYLOCK, NONE, HERE, EBUSY},
    {"trylock of another thread when held", STRANGERS_TRYLOCK, NONE, HERE, EBUSY},
    {"lock of the holder", RELOCK, NONE, HERE, 0},
    {"timedlock of the holder", RELOCK_TIMED, SOON, HERE, 0},
    {"unlock of another thread", STRANGERS_UNLOCK, NONE, HERE, 0},
    {"unlock", UNLOCK, NONE, HERE, 0},
    {"unlock when free", UNLOCK_AGAIN, NONE, HERE, 0},
    {"trylock of another thread when free, who unlocks", STRANGERS_TRYLOCK, NONE, HERE, 0},
    {"trylock when free", TRYLOCK, NONE, HERE, 0},
    {"unlock after trylock", UNLOCK, NONE, HERE, 0},
    {"timedlock when free, deadline over", TIMEDLOCK, PAST, HERE, 0},
    {"trylock after timedlock", TRYLOCK, NONE, HERE, EBUSY},
    {"unlock after timedlock", UNLOCK, NONE, HERE, 0},
    {"timedlock when free, deadline ahead", TIMEDLOCK, LATER, HERE, 0},
    {"unlock after that", UNLOCK, NONE, HERE, 0},
    {"timedlock with a second of nanoseconds", TIMEDLOCK, SECOND_OF_NANOS, HERE, EINVAL},
    {"timedlock with less than no nanoseconds", TIMEDLOCK, LESS_THAN_NO_NANOS, HERE, EINVAL},
    {"timedlock with no deadline", TIMEDLOCK, NO_PLACE, HERE, EINVAL},
    {"timedlock with a misaligned deadline", TIMEDLOCK, CROOKED_PLACE, HERE, EINVAL},
    {"trylock after errors", TRYLOCK, NONE, HERE, 0},
    {"unlock after errors", UNLOCK, NONE, HERE, 0},
    {"lock of null", LOCK, NONE, NOWHERE, EINVAL},
    {"trylock of null", TRYLOCK, NONE, NOWHERE, EINVAL},
    {"timedlock of null", TIMEDLOCK, LATER, NOWHERE, EINVAL},
    {"unlock of null", UNLOCK, NONE, NOWHERE, EINVAL},
    {"lock of a misaligned address", LOCK, NONE, CROOKED, EINVAL},
    {"trylock of a misaligned address", TRYLOCK, NONE, CROOKED, EINVAL},
    {"timedlock of a misaligned address", TIMEDLOCK, LATER, CROOKED, EINVAL},
    {"unlock of a misaligned address", UNLOCK, NONE, CROOKED, EINVAL},
};

/* The deadline that a step wants, in `at`; what it wants to be called with. */
static const struct timespec *deadline(enum when when, struct timespec at[2]) {
    at[0] = in_ms(CLOCK_MONOTONIC, when == SOON ? 20 : when == LATER ? 60000 : 0);
    switch (when) {
    case NO_PLACE:
        return NULL;
    case CROOKED_PLACE:
        return (const struct timespec *)(const void *)((const char *)at + 1);
    case PAST:
        at[0].tv_sec = 1;
        break;
    case SECOND_OF_NANOS:
        at[0].tv_nsec = 1000000000;
        break;
    case LESS_THAN_NO_NANOS:
        at[0].tv_nsec = -1;
        break;
    default:
        break;
    }
    return at;
}

struct stranger {
    int (*first)(void *), (*then)(void *);
    void *object;
    int got;
};

static void *be_strange(void *argument) {
    struct stranger *stranger = argument;
    stranger->got = stranger->first(stranger->object);
    if (stranger->got == 0 && stranger->then != NULL) {
        stranger->then(stranger->object);
    }
    return NULL;
}

static int in_another_thread(int (*first)(void *), int (*then)(void *), void *object) {
    struct stranger stranger = {first, then, object, -1};
    pthread_t thread;
    start(&thread, be_strange, &stranger);
    pthread_join(thread, NULL);
    return stranger.got;
}

static char crooked[64];

static void *place_of(enum where where, void *here) {
    return where == HERE ? here : where == NOWHERE ? NULL : (void *)(crooked + (((size_t)crooked & 1) == 0));
}

static void step_mutex(const struct mutex *mutex, const struct step *step) {
    struct timespec at[2];
    const struct timespec *until = deadline(step->when, at);
    void *object = place_of(step->where, mutex->object);
    int want = step->want, got;
    errno = 77;
    switch (step->what) {
    case LOCK:
        got = mutex->lock(object);
        break;
    case TRYLOCK:
        got = mutex->trylock(object);
        break;
    case TIMEDLOCK:
        got = mutex->timedlock(object, until);
        break;
    case RELOCK: /* only a checked one can tell; the others would wait for ever */
        if (mutex->relock < 0) {
            return;
        }
        want = mutex->relock;
        got = mutex->lock(object);
        break;
    case RELOCK_TIMED: /* one that is not checked waits until the deadline */
        want = mutex->relock < 0 ? ETIMEDOUT : mutex->relock;
        got = mutex->timedlock(object, until);
        if (mutex->relock < 0) {
            expect(mutex->name, "whether the deadline is over after ETIMEDOUT", has_passed(CLOCK_MONOTONIC, *until), 1);
        }
        break;
    case STRANGERS_TRYLOCK:
        got = in_another_thread(mutex->trylock, mutex->unlock, object);
        break;
    case STRANGERS_UNLOCK:
    case UNLOCK_AGAIN:
        if (mutex->strangers_unlock < 0) {
            return;
        }
        want = mutex->strangers_unlock;
        got = step->what == UNLOCK_AGAIN ? mutex->unlock(object) : in_another_thread(mutex->unlock, NULL, object);
        break;
    default:
        got = mutex->unlock(object);
        break;
    }
    expect(mutex->name, step->says, got, want);
    expect(mutex->name, "errno, left alone", errno, 77);
}

/* Exclusion: threads that add to a number that is no atomic. */

enum { THREADS = 3, ROUNDS = 200 };

struct adding {
    const struct mutex *mutex;
    pthread_barrier_t all_are_here;
    volatile long number;
};

static void *add(void *argument) {
    struct adding *adding = argument;
    const struct mutex *mutex = adding->mutex;
    pthread_barrier_wait(&adding->all_are_here);
    for (int round = 0; round < ROUNDS; round++) {
        const struct timespec at = in_ms(CLOCK_MONOTONIC, 1000);
        const int way = round % 3;
        if (way == 0 || (way == 1 && mutex->trylock(mutex->object) != 0) ||
            (way == 2 && mutex->timedlock(mutex->object, &at) != 0)) {
            mutex->lock(mutex->object);
        }
        const long seen = adding->number;
        if (round % 8 == 0) {
            sched_yield(); /* let others do what they may do */
        }
        adding->number = seen + 1;
        mutex->unlock(mutex->object);
    }
    return NULL;
}

static void check_exclusion(const struct mutex *mutex) {
    struct adding adding = {.mutex = mutex};
    pthread_t threads[THREADS];
    pthread_barrier_init(&adding.all_are_here, NULL, THREADS);
    for (int at = 0; at < THREADS; at++) {
        start(&threads[at], add, &adding);
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
    }
    pthread_barrier_destroy(&adding.all_are_here);
    expect(mutex->name, "what all threads added", adding.number, (long)THREADS * ROUNDS);
}

/* A timedlock that is granted because the holder releases in time. */

struct holding {
    const struct mutex *mutex;
    pthread_barrier_t held;
};

static void *hold_for_a_while(void *argument) {
    struct holding *holding = argument;
    const struct timespec pause = {0, 30000000};
    holding->mutex->lock(holding->mutex->object);
    pthread_barrier_wait(&holding->held);
    nanosleep(&pause, NULL);
    holding->mutex->unlock(holding->mutex->object);
    return NULL;
}

static void check_granted_in_time(const struct mutex *mutex) {
    struct holding holding = {.mutex = mutex};
    const struct timespec at = in_ms(CLOCK_MONOTONIC, 60000);
    pthread_t thread;
    pthread_barrier_init(&holding.held, NULL, 2);
    start(&thread, hold_for_a_while, &holding);
    pthread_barrier_wait(&holding.held);
    expect(mutex->name, "timedlock, released in time", mutex->timedlock(mutex->object, &at), 0);
    expect(mutex->name, "unlock after that", mutex->unlock(mutex->object), 0);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&holding.held);
}

/* Destruction: whoever locks it last gives its memory back, and nobody looks there on the way out of unlock. */

struct going {
    const struct mutex *mutex;
    pthread_barrier_t ready;
    struct page {
        uint64_t words[2]; /* the lock */
        int users;
    } *page;
    long left;
};

enum { GOINGS = 300 };

static void *go(void *argument) {
    struct going *going = argument;
    for (int round = 0; round < GOINGS; round++) {
        pthread_barrier_wait(&going->ready);
        struct page *page = going->page;
        going->mutex->lock(page->words);
        const int left = --page->users;
        going->mutex->unlock(page->words);
        if (left == 0) {
            munmap(page, sizeof *page);
            going->left += 1;
        }
        pthread_barrier_wait(&going->ready);
    }
    return NULL;
}

static void check_destruction(const struct mutex *mutex) {
    struct going going = {.mutex = mutex};
    pthread_t threads[2];
    pthread_barrier_init(&going.ready, NULL, 3);
    for (int at = 0; at < 2; at++) {
        start(&threads[at], go, &going);
    }
    for (int round = 0; round < GOINGS; round++) {
        going.page = mmap(NULL, sizeof *going.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (going.page == MAP_FAILED) {
            printf("FAILED to get memory\n");
            exit(2);
        }
        going.page->users = 2;
        pthread_barrier_wait(&going.ready);
        pthread_barrier_wait(&going.ready);
    }
    for (int at = 0; at < 2; at++) {
        pthread_join(threads[at], NULL);
    }
    expect(mutex->name, "how often its memory was given back", going.left, GOINGS);
    pthread_barrier_destroy(&going.ready);
}

int main(void) {
    begin();
    for (size_t which = 0; which < sizeof MUTEXES / sizeof *MUTEXES; which++) {
        const struct mutex *mutex = &MUTEXES[which];
        for (size_t at = 0; at < sizeof MUTEX_STEPS / sizeof *MUTEX_STEPS; at++) {
            step_mutex(mutex, &MUTEX_STEPS[at]);
        }
        check_exclusion(mutex);
        check_granted_in_time(mutex);
        if (strstr(mutex->name, "mutex") != NULL || strcmp(mutex->name, "pv_qspin") == 0) {
            check_destruction(mutex);
        }
    }
    return sum_up("locks");
}
