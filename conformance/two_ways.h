/* The second way to libc's functions, and what a library that is preloaded may make of it: for tests of objects that are used both ways. */
#ifndef TWO_WAYS_H
#define TWO_WAYS_H
#include "kinds.h"
#include "two.h"
#include <dlfcn.h>
#include <poll.h>

#ifndef RTLD_DEEPBIND
#error "these tests are for glibc"
#endif

/* ---- The other way ----------------------------------------------------------------------------- */

UNUSED static const struct functions by_name = FUNCTIONS;
static struct functions other;

static void *opened(void *library) {
    if (library == NULL) SKIP("no second way to libc's functions: %s", dlerror());
    return library;
}

UNUSED static void by_handle(void) {
    void *libc = opened(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD));
#define LOOK_UP(name) *(void **)&other.name = dlsym(libc, #name);
    EACH_FUNCTION(LOOK_UP)
}

static void of_library(void *(*open)(const char *)) {
    if (SANITIZED) SKIP("a sanitizer allows no second way to libc's functions");
    void *library = open(beside("libshares.so"));
    const struct functions *found = ANY(const struct functions, dlsym(opened(library), "shares_functions"));
    SETUP(found != NULL);
    other = *found;
}
static void *open_deep(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND); }
static void *open_apart(const char *path) { return dlmopen(LM_ID_NEWLM, path, RTLD_NOW); }
UNUSED static void by_deepbind(void) { of_library(open_deep); }
UNUSED static void by_dlmopen(void) { of_library(open_apart); }

/* ---- Judging ----------------------------------------------------------------------------------- */

/* In the process that does it: the library has said that it does not go. */
#define TOLD 3
#define WORKS(call)                                                                                                            \
    do {                                                                                                                       \
        if ((call) != 0) _exit(TOLD);                                                                                          \
    } while (0)

#define INNER "CONFORM_TWO_INNER"

/* Runs the rest of the test in a process of its own, which may end as if there were one library, or say that it does not go: by an
 * error, or by a line on stderr and SIGABRT. To be called first, with the test's name. */
static void in_a_process(const char *test, const char *row) {
    if (getenv(INNER)) return;
    char name[200], said[4000];
    int ends[2], status;
    size_t length = 0;
    snprintf(name, sizeof name, "%s.%s/%s", GROUP, test, row);
    SETUP(pipe(ends) == 0);
    pid_t child = forked();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        setenv(INNER, "1", 1);
        exec_again(name);
        _exit(126);
    }
    close(ends[1]);
    struct timespec give_up = in_ms(CLOCK_MONOTONIC, TIMEOUT * 1000L);
    struct pollfd end = {ends[0], POLLIN, 0};
    for (;;) {
        if (reached(CLOCK_MONOTONIC, &give_up)) {
            kill(child, SIGKILL);
            FAIL("hangs, and does not say what is wrong");
        }
        if (poll(&end, 1, 100) == 0) continue;
        ssize_t got = read(ends[0], said + length, sizeof said - 1 - length);
        if (got <= 0) break;
        length += (size_t)got;
    }
    said[length] = 0;
    SETUP(waitpid(child, &status, 0) == child);
    said[strcspn(said, "\n")] = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) SKIP("%s", said + 5);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == TOLD)) passed();
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && length > 0) passed();
    else if (WIFEXITED(status)) FAIL("exits with %d: %s", WEXITSTATUS(status), said);
    else FAIL("dies of signal %d: %s", WTERMSIG(status), said);
    exit(0);
}

#endif
