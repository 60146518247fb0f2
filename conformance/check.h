/*
 * Helpers of the conformance tests, for C11 and C++17.
 *
 * A test program defines GROUP, includes this file and writes tests:
 *
 *     TEST(unlock_frees) { GIVES(pthread_mutex_unlock(&mutex), 0); }
 *     TEST_EACH(relock, KINDS) { const struct kind *kind = &KINDS[row]; ... }
 *
 * `program --list` prints the names (`GROUP.unlock_frees`, `GROUP.relock/recursive`), `program NAME` runs one test.
 * A test ends with 0 after a line `PASS` on stderr, with 1 after `FAIL ...`, with 77 after `SKIP ...`. That `PASS` is asked for
 * because a library might end the process with 0 before the test is over.
 * Nothing is printed on stdout by a test.
 *
 * No test asserts that something is fast. What must happen has TIMEOUT seconds to happen: 20, or $CONFORM_TIMEOUT.
 */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds that something may take before the test says that it does not happen. */
static int timeout_seconds(void) {
    const char *told = getenv("CONFORM_TIMEOUT");
    int seconds = told ? atoi(told) : 0;
    return seconds > 0 ? seconds : 20;
}
#define TIMEOUT timeout_seconds()

#define UNUSED __attribute__((unused))
/* C++ has no implicit conversion from void *, and C no need of one. */
#define ANY(type, pointer) ((type *)(pointer))

/* ---- Verdicts --------------------------------------------------------------------------------- */

static const char *error_name(int code) {
    switch (code) {
    case 0: return "0";
    case EAGAIN: return "EAGAIN";
    case EBUSY: return "EBUSY";
    case EDEADLK: return "EDEADLK";
    case EINTR: return "EINTR";
    case EINVAL: return "EINVAL";
    case ENOMEM: return "ENOMEM";
    case ENOTRECOVERABLE: return "ENOTRECOVERABLE";
    case ENOTSUP: return "ENOTSUP";
    case EOWNERDEAD: return "EOWNERDEAD";
    case EPERM: return "EPERM";
    case ETIMEDOUT: return "ETIMEDOUT";
    default: return "another code";
    }
}

__attribute__((noreturn, format(printf, 3, 4))) UNUSED static void fail_at(const char *file, int line, const char *format,
                                                                          ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *slash = strrchr(file, '/');
    dprintf(2, "FAIL %s:%d: %s\n", slash ? slash + 1 : file, line, text);
    _exit(1);
}

#define FAIL(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition, ...)                                                                                                  \
    do {                                                                                                                       \
        if (!(condition)) FAIL(__VA_ARGS__);                                                                                   \
    } while (0)
