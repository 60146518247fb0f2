/* Locks at moments at which a library may still have its own preparations to make: the first use of a condition variable in a process,
 * and the handlers of fork.
 * link: locks_at_fork
 */
#define GROUP "late"
#include "../kinds.h"
#include <dlfcn.h>

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t L = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t C = PTHREAD_COND_INITIALIZER;

/* ---- The first use ---------------------------------------------------------------------------- */

static int first_init(void) {
    pthread_cond_t cond;
    return pthread_cond_init(&cond, NULL);
}
static int first_signal(void) { return pthread_cond_signal(&C); }
static int first_broadcast(void) { return pthread_cond_broadcast(&C); }
static int first_destroy(void) { return pthread_cond_destroy(&C); }
static int first_timedwait(void) {
    struct timespec past = in_ms(CLOCK_REALTIME, -1000);
    GIVES(pthread_mutex_lock(&M), 0);
    GIVES(pthread_cond_timedwait(&C, &M, &past), ETIMEDOUT);
    return pthread_mutex_unlock(&M);
}
static int first_lock(void) { return lock_unlock(&M); }
static int first_timedlock(void) {
    struct timespec later = in_ms(CLOCK_REALTIME, 20000);
    return pthread_mutex_timedlock(&M, &later);
}
static int first_rdlock(void) { return pthread_rwlock_rdlock(&L); }

static const struct {
    const char *name;
    int (*call)(void);
} FIRST[] = {
    {"cond-init", first_init},           {"cond-signal", first_signal},       {"cond-broadcast", first_broadcast},
    {"cond-destroy", first_destroy},     {"cond-timedwait", first_timedwait}, {"mutex-lock", first_lock},
    {"mutex-timedlock", first_timedlock}, {"rwlock-rdlock", first_rdlock},
};

/* A program asks for the reason of a failed dlopen when it likes, and locks have nothing to do with it. */
TEST_EACH(first_use_keeps_dlerror, FIRST) {
    static const char missing[] = "/no/such/library.so";
    CHECK(dlopen(missing, RTLD_NOW) == NULL, "%s is there", missing);
    GIVES(FIRST[row].call(), 0);
    const char *reason = dlerror();
    CHECK(reason != NULL, "dlerror has forgotten why dlopen failed");
    CHECK(strstr(reason, missing) != NULL, "dlerror tells of something else: %s", reason);
}

static void *opens(void *unused) {
    (void)unused;
    void *library = dlopen(beside("libfirst_cond.so"), RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL, "dlopen: %s", dlerror());
    int *code = ANY(int, dlsym(library, "first_cond_code"));
    CHECK(code != NULL, "dlsym: %s", dlerror());
    GIVES(*code, 0);
    return NULL;
}

/* The thread that opens the library has the lock of the dynamic loader, and waits for one that must do without. */
TEST(first_use_while_a_library_is_opened) { END(START(opens, NULL)); }

/* ---- Handlers of fork ------------------------------------------------------------------------- */

extern pthread_mutex_t locks_at_fork_mutex;
static int stop;
static long passes;

static void *hammers(void *unused) {
    (void)unused;
    while (!READ(&stop)) {
        GIVES(pthread_mutex_lock(&locks_at_fork_mutex), 0);
        for (int i = 0; i < 300; i++) ADD(&passes, 1);
        GIVES(pthread_mutex_unlock(&locks_at_fork_mutex), 0);
    }
    return NULL;
}

/* The library's handler of the child is the first that runs there, since it was registered first. */
TEST(fork_handler_of_a_linked_library) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = START(hammers, NULL);
    for (int round = 0; round < 12; round++) {
        pid_t child = forked();
        if (child == 0) {
            GIVES(pthread_mutex_trylock(&locks_at_fork_mutex), 0);
            _exit(0);
        }
        END_CHILD(child);
    }
    UP(&stop);
    for (int i = 0; i < THREADS; i++) END(threads[i]);
}
