/* One object, and two libraries: what a program calls by name is the preloaded library's, but a library that is opened with RTLD_DEEPBIND or
 * dlmopen, and whoever looks a function up in libc itself, has libc's. A preloaded library may say that this does not go, and end the process or
 * give an error. It must not hang, nor let in two at a time without a word. */
#define GROUP "two"
#include "../two_ways.h"

#define EACH_WAY_TO(prefix, ...)                                                                                               \
    {"handle-" prefix, by_handle, {"", __VA_ARGS__}}, {"deepbind-" prefix, by_deepbind, {"", __VA_ARGS__}},                    \
        {"dlmopen-" prefix, by_dlmopen, {"", __VA_ARGS__}}
#define EACH_WAY(prefix, type, made) EACH_WAY_TO(prefix, type, made, 0, PTHREAD_PRIO_NONE, 0)
/* Those that a library may leave to libc from the beginning. */
#define EACH_WAY_TO_SPECIAL(prefix, type, robust, protocol, shared)                                                            \
    EACH_WAY_TO(prefix, type, BY_ATTRIBUTES, robust, protocol, shared)

static const struct way {
    const char *name;
    void (*get)(void);
    struct kind kind;
} WAYS[] = {
    EACH_WAY("normal", PTHREAD_MUTEX_NORMAL, BY_ATTRIBUTES),       EACH_WAY("static", PTHREAD_MUTEX_NORMAL, STATICALLY),
    EACH_WAY("recursive", PTHREAD_MUTEX_RECURSIVE, BY_ATTRIBUTES), EACH_WAY("errorcheck", PTHREAD_MUTEX_ERRORCHECK, BY_ATTRIBUTES),
    EACH_WAY("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, STATICALLY),
    EACH_WAY_TO_SPECIAL("robust", PTHREAD_MUTEX_RECURSIVE, 1, PTHREAD_PRIO_NONE, 0),
    EACH_WAY_TO_SPECIAL("inherit", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_INHERIT, 0),
    EACH_WAY_TO_SPECIAL("shared", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 1),
};

static pthread_mutex_t M;

static const struct way *begin(const char *test, size_t row) {
    in_a_process(test, WAYS[row].name);
    WAYS[row].get();
    make_mutex(&M, &WAYS[row].kind);
    return &WAYS[row];
}

/* ---- Mutexes ----------------------------------------------------------------------------------- */

static long counter;
static int inside, met;

/* Two who come at the very same moment may both get in for once, if the process hears of it when one of them unlocks. */
static void must_be_told(void) { CHECK(!READ(&met), "two held it at a time, and nobody said so"); }

static void *counts(void *argument) {
    const struct functions *functions = ANY(const struct functions, argument);
    for (int i = 0; i < 3000; i++) {
        WORKS(functions->pthread_mutex_lock(&M));
        if (ADD(&inside, 1) != 1) UP(&met);
        long seen = counter;
        if (i % 16 == 0) sched_yield();
        counter = seen + 1;
        ADD(&inside, -1);
        WORKS(functions->pthread_mutex_unlock(&M));
    }
    return NULL;
}

/* Some threads go one way, some the other. */
TEST_EACH(excludes, WAYS) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    begin("excludes", row);
    for (int i = 0; i < THREADS; i++) threads[i] = START(counts, (void *)(i % 2 ? &by_name : &other));
    for (int i = 0; i < THREADS; i++) END(threads[i]);
    must_be_told();
    CHECK(counter == 3000L * THREADS, "counted to %ld, not to %ld", counter, 3000L * THREADS);
}

/* The library takes it when the program does not have it, for a long time, and then both want it at a time. */
TEST_EACH(excludes_after_turns, WAYS) {
    begin("excludes_after_turns", row);
    for (int i = 0; i < 200; i++) {
        const struct functions *functions = i / 3 % 2 ? &by_name : &other;
        WORKS(functions->pthread_mutex_lock(&M));
        WORKS(functions->pthread_mutex_unlock(&M));
    }
    pthread_t first = START(counts, (void *)&by_name), second = START(counts, (void *)&other);
    END(first);
    END(second);
    must_be_told();
    CHECK(counter == 6000, "counted to %ld, not to 6000", counter);
}