/* The call must give this code. */
#define GIVES(call, want)                                                                                                      \
    do {                                                                                                                       \
        int given = (call);                                                                                                    \
        int wanted = (want);                                                                                                   \
        if (given != wanted)                                                                                                   \
            FAIL("%s gives %s (%d), not %s", #call, error_name(given), given, error_name(wanted));                             \
    } while (0)
/* What is set up around a test must work. */
#define SETUP(condition) CHECK(condition, "the test can not be set up: %s: %s", #condition, strerror(errno))
/* The test is over and has passed. `main` says it; a test that ends the process itself does so just before. */
UNUSED static void passed(void) { (void)!write(2, "PASS\n", 5); }
/* Says why a test does not apply here. */
#define SKIP(...)                                                                                                              \
    do {                                                                                                                       \
        dprintf(2, "SKIP " __VA_ARGS__);                                                                                       \
        dprintf(2, "\n");                                                                                                      \
        _exit(77);                                                                                                             \
    } while (0)
/* Whether waiters of mutexes spin, which promises less (README.md): `CONFORM_SPINS=1` says so. */
UNUSED static int waiters_spin(void) {
    const char *told = getenv("CONFORM_SPINS");
    return told != NULL && strcmp(told, "1") == 0;
}
UNUSED static void not_if_waiters_spin(void) {
    if (waiters_spin()) SKIP("waiters of this mutex spin");
}

/* ---- Time ------------------------------------------------------------------------------------- */

UNUSED static struct timespec now(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return at;
}

/* So many milliseconds from now; a negative number is in the past. */
UNUSED static struct timespec in_ms(clockid_t clock, long ms) {
    struct timespec at = now(clock);
    long long nanos = at.tv_nsec + ms % 1000 * 1000000LL;
    at.tv_sec += ms / 1000;
    if (nanos < 0) {
        at.tv_sec -= 1;
        nanos += 1000000000LL;
    } else if (nanos >= 1000000000LL) {
        at.tv_sec += 1;
        nanos -= 1000000000LL;
    }
    at.tv_nsec = (long)nanos;
    return at;
}

UNUSED static int reached(clockid_t clock, const struct timespec *deadline) {
    struct timespec at = now(clock);
    return at.tv_sec > deadline->tv_sec || (at.tv_sec == deadline->tv_sec && at.tv_nsec >= deadline->tv_nsec);
}

UNUSED static void sleep_us(long us) {
    struct timespec rest = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

/* True for three seconds from the first call: a test that looks for a race does its rounds as long as that, and fewer of them on
 * a machine that is busy with other things. */
UNUSED static int time_left(void) {
    static struct timespec end;
    if (end.tv_sec == 0) end = in_ms(CLOCK_MONOTONIC, 3000);
    return !reached(CLOCK_MONOTONIC, &end);
}

/* Lets others do what they must not do. One that is slower than this goes unnoticed; none is blamed wrongly. */
UNUSED static void settle(void) { sleep_us(40000); }

/* ---- Flags and threads ------------------------------------------------------------------------ */

#define UP(flag) __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST)
#define PUT(cell, value) __atomic_store_n(cell, value, __ATOMIC_SEQ_CST)
#define READ(cell) __atomic_load_n(cell, __ATOMIC_SEQ_CST)
#define ADD(cell, n) __atomic_add_fetch(cell, n, __ATOMIC_SEQ_CST)

/* Waits until the condition holds, or fails. */
#define AWAIT(condition)                                                                                                       \
    do {                                                                                                                       \
        struct timespec give_up = in_ms(CLOCK_MONOTONIC, TIMEOUT * 1000L);                                                    \
        while (!(condition)) {                                                                                                 \
            if (reached(CLOCK_MONOTONIC, &give_up)) FAIL("this did not happen within %d s: %s", TIMEOUT, #condition);         \
            sleep_us(200);                                                                                                     \
        }                                                                                                                      \
    } while (0)

UNUSED static pid_t my_tid(void) { return (pid_t)syscall(SYS_gettid); }

UNUSED static pthread_t start_thread(void *(*body)(void *), void *argument, const char *file, int line) {
    pthread_t thread;
    int code = pthread_create(&thread, NULL, body, argument);
    if (code != 0) fail_at(file, line, "pthread_create gives %s (%d)", error_name(code), code);
    return thread;
}

UNUSED static void *end_of_thread(pthread_t thread, const char *file, int line) {
    void *result = NULL;
    struct timespec give_up = in_ms(CLOCK_MONOTONIC, TIMEOUT * 1000L);
    int code = pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &give_up);
    if (code == ETIMEDOUT) fail_at(file, line, "a thread still waits after %d s", TIMEOUT);
    if (code != 0) fail_at(file, line, "pthread_join gives %s (%d)", error_name(code), code);
    return result;
}

/* Whether a thread of this process sleeps, as the kernel sees it. */
UNUSED static int sleeps(pid_t tid) {
    char path[64], text[400];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    FILE *stat = fopen(path, "r");
    CHECK(stat != NULL, "a thread that was to wait is gone");
    size_t length = fread(text, 1, sizeof text - 1, stat);
    fclose(stat);
    text[length] = 0;
    char *name_ends = strrchr(text, ')');
    return name_ends != NULL && name_ends[1] == ' ' && name_ends[2] == 'S';
}

#define START(body, argument) start_thread(body, argument, __FILE__, __LINE__)
/* Waits for the end of a thread, or fails. */
#define END(thread) end_of_thread(thread, __FILE__, __LINE__)

struct errand {
    int (*call)(void *);
    void *object;
    int code;
};

static void *run_errand(void *argument) {
    struct errand *errand = ANY(struct errand, argument);
    errand->code = errand->call(errand->object);
    return NULL;
}

/* What the call gives in another thread, which then ends. */
UNUSED static int elsewhere_at(int (*call)(void *), void *object, const char *file, int line) {
    struct errand errand = {call, object, -1};
    end_of_thread(start_thread(run_errand, &errand, file, line), file, line);
    return errand.code;
}
#define ELSEWHERE(call, object) elsewhere_at(call, object, __FILE__, __LINE__)

/* ---- Processes and memory --------------------------------------------------------------------- */

/* Memory that a process shares with the children that it forks, zeroed. */
UNUSED static void *shared_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    SETUP(memory != MAP_FAILED);
    return memory;
}

/* fork, which must succeed. The child goes when the thread that made it has gone, as that does when whoever runs the tests has. */
UNUSED static pid_t forked(void) {
    pid_t child = fork();
    SETUP(child >= 0);
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

/* Waits for a child, which must exit with 0. A child that fails has said why. */
UNUSED static void end_of_child(pid_t child, const char *file, int line) {
    int status = 0;
    struct timespec give_up = in_ms(CLOCK_MONOTONIC, TIMEOUT * 1000L);
    pid_t ended;
    SETUP(child > 0);
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (reached(CLOCK_MONOTONIC, &give_up)) {
            kill(child, SIGKILL);
            fail_at(file, line, "the child still runs after %d s", TIMEOUT);
        }
        sleep_us(200);
    }
    if (ended < 0) fail_at(file, line, "waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status)) fail_at(file, line, "the child died of signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) fail_at(file, line, "the child exited with %d", WEXITSTATUS(status));
}
#define END_CHILD(child) end_of_child(child, __FILE__, __LINE__)

/* A sanitizer's run-time library puts itself between a program and libc, refuses the rest, and takes a key of thread data. clang says so by
 * a feature. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Becomes this program anew, by its path: under valgrind, /proc/self/exe itself is valgrind, but reads as the program. */
UNUSED static void exec_again(const char *test) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    execl(path, path, test, (char *)NULL);
}

