/* Locks before main, after main, in libraries that are linked, preloaded or opened at run time, and across exec.
 * link: uses_locks
 */
#define GROUP "early"
#include "../check.h"
#include <dlfcn.h>

int part_uses_locks(void);
int part_used(void);

static pthread_mutex_t M = PTHREAD_MUTEX_INITIALIZER;
static int locked_before_main;

__attribute__((constructor(101))) static void before_all_others(void) {
    if (pthread_mutex_lock(&M) == 0 && pthread_mutex_unlock(&M) == 0) locked_before_main = 1;
}

TEST(constructor_of_the_program) {
    CHECK(locked_before_main, "a lock did not work in a constructor");
    GIVES(pthread_mutex_trylock(&M), 0);
}

TEST(constructor_of_a_linked_library) {
    CHECK(part_used() == 1, "the constructor used its locks %d times", part_used());
    GIVES(part_uses_locks(), 0);
}

/* Runs a test of this program with another LD_PRELOAD, or none; its stdout must be what is said. */
static void must_print(const char *preload, const char *test, const char *want) {
    char said[100];
    run_again(test, "PART_SAYS_BYE", preload, said, sizeof said);
    /* A library may print a banner; that is another test's matter. */
    CHECK(strstr(said, want) != NULL, "the program was to print `%s` at its end", want);
}

TEST(destructor_of_a_linked_library) { must_print(NULL, "early.constructor_of_a_linked_library", "bye\n"); }

static const struct {
    const char *name;
    int ours_first;
} ORDERS[] = {{"before", 1}, {"after", 0}};

/* Preloaded beside the library under test, in either order. */
TEST_EACH(preloaded_library, ORDERS) {
    char list[9000];
    const char *old = getenv("LD_PRELOAD"), *part = beside("libuses_locks.so");
    if (old == NULL || *old == 0) snprintf(list, sizeof list, "%s", part);
    else snprintf(list, sizeof list, "%s:%s", ORDERS[row].ours_first ? part : old, ORDERS[row].ours_first ? old : part);
    must_print(list, "early.constructor_of_a_linked_library", "bye\n");
}

TEST(opened_library) {
    for (int i = 0; i < 10; i++) {
        void *library = dlopen(beside("libopened.so"), RTLD_NOW | RTLD_LOCAL);
        CHECK(library != NULL, "dlopen: %s", dlerror());
        int (*use)(void);
        *(void **)&use = dlsym(library, "opened_uses_locks");
        CHECK(use != NULL, "dlsym: %s", dlerror());
        GIVES(use(), 0);
        GIVES(dlclose(library), 0);
    }
}

static void *opens(void *unused) {
    (void)unused;
    opened_library();
    return NULL;
}

TEST(opened_by_many_threads) {
    pthread_t threads[6];
    for (int i = 0; i < 6; i++) threads[i] = START(opens, NULL);
    for (int i = 0; i < 6; i++) END(threads[i]);
}

static void at_exit(void) {
    if (pthread_mutex_lock(&M) != 0 || pthread_mutex_unlock(&M) != 0) FAIL("a lock does not work in an atexit function");
}

TEST(lock_in_an_atexit_function) {
    atexit(at_exit);
    passed();
    exit(0);
}

/* A thread still waits when the process exits. */
static int waiting;
static void *waits_for_ever(void *unused) {
    (void)unused;
    UP(&waiting);
    pthread_mutex_lock(&M);
    return NULL;
}

TEST(exit_while_a_thread_waits) {
    GIVES(pthread_mutex_lock(&M), 0);
    START(waits_for_ever, NULL);
    AWAIT(READ(&waiting));
    settle();
    passed();
    exit(0);
}

TEST(exec_while_threads_wait) {
    GIVES(pthread_mutex_lock(&M), 0);
    START(waits_for_ever, NULL);
    START(waits_for_ever, NULL);
    AWAIT(READ(&waiting));
    settle();
    exec_again("early.constructor_of_a_linked_library");
    FAIL("exec: %s", strerror(errno));
}

static void *destroys_thread_data(void *mutex) {
    GIVES(pthread_mutex_lock(ANY(pthread_mutex_t, mutex)), 0);
    GIVES(pthread_mutex_unlock(ANY(pthread_mutex_t, mutex)), 0);
    ADD(&waiting, 1);
    return NULL;
}
static void destructor(void *mutex) { destroys_thread_data(mutex); }
static pthread_key_t key;
static void *has_thread_data(void *unused) {
    (void)unused;
    GIVES(pthread_setspecific(key, &M), 0);
    return destroys_thread_data(&M);
}

/* Locks in destructors of thread-specific data, when the library's own may be gone already. */
TEST(lock_in_a_thread_destructor) {
    GIVES(pthread_key_create(&key, destructor), 0);
    GIVES(pthread_mutex_lock(&M), 0);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) threads[i] = START(has_thread_data, NULL);
    GIVES(pthread_mutex_unlock(&M), 0);
    for (int i = 0; i < 8; i++) END(threads[i]);
    CHECK(waiting == 16, "locked %d times, not 16", waiting);
}