/* A call that another thread makes, and that may have to wait. */
static struct call {
    int (*call)(pthread_mutex_t *);
    int (*undo)(pthread_mutex_t *);
    int begun, done;
} calls[2];

static void *performs(void *argument) {
    struct call *call = ANY(struct call, argument);
    UP(&call->begun);
    WORKS(call->call(&M));
    CHECK(ADD(&inside, 1) == 1, "two hold it at a time");
    UP(&call->done);
    ADD(&inside, -1);
    WORKS(call->undo(&M));
    return NULL;
}

/* One way holds it, while threads come for it both ways, or the first way alone: they wait, and get it. */
static void waited_for(int ways, const struct functions *holder, const struct functions *releaser) {
    pthread_t threads[2];
    WORKS(holder->pthread_mutex_lock(&M));
    ADD(&inside, 1);
    for (int i = 0; i < ways; i++) {
        const struct functions *functions = i ? &other : &by_name;
        struct call call = {functions->pthread_mutex_lock, functions->pthread_mutex_unlock, 0, 0};
        calls[i] = call;
        threads[i] = START(performs, &calls[i]);
        AWAIT(READ(&calls[i].begun));
    }
    settle();
    CHECK(!READ(&calls[0].done) && !READ(&calls[1].done), "two hold it at a time");
    ADD(&inside, -1);
    WORKS(releaser->pthread_mutex_unlock(&M));
    for (int i = 0; i < ways; i++) END(threads[i]);
}
TEST_EACH(held_by_the_other_and_waited_for, WAYS) {
    begin("held_by_the_other_and_waited_for", row);
    waited_for(2, &other, &other);
}
TEST_EACH(held_by_name_and_waited_for, WAYS) {
    begin("held_by_name_and_waited_for", row);
    waited_for(2, &by_name, &by_name);
}
TEST_EACH(locked_by_the_other_and_unlocked_by_name_while_waited_for, WAYS) {
    begin("locked_by_the_other_and_unlocked_by_name_while_waited_for", row);
    waited_for(2, &other, &by_name);
}

TEST_EACH(locked_by_name_and_unlocked_by_the_other_while_waited_for, WAYS) {
    begin("locked_by_name_and_unlocked_by_the_other_while_waited_for", row);
    waited_for(2, &by_name, &other);
}
/* Nobody else comes who could see that it is free: the waiter has to look, between times that it sleeps. */
TEST_EACH(locked_by_name_and_unlocked_by_the_other_while_waited_for_by_name, WAYS) {
    not_if_waiters_spin();
    begin("locked_by_name_and_unlocked_by_the_other_while_waited_for_by_name", row);
    waited_for(1, &by_name, &other);
}

static int timedlock_soon(pthread_mutex_t *mutex) {
    struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    return by_name.pthread_mutex_timedlock(mutex, &soon);
}
static int other_timedlock_soon(pthread_mutex_t *mutex) {
    struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    return other.pthread_mutex_timedlock(mutex, &soon);
}

static struct attempt {
    int (*call)(pthread_mutex_t *);
    int (*undo)(pthread_mutex_t *);
} attempt;
static int attempts(void *mutex) {
    int code = attempt.call(ANY(pthread_mutex_t, mutex));
    if (code == 0) WORKS(attempt.undo(ANY(pthread_mutex_t, mutex)));
    return code;
}

