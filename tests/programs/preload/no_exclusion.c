// Broken on purpose: mutexes that exclude nobody. Condition variables wake up at once, which is legal, so that what goes wrong goes
// wrong for want of exclusion only. The checks of the programs must notice.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>

int pthread_mutex_lock(pthread_mutex_t *mutex) { (void)mutex; return 0; }
int pthread_mutex_trylock(pthread_mutex_t *mutex) { (void)mutex; return 0; }
int pthread_mutex_unlock(pthread_mutex_t *mutex) { (void)mutex; return 0; }

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) { (void)cond, (void)mutex; sched_yield(); return 0; }
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
  (void)cond, (void)mutex, (void)until;
  sched_yield();
  return 0;
}
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  (void)clock;
  return pthread_cond_timedwait(cond, mutex, until);
}
