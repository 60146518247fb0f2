// Broken on purpose: a mutex that excludes, until a thread has waited a moment; then that thread goes in as well. Programs run almost
// as they should under it, and what they lose now and then only a look at their output tells.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

enum { TRIES = 20, DEPTH = 16 };

static int (*real_trylock)(pthread_mutex_t *);
static int (*real_unlock)(pthread_mutex_t *);

// Mutexes that this thread is in without holding them.
static __thread pthread_mutex_t *entered[DEPTH];

__attribute__((constructor)) static void find(void) {
  real_trylock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_trylock");
  real_unlock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (real_trylock == NULL) find();
  for (int i = 0; i < TRIES; i++)
    if (real_trylock(mutex) == 0) return 0;
  for (int i = 0; i < DEPTH; i++) {
    if (entered[i] == NULL) {
      entered[i] = mutex;
      return 0;
    }
  }
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  if (real_unlock == NULL) find();
  for (int i = 0; i < DEPTH; i++) {
    if (entered[i] == mutex) {
      entered[i] = NULL;
      return 0;
    }
  }
  return real_unlock(mutex);
}