/* Runs this program again, as `test` or as nothing in particular, with a variable set and another LD_PRELOAD unless that is NULL.
 * It must end well; what it prints on stdout comes into `said`. */
UNUSED static void run_again(const char *test, const char *variable, const char *preload, char *said, size_t room) {
    int ends[2];
    size_t length = 0;
    SETUP(pipe(ends) == 0);
    pid_t child = forked();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        if (preload) setenv("LD_PRELOAD", preload, 1);
        setenv(variable, "1", 1);
        exec_again(test);
        _exit(126);
    }
    close(ends[1]);
    for (ssize_t got = 1; got > 0 && length < room - 1; length += (size_t)(got > 0 ? got : 0))
        got = read(ends[0], said + length, room - 1 - length);
    said[length] = 0;
    END_CHILD(child);
}

/* Where the libraries beside this program are; until the same thread asks again. */
UNUSED static const char *beside(const char *name) {
    static __thread char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 100);
    SETUP(length > 0);
    path[length] = 0;
    strcpy(strrchr(path, '/') + 1, name);
    return path;
}

/* ---- The list of tests ------------------------------------------------------------------------ */

struct test {
    char name[120];
    void (*plain)(void);
    void (*each)(size_t);
    size_t row;
};

static struct test tests[400];
static size_t tests_known;

UNUSED static void add_test(const char *name, const char *row_name, void (*plain)(void), void (*each)(size_t), size_t row) {
    if (tests_known == sizeof tests / sizeof tests[0]) abort();
    struct test *test = &tests[tests_known++];
    snprintf(test->name, sizeof test->name, "%s.%s%s%s", GROUP, name, row_name ? "/" : "", row_name ? row_name : "");
    test->plain = plain;
    test->each = each;
    test->row = row;
}

#define TEST(ident)                                                                                                            \
    static void ident(void);                                                                                                   \
    __attribute__((constructor)) static void add_##ident(void) { add_test(#ident, NULL, ident, NULL, 0); }                     \
    static void ident(void)

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

#define TEST_EACH(ident, table)                                                                                                \
    static void ident(size_t row);                                                                                             \
    __attribute__((constructor)) static void add_##ident(void) {                                                               \
        for (size_t row = 0; row < ROWS(table); row++) add_test(#ident, (table)[row].name, NULL, ident, row);                  \
    }                                                                                                                          \
    static void ident(size_t row)

int main(int count, char **words) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left behind when the one who runs the tests is gone */
    if (count == 2 && strcmp(words[1], "--list") == 0) {
        for (size_t i = 0; i < tests_known; i++) printf("%s\n", tests[i].name);
        return 0;
    }
    for (size_t i = 0; count == 2 && i < tests_known; i++) {
        if (strcmp(words[1], tests[i].name) == 0) {
            if (tests[i].plain) tests[i].plain();
            else tests[i].each(tests[i].row);
            passed();
            return 0;
        }
    }
    fprintf(stderr, "usage: %s --list | NAME\n", words[0]);
    return 2;
}

#endif
