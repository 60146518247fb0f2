/* An object has the bytes of its type and no others, and neither before nor behind them may anybody write or read: each object here
 * lies between two pages that nobody may touch, once at the very beginning of what is between them and once at the very end. */
#define GROUP "bounds"
#include "../conds.h"

enum { ROUNDS = 2000 };

/* Room for `size` bytes, with nothing before it (`end` is 0) or nothing behind it. */
static void *fenced(size_t size, int end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = ANY(char, mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    SETUP(pages != MAP_FAILED);
    SETUP(mprotect(pages + page, page, PROT_READ | PROT_WRITE) == 0);
    return end ? pages + 2 * page - size : pages + page;
}

static pthread_mutex_t *mutex;
static pthread_cond_t *cond;
static pthread_rwlock_t *rwlock;
static pthread_spinlock_t *spin;
static int waiting; /* guarded by *mutex */

static void *locks_often(void *yields) {
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec soon = in_ms(CLOCK_REALTIME, TIMEOUT * 1000L);
        if (i % 3 == 0) GIVES(pthread_mutex_timedlock(mutex, &soon), 0);
        else GIVES(pthread_mutex_lock(mutex), 0);
        if (yields && i % 8 == 0) sched_yield(); /* so that the other has to wait */
        GIVES(pthread_mutex_unlock(mutex), 0);
        int code = pthread_mutex_trylock(mutex);
        if (code == 0) GIVES(pthread_mutex_unlock(mutex), 0);
        else GIVES(code, EBUSY);
    }
    return NULL;
}

TEST_EACH(of_a_mutex, KINDS) {
    for (int end = 0; end < 2; end++) {
        mutex = ANY(pthread_mutex_t, fenced(sizeof *mutex, end));
        make_mutex(mutex, &KINDS[row]);
        pthread_t one = START(locks_often, mutex), other = START(locks_often, NULL);
        END(one);
        END(other);
        GIVES(pthread_mutex_destroy(mutex), 0);
    }
}

static void *waits(void *unused) {
    (void)unused;
    GIVES(pthread_mutex_lock(mutex), 0);
    waiting++;
    while (waiting > 0) GIVES(pthread_cond_wait(cond, mutex), 0);
    GIVES(pthread_mutex_unlock(mutex), 0);
    return NULL;
}

/* Whether both wait; if so, they may go when they are woken. */
static int both_may_go(void) {
    GIVES(pthread_mutex_lock(mutex), 0);
    int both = waiting == 2;
    if (both) waiting = 0;
    GIVES(pthread_mutex_unlock(mutex), 0);
    return both;
}

TEST_EACH(of_a_cond, MIXTURES) {
    const struct mixture *mixture = &MIXTURES[row];
    for (int end = 0; end < 2; end++) {
        mutex = ANY(pthread_mutex_t, fenced(sizeof *mutex, end));
        cond = ANY(pthread_cond_t, fenced(sizeof *cond, end));
        make_both(cond, mutex, mixture);
        GIVES(pthread_mutex_lock(mutex), 0);
        struct timespec soon = in_ms(clock_of(mixture), 5);
        int code = 0;
        while (code == 0) code = pthread_cond_timedwait(cond, mutex, &soon); /* it may also return for no reason */
        GIVES(code, ETIMEDOUT);
        waiting = 0;
        GIVES(pthread_mutex_unlock(mutex), 0);
        pthread_t threads[2] = {START(waits, NULL), START(waits, NULL)};
        AWAIT(both_may_go());
        GIVES(pthread_cond_signal(cond), 0);
        GIVES(pthread_cond_broadcast(cond), 0);
        END(threads[0]);
        END(threads[1]);
        GIVES(pthread_cond_destroy(cond), 0);
        GIVES(pthread_mutex_destroy(mutex), 0);
    }
}

static void *reads_and_writes(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 4 == 0) GIVES(pthread_rwlock_wrlock(rwlock), 0);
        else GIVES(pthread_rwlock_rdlock(rwlock), 0);
        if (i % 16 == 0) sched_yield();
        GIVES(pthread_rwlock_unlock(rwlock), 0);
    }
    return NULL;
}

TEST(of_a_rwlock) {
    for (int end = 0; end < 2; end++) {
        rwlock = ANY(pthread_rwlock_t, fenced(sizeof *rwlock, end));
        GIVES(pthread_rwlock_init(rwlock, NULL), 0);
        pthread_t one = START(reads_and_writes, NULL), other = START(reads_and_writes, NULL);
        END(one);
        END(other);
        GIVES(pthread_rwlock_destroy(rwlock), 0);
    }
}

static void *spins(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        GIVES(pthread_spin_lock(spin), 0);
        GIVES(pthread_spin_unlock(spin), 0);
    }
    return NULL;
}

TEST(of_a_spin_lock) {
    for (int end = 0; end < 2; end++) {
        spin = ANY(pthread_spinlock_t, fenced(sizeof *spin, end));
        GIVES(pthread_spin_init(spin, PTHREAD_PROCESS_PRIVATE), 0);
        pthread_t one = START(spins, NULL), other = START(spins, NULL);
        END(one);
        END(other);
        GIVES(pthread_spin_destroy(spin), 0);
    }
}
