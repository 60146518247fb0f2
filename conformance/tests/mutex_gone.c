/* POSIX: a mutex may be destroyed, and its memory given back, as soon as it is unlocked, by the last who used it, even while
 * the one who used it before has not returned from its unlock. Reference counts under a mutex rely on that. */
#define GROUP "mutex_gone"
#include "../kinds.h"
#include "../stir.h"

enum { THREADS = 3, OBJECTS = 1500 };

struct object {
    pthread_mutex_t mutex;
    int users;
};
static struct object *objects[OBJECTS];

/* Kinds that anybody may use many thousand times a second. */
static const struct kind PLAIN[] = {
    ALL_TYPES("", BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 0),
    ALL_TYPES("static-", STATICALLY, 0, PTHREAD_PRIO_NONE, 0),
    ALL_TYPES("shared-", BY_ATTRIBUTES, 0, PTHREAD_PRIO_NONE, 1),
};

/* In round `limit` they stop. */
static int arrived, limit = OBJECTS;

static void *drops_all(void *argument) {
    int decides = argument != NULL;
    stir();
    for (int i = 0; i < OBJECTS; i++) {
        struct object *object = objects[i];
        if (decides && !time_left()) PUT(&limit, i); /* the others can not have begun this round */
        else ADD(&arrived, 1);
        while (READ(&arrived) < (i + 1) * THREADS && i < READ(&limit)) sched_yield(); /* all at once */
        if (i >= READ(&limit)) break;
        GIVES(pthread_mutex_lock(&object->mutex), 0);
        int last = --object->users == 0;
        if (i % 2 == 0) sched_yield(); /* so that some have to wait */
        GIVES(pthread_mutex_unlock(&object->mutex), 0);
        if (last) {
            GIVES(pthread_mutex_destroy(&object->mutex), 0);
            give_back(object);
        }
    }
    return NULL;
}

TEST_EACH(last_user_unmaps_it, PLAIN) {
    pthread_t threads[THREADS];
    for (int i = 0; i < OBJECTS; i++) {
        objects[i] = ANY(struct object, own_page());
        make_mutex(&objects[i]->mutex, &PLAIN[row]);
        objects[i]->users = THREADS;
    }
    for (int i = 0; i < THREADS; i++) threads[i] = START(drops_all, i == 0 ? &limit : NULL);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
}

/* Two threads only: one waits for the mutex, gets it, and takes it away while the other leaves its unlock. */
enum { LAST = 1000000 };
static struct object *one;
static int round_of_waiter;

static void *takes_away(void *unused) {
    (void)unused;
    for (int i = 1;; i++) {
        int round;
        while ((round = READ(&round_of_waiter)) != i && round != LAST) sched_yield();
        if (round == LAST) return NULL;
        struct object *object = one;
        GIVES(pthread_mutex_lock(&object->mutex), 0);
        GIVES(pthread_mutex_unlock(&object->mutex), 0);
        GIVES(pthread_mutex_destroy(&object->mutex), 0);
        give_back(object);
        PUT(&round_of_waiter, -i);
    }
}

TEST_EACH(waiter_unmaps_it, PLAIN) {
    pthread_t waiter = START(takes_away, NULL);
    stir();
    for (int i = 1; i <= 1500 && time_left(); i++) {
        struct object *object = ANY(struct object, own_page());
        make_mutex(&object->mutex, &PLAIN[row]);
        GIVES(pthread_mutex_lock(&object->mutex), 0);
        one = object;
        PUT(&round_of_waiter, i);
        for (int spin = 0; spin < i % 400; spin++) __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (i % 3 == 0) sched_yield();
        GIVES(pthread_mutex_unlock(&object->mutex), 0);
        while (READ(&round_of_waiter) != -i) sched_yield();
    }
    PUT(&round_of_waiter, LAST);
    END(waiter);
}
