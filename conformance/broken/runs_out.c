/* Broken: a key of the program's is taken, and each thread that ever waits takes one of 16 000 numbers for good: without one it polls.
 * caught by: numbers.all_keys_are_the_programs numbers.keys_of_nobody numbers.one_wave_after_another numbers.in_the_last_destructors
 * caught by: numbers.forks_of_forks
 * passes: cond.ring/private mutex.excludes/normal probe.counter_of_4_threads probe.threads_2500_one_after_another
 */
#include "real.h"

static pthread_key_t key;
static int numbers;
static __thread int has_number;

__attribute__((constructor)) static void begin(void) { pthread_key_create(&key, NULL); }

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_lock, pthread_mutex_t *);
    int code = pthread_mutex_trylock(mutex);
    if (code != EBUSY) return code;
    if (!has_number && __atomic_load_n(&numbers, __ATOMIC_RELAXED) < 16000) {
        __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
        has_number = 1;
    }
    if (has_number) return real(mutex);
    while ((code = pthread_mutex_trylock(mutex)) == EBUSY) sched_yield();
    return code;
}
