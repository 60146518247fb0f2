/* The functions by which a program uses locks, as a table: those that it calls by name, and those that it gets in another way. */
#ifndef TWO_H
#define TWO_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <time.h>

#define EACH_FUNCTION(does)                                                                                                    \
    does(pthread_mutex_lock) does(pthread_mutex_trylock) does(pthread_mutex_unlock) does(pthread_mutex_destroy)                \
    does(pthread_mutex_timedlock) does(pthread_cond_wait) does(pthread_cond_signal) does(pthread_cond_broadcast)               \
    does(pthread_cond_destroy) does(pthread_rwlock_rdlock) does(pthread_rwlock_tryrdlock) does(pthread_rwlock_wrlock)          \
    does(pthread_rwlock_trywrlock) does(pthread_rwlock_unlock) does(pthread_rwlock_destroy)                              \
    does(pthread_spin_lock) does(pthread_spin_trylock) does(pthread_spin_unlock)

#define MEMBER(name) __typeof__(&name) name;
struct functions {
    EACH_FUNCTION(MEMBER)
};
#undef MEMBER

#define AS_MEMBER(name) name,
#define FUNCTIONS {EACH_FUNCTION(AS_MEMBER)}

#endif