/* While one way holds it: what tries one way and the other. Who gets in must hear of it when the holder unlocks, at the latest. */
static void tried_by_both(const struct functions *holder) {
    for (int round = 0; round < 3; round++) {
        int in = 0;
        WORKS(holder->pthread_mutex_lock(&M));
        for (int i = 0; i < 4; i++) {
            const struct functions *functions = i % 2 ? &other : &by_name;
            attempt.call = i < 2 ? functions->pthread_mutex_trylock : i == 2 ? timedlock_soon : other_timedlock_soon;
            attempt.undo = functions->pthread_mutex_unlock;
            int code = ELSEWHERE(attempts, &M);
            in += code == 0;
            if (code != 0 && code != (i < 2 ? EBUSY : ETIMEDOUT)) _exit(TOLD);
        }
        WORKS(holder->pthread_mutex_unlock(&M));
        CHECK(in == 0, "two held it at a time, and nobody said so");
    }
}
TEST_EACH(held_by_the_other_and_tried, WAYS) {
    begin("held_by_the_other_and_tried", row);
    tried_by_both(&other);
}
TEST_EACH(held_by_name_and_tried, WAYS) {
    begin("held_by_name_and_tried", row);
    tried_by_both(&by_name);
}

/* One thread locks and unlocks, each one way or the other. In between, and at the end, it is what it must be for both. */
TEST_EACH(locked_and_unlocked, WAYS) {
    begin("locked_and_unlocked", row);
    for (int i = 0; i < 64; i++) {
        const struct functions *locks = i & 1 ? &by_name : &other, *unlocks = i & 2 ? &by_name : &other;
        const struct functions *looks = i & 4 ? &by_name : &other;
        WORKS(locks->pthread_mutex_lock(&M));
        if (i & 8) {
            /* Not the other way: who gets in there may hear of it at the unlock, as above. */
            attempt.call = by_name.pthread_mutex_trylock;
            attempt.undo = by_name.pthread_mutex_unlock;
            CHECK(ELSEWHERE(attempts, &M) != 0, "two hold it at a time");
        }
        WORKS(unlocks->pthread_mutex_unlock(&M));
        attempt.call = looks->pthread_mutex_trylock;
        attempt.undo = looks->pthread_mutex_unlock;
        GIVES(ELSEWHERE(attempts, &M), 0);
    }
    WORKS(by_name.pthread_mutex_destroy(&M));
}

/* Whoever holds it comes again, the other way: a recursive one counts, a checking one says so. */
TEST_EACH(relocked, WAYS) {
    const struct way *way = begin("relocked", row);
    if (waits_for_itself(&way->kind)) return;
    int checks = way->kind.type == PTHREAD_MUTEX_ERRORCHECK;
    for (int i = 0; i < 16; i++) {
        const struct functions *locks = i & 1 ? &by_name : &other, *again = i & 1 ? &other : &by_name;
        const struct functions *gives = i & 2 ? &by_name : &other, *ends = i & 4 ? &by_name : &other;
        WORKS(locks->pthread_mutex_lock(&M));
        int code = i & 8 ? again->pthread_mutex_trylock(&M) : again->pthread_mutex_lock(&M);
        if (checks) CHECK(code == EDEADLK || code == EBUSY, "locked twice: %s", error_name(code));
        else WORKS(code);
        attempt.call = by_name.pthread_mutex_trylock;
        attempt.undo = by_name.pthread_mutex_unlock;
        if (!checks) WORKS(gives->pthread_mutex_unlock(&M));
        CHECK(ELSEWHERE(attempts, &M) != 0, "two hold it at a time");
        WORKS(ends->pthread_mutex_unlock(&M));
        GIVES(ELSEWHERE(attempts, &M), 0);
    }
}

/* An end of its own: destroyed while the other way holds it. glibc does not look whether anybody holds a robust one. */
TEST_EACH(destroyed_while_held, WAYS) {
    const struct way *way = begin("destroyed_while_held", row);
    WORKS(other.pthread_mutex_lock(&M));
    int code = by_name.pthread_mutex_destroy(&M);
    if (code == 0 && way->kind.robust) return;
    GIVES(code, EBUSY);
    WORKS(other.pthread_mutex_unlock(&M));
    WORKS(by_name.pthread_mutex_destroy(&M));
}
