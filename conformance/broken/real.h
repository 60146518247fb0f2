/* How a broken library reaches what it is broken on top of. */
#ifndef REAL_H
#define REAL_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* `real` is what the next library calls by this name. */
#define REAL(name, ...)                                                                                                        \
    static int (*real)(__VA_ARGS__);                                                                                           \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

#endif
