// Interposes the pthread locks and passes every call on: what interposition itself does to a measurement, which is the harness's own
// error when it compares a lock with libc's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define PASS(name, type)                                            \
  int name(type *object) {                                          \
    static int (*next)(type *);                                     \
    int (*known)(type *) = __atomic_load_n(&next, __ATOMIC_RELAXED); \
    if (known == NULL) {                                            \
      known = (int (*)(type *))dlsym(RTLD_NEXT, #name);              \
      __atomic_store_n(&next, known, __ATOMIC_RELAXED);              \
    }                                                               \
    return known(object);                                           \
  }

PASS(pthread_mutex_lock, pthread_mutex_t)
PASS(pthread_mutex_trylock, pthread_mutex_t)
PASS(pthread_mutex_unlock, pthread_mutex_t)
PASS(pthread_rwlock_rdlock, pthread_rwlock_t)
PASS(pthread_rwlock_wrlock, pthread_rwlock_t)
PASS(pthread_rwlock_unlock, pthread_rwlock_t)
