/*
 * stanchion.h - locks that hold up when threads outnumber cores
 *
 * Written by `cargo xtask header` from crates/capi/src; do not edit. MIT or Apache-2.0, at your choice.
 *
 * USE
 *     static stanchion_mutex_t mutex = STANCHION_MUTEX_INIT;
 *
 *     stanchion_mutex_lock(&mutex);
 *     ...
 *     stanchion_mutex_unlock(&mutex);
 *
 *     cc program.c $(pkg-config --cflags --libs stanchion)
 *
 * TYPES
 *     The lock is chosen by the type. stanchion_mutex_t is the default; stanchion_checked_mutex_t tells misuse; those of reader-writer
 *     locks follow. stanchion_family.h has the locks that these are compared with. Each type has a STANCHION_..._INIT, which is all zeroes:
 *     static and calloc()ed objects need none. There is nothing to destroy. Objects are shared by the threads of one process, not by
 *     processes, and used through one copy of the library: not through libstanchion.so here and through an archive inside a plugin there.
 *
 * ERRORS
 *     Functions that return int return 0 or an error number, as in pthreads, and leave errno alone. A null or misaligned pointer is EINVAL.
 *     What stands under "Caller" is not checked: otherwise the behaviour is undefined.
 *
 * TIME
 *     Deadlines are points of time, not spans. Where no clock is named it is CLOCK_MONOTONIC.
 *
 * SIGNALS, CANCELLATION, FORK
 *     Functions of spinning and sleeping locks may be called in a signal handler, by a thread that does not hold or wait for the same lock
 *     (in a copy that dlopen() loaded: by one that has used the library before, as its thread-local memory is allocated then).
 *     Those of condition variables, events and tunables must not. No function is a cancellation point; none may be cancelled asynchronously.
 *     After a fork the child can use every object that was free, and none that had waiters.
 *
 * FAULTS
 *     No Rust panic and no C++ exception leaves a function. If the library finds a fault in itself, the process ends by abort() after one
 *     line on the standard error output that begins with "stanchion:".
 */

#ifndef STANCHION_H
#define STANCHION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct timespec; /* C99 alone does not know it. */

/** The version of this header; `stanchion_version` is that of the library. */
#define STANCHION_VERSION "0.1.0"

#ifdef __cplusplus
#define STANCHION_NOEXCEPT noexcept
/** What every object of this library is made of before its first use. */
#define STANCHION_INIT {}
#else
#define STANCHION_NOEXCEPT
/** What every object of this library is made of before its first use. */
#define STANCHION_INIT {0}
#endif

/** A free per-CPU lock of a class, given by its address. */
#define STANCHION_PERCPU_RWLOCK_INIT_IN(class_) {(class_), {0}}


/**
 * `stanchion_mutex_t` that tells misuse: `EDEADLK` instead of waiting for oneself, `EPERM` instead of
 * releasing what others hold.
 *
 * Free if all bytes are zero. Whoever locks it last may destroy it, as `stanchion_mutex_t`. It stays with
 * the thread that locked it; after a `fork` the child's thread owns what the forking thread owned. If a
 * thread ends while it holds the mutex nobody can tell who does: a later thread may be taken for it. Memory:
 * 16 bytes, and as `stanchion_mutex_t`.
 */
typedef struct stanchion_checked_mutex_t {
  /* For the library alone. */
  uint64_t opaque[2];
} stanchion_checked_mutex_t;
#define STANCHION_CHECKED_MUTEX_INIT STANCHION_INIT

/**
 * A condition variable for `stanchion_mutex_t`; one mutex at a time. Threads wait in line, and a signal goes
 * to the one that came first, among those of the highest real-time priority if there are any. There are no
 * spurious wake-ups, but a condition may be over by the time the mutex is acquired, so wait in a loop.
 *
 * Nobody waits if all bytes are zero. It may be moved or freed while nobody waits, right after a broadcast
 * too. Memory: 16 bytes, and 32 on the stack of each thread that waits. Waiting is no cancellation point.
 */
typedef struct stanchion_cond_t {
  /* For the library alone. */
  uint64_t opaque[2];
} stanchion_cond_t;
#define STANCHION_COND_INIT STANCHION_INIT

/**
 * The default lock, `stanchion`: for any number of threads on any number of CPUs. Waiters sleep, one at
 * most is awake, and that one may be overtaken for 0.2 ms (`turn_us`). Timed waits queue as any other.
 * Unlocking does not touch what it has released, so whoever locks it last may destroy it at once.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_mutex_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_mutex_t;
#define STANCHION_MUTEX_INIT STANCHION_INIT

/**
 * `stanchion_mutex_t`, counting its events; see `stanchion_event_total`. It may be destroyed as early.
 * Each thread that counts has 256 bytes of counters (512 in a library with the family).
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_counted_mutex_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_counted_mutex_t;
#define STANCHION_COUNTED_MUTEX_INIT STANCHION_INIT

/**
 * A resource class of per-CPU reader-writer locks. A thread reads one lock of a class at a time without
 * writing to anything shared; a further one, held at the same time, goes through that lock's own word. So
 * locks that are held together belong to different classes.
 *
 * Empty if all bytes are zero. Memory: 24 bytes, 64 for each thread number that was ever used to read a lock
 * of the class, and 128 for each thread that reads; a megabyte of addresses is set aside at the first use,
 * and never given back.
 */
typedef struct stanchion_class_t {
  /* For the library alone. */
  uint64_t opaque[3];
} stanchion_class_t;
#define STANCHION_CLASS_INIT STANCHION_INIT

/**
 * A reader-writer lock whose readers write to nothing that they share: for readers on many CPUs that hardly
 * ever meet a writer.
 *
 * `STANCHION_PERCPU_RWLOCK_INIT_IN(&class)` makes a free lock of a class; if all bytes are zero, it is a
 * free lock of the class that all such locks share. It may be moved or freed while nobody holds it or waits
 * for it, and the thread that wrote it last has returned. Memory: 40 bytes, and as its class says.
 */
typedef struct stanchion_percpu_rwlock_t {
  /**
   * The class, which stays for ever; null for the common one. Not to be changed once the lock was used.
   */
  struct stanchion_class_t *of;
  /* For the library alone. */
  uint64_t opaque[4];
} stanchion_percpu_rwlock_t;
#define STANCHION_PERCPU_RWLOCK_INIT STANCHION_INIT

/**
 * A reader-writer lock, `qrw`. Those who wait queue and sleep, one writer at a time; they may be passed for
 * some microseconds, and a writer also by other writers while it has no CPU.
 *
 * Free if all bytes are zero. Whoever locks it last may destroy it, while others return from unlock. Memory:
 * 12 bytes, and at most 192 bytes for each thread that ever waited for any lock of this library.
 */
typedef struct stanchion_rwlock_t {
  /* For the library alone. */
  uint32_t opaque[3];
} stanchion_rwlock_t;
#define STANCHION_RWLOCK_INIT STANCHION_INIT

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Waits until the calling thread holds `lock`.
 *
 * - Returns: 0, `EDEADLK` if the calling thread holds it already, or `EINVAL` if `lock` is null or
 *   misaligned.
 * - Progress: needs the holder to run.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_checked_mutex_lock(struct stanchion_checked_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock` if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, the calling thread included, or `EINVAL` if `lock` is null or
 *   misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_checked_mutex_trylock(struct stanchion_checked_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock` until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, `EDEADLK` if the calling thread holds it already, or `EINVAL` if a pointer is
 *   null or misaligned or the nanoseconds are not below a second.
 * - Progress: queues and sleeps as `stanchion_checked_mutex_lock`.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_checked_mutex_timedlock(struct stanchion_checked_mutex_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`.
 *
 * - Returns: 0, `EPERM` if the calling thread does not hold it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_checked_mutex_unlock(struct stanchion_checked_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Gives `mutex` up, waits for `stanchion_cond_signal` or `stanchion_cond_broadcast`, and acquires `mutex`
 * again.
 *
 * - Returns: 0, or `EINVAL` if a pointer is null or misaligned; then `mutex` was not given up.
 *
 * Caller: `cond` points at a condition variable that was zero before its first use, and the calling thread holds
 * `mutex`.
 */
int stanchion_cond_wait(struct stanchion_cond_t *cond, struct stanchion_mutex_t *mutex) STANCHION_NOEXCEPT;

/**
 * As `stanchion_cond_wait`, until `CLOCK_MONOTONIC` shows `until`. (`pthread_cond_timedwait` takes
 * `CLOCK_REALTIME` unless told otherwise.)
 *
 * - Returns: 0, `ETIMEDOUT`, with `mutex` acquired in both cases, or `EINVAL` if a pointer is null or
 *   misaligned or the nanoseconds are not below a second; then `mutex` was not given up.
 *
 * Caller: As `stanchion_cond_wait`; `until` points at a point of time.
 */
int stanchion_cond_timedwait(struct stanchion_cond_t *cond,
                             struct stanchion_mutex_t *mutex,
                             const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * As `stanchion_cond_timedwait`, until `clock` shows `until`.
 *
 * - Returns: as `stanchion_cond_timedwait`, and `EINVAL` if `clock` is neither `CLOCK_MONOTONIC` nor
 *   `CLOCK_REALTIME`.
 *
 * Caller: As `stanchion_cond_timedwait`.
 */
int stanchion_cond_clockwait(struct stanchion_cond_t *cond,
                             struct stanchion_mutex_t *mutex,
                             int clock,
                             const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Wakes the first thread in line, if there is one. Best called with the mutex held, or right after it was
 * released.
 *
 * - Returns: 0, or `EINVAL` if `cond` is null or misaligned.
 *
 * Caller: `cond` points at a condition variable that was zero before its first use.
 */
int stanchion_cond_signal(struct stanchion_cond_t *cond) STANCHION_NOEXCEPT;

/**
 * Wakes all threads that wait now.
 *
 * - Returns: 0, or `EINVAL` if `cond` is null or misaligned.
 *
 * Caller: `cond` points at a condition variable that was zero before its first use.
 */
int stanchion_cond_broadcast(struct stanchion_cond_t *cond) STANCHION_NOEXCEPT;

/**
 * How many kinds of lock events there are.
 */
size_t stanchion_event_count(void) STANCHION_NOEXCEPT;

/**
 * The name of the lock event `index`, such as `lock_slowpath`; null if there are not so many. It stays for
 * ever.
 */
const char *stanchion_event_name(size_t index) STANCHION_NOEXCEPT;

/**
 * What one count of the lock event `index` means, in English; null if there are not so many. It stays for
 * ever.
 */
const char *stanchion_event_meaning(size_t index) STANCHION_NOEXCEPT;

/**
 * How often the lock event `index` was counted since the last `stanchion_events_reset`, by all threads, at
 * all counting locks of the process; 0 if there are not so many kinds. Nothing is lost, but events of this
 * moment may be missing.
 */
uint64_t stanchion_event_total(size_t index) STANCHION_NOEXCEPT;

/**
 * Writes to `total` what `stanchion_event_total` says of the event with that name.
 *
 * - Returns: 0, or `EINVAL` if a pointer is null or misaligned, or no event has that name; then nothing is
 *   written.
 *
 * Caller: `name` is a string, and `total` a place to write to.
 */
int stanchion_event_read(const char *name, uint64_t *total) STANCHION_NOEXCEPT;

/**
 * Sets all totals to 0.
 */
void stanchion_events_reset(void) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock` until `clock` shows `until`; otherwise as `stanchion_mutex_timedlock`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned, the nanoseconds are not below a
 *   second, or `clock` is neither `CLOCK_MONOTONIC` nor `CLOCK_REALTIME`.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_mutex_clocklock(struct stanchion_mutex_t *lock, int clock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock` and leaves it to the thread that has waited longest, if one waits; nobody gets ahead of
 * it.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: the lock stays held until that thread runs, so each such release may cost a wake-up. For a
 *   holder that locks it again at once, and is to let others in now and then.
 *
 * Caller: As `stanchion_mutex_unlock`.
 */
int stanchion_mutex_unlock_fair(struct stanchion_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_mutex_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_mutex_lock(struct stanchion_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_mutex_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_mutex_trylock(struct stanchion_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_mutex_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_mutex_timedlock(struct stanchion_mutex_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_mutex_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_mutex_unlock(struct stanchion_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_counted_mutex_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_counted_mutex_lock(struct stanchion_counted_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_counted_mutex_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_counted_mutex_trylock(struct stanchion_counted_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_counted_mutex_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_counted_mutex_timedlock(struct stanchion_counted_mutex_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_counted_mutex_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_counted_mutex_unlock(struct stanchion_counted_mutex_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread reads. A thread may read several locks, and one of them several times if no
 * writer waits for it.
 *
 * - Returns: 0, `EAGAIN` if too many read locks are held (16384 through the lock's word, or 65536 by the
 *   thread), or `EINVAL` if `lock` or its class is null or misaligned.
 * - Progress: waits for writers only, and sleeps. Once a writer has the lock's own word, and waits for the
 *   cells of its class only, no new reader passes it.
 *
 * Caller: `lock` points at a lock that was initialised before its first use.
 */
int stanchion_percpu_rwlock_rdlock(struct stanchion_percpu_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Reads if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody writes, waits to write, or too many read, or `EINVAL` as
 *   `stanchion_percpu_rwlock_rdlock`.
 *
 * Caller: `lock` points at a lock that was initialised before its first use.
 */
int stanchion_percpu_rwlock_tryrdlock(struct stanchion_percpu_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to read until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` also if `until` is null or misaligned or its nanoseconds are not
 *   below a second.
 * - Progress: sleeps up to 1 ms between tries; under steady contention it may time out.
 *
 * Caller: `lock` points at a lock that was initialised before its first use, `until` at a point of time.
 */
int stanchion_percpu_rwlock_timedrdlock(struct stanchion_percpu_rwlock_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock` alone. It costs a `membarrier` system call, or while writers
 * are frequent a fence, and a look at a line of each thread that has read such a lock or waited for any lock
 * of this library.
 *
 * - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
 * - Progress: waits for readers that are in, and sleeps. A thread that reads or writes already waits for
 *   ever (a debug build of the library ends the process where it can tell). So does every writer under a
 *   filter that takes `membarrier` away after the process had it; tries then fail.
 *
 * Caller: `lock` points at a lock that was initialised before its first use.
 */
int stanchion_percpu_rwlock_wrlock(struct stanchion_percpu_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Writes if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody reads or writes, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
 *
 * Caller: `lock` points at a lock that was initialised before its first use.
 */
int stanchion_percpu_rwlock_trywrlock(struct stanchion_percpu_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to write until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` also if `until` is null or misaligned or its nanoseconds are not
 *   below a second.
 * - Progress: each try costs what writing costs; sleeps up to 1 ms between tries; under steady contention it
 *   may time out.
 *
 * Caller: `lock` points at a lock that was initialised before its first use, `until` at a point of time.
 */
int stanchion_percpu_rwlock_timedwrlock(struct stanchion_percpu_rwlock_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Gives up a read lock. Locks may be given up in any order.
 *
 * - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
 *
 * Caller: The calling thread itself has acquired a read lock of `lock`, and not given it up.
 */
int stanchion_percpu_rwlock_rdunlock(struct stanchion_percpu_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Gives up the write lock.
 *
 * - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
 *
 * Caller: The calling thread itself holds the write lock.
 */
int stanchion_percpu_rwlock_wrunlock(struct stanchion_percpu_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Turns the write lock into a read lock; no writer comes in between. `stanchion_percpu_rwlock_rdunlock`
 * gives it up.
 *
 * - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
 *
 * Caller: The calling thread itself holds the write lock.
 */
int stanchion_percpu_rwlock_downgrade(struct stanchion_percpu_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread reads.
 *
 * - Returns: 0, `EAGAIN` if 16384 read locks are held already, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: needs the holders to run. A thread that reads already may wait for ever: behind a writer that
 *   waits for it.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_rwlock_rdlock(struct stanchion_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Reads if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody writes, waits to write, or too many read, or `EINVAL` if `lock` is null
 *   or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_rwlock_tryrdlock(struct stanchion_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to read until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, `EAGAIN` if 16384 read locks are held already, or `EINVAL` if a pointer is null
 *   or misaligned or the nanoseconds are not below a second.
 * - Progress: as `stanchion_rwlock_rdlock`; waits in line, asleep, and leaves it when the time has come.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_rwlock_timedrdlock(struct stanchion_rwlock_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock` alone.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: needs the holders to run. A thread that reads or writes already waits for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_rwlock_wrlock(struct stanchion_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Writes if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody reads, writes, or is the first to wait, or `EINVAL` if `lock` is null or
 *   misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_rwlock_trywrlock(struct stanchion_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to write until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds are not below
 *   a second.
 * - Progress: as `stanchion_rwlock_wrlock`; waits in line, asleep, and leaves it when the time has come. New
 *   readers wait behind it.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_rwlock_timedwrlock(struct stanchion_rwlock_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Gives up a read lock.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds a read lock.
 */
int stanchion_rwlock_rdunlock(struct stanchion_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Gives up the write lock.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the write lock.
 */
int stanchion_rwlock_wrunlock(struct stanchion_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Turns the write lock into a read lock; no writer comes in between. `stanchion_rwlock_rdunlock` gives it
 * up.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the write lock.
 */
int stanchion_rwlock_downgrade(struct stanchion_rwlock_t *lock) STANCHION_NOEXCEPT;

/**
 * The version of the library that is running, such as `0.1.0`; `STANCHION_VERSION` is that of the header.
 */
const char *stanchion_version(void) STANCHION_NOEXCEPT;

/**
 * How many tunables there are.
 */
size_t stanchion_tunable_count(void) STANCHION_NOEXCEPT;

/**
 * The name of the tunable `index`, such as `turn_us`; null if there are not so many. It stays for
 * ever.
 */
const char *stanchion_tunable_name(size_t index) STANCHION_NOEXCEPT;

/**
 * What the tunable `index` means, in English; null if there are not so many. It stays for ever.
 */
const char *stanchion_tunable_meaning(size_t index) STANCHION_NOEXCEPT;

/**
 * Sets a tunable for all locks of the process. Waiters may work with the old value for one more round.
 *
 * - Returns: 0, or `EINVAL` if `name` is null or no tunable has that name.
 *
 * Caller: `name` is a string.
 */
int stanchion_tunable_set(const char *name, uint32_t value) STANCHION_NOEXCEPT;

/**
 * Writes to `value` what a tunable is set to.
 *
 * - Returns: 0, or `EINVAL` if a pointer is null or misaligned, or no tunable has that name; then nothing is
 *   written.
 *
 * Caller: `name` is a string, and `value` a place to write to.
 */
int stanchion_tunable_get(const char *name, uint32_t *value) STANCHION_NOEXCEPT;

/**
 * Keeps waiters of all locks of the process from sleeping, or lets them sleep again: for machines on which
 * every thread has a CPU of its own. The word `nopv` in the environment variable `STANCHION` does the same
 * when the program is loaded.
 */
void stanchion_set_nopv(bool nopv) STANCHION_NOEXCEPT;

/**
 * Whether waiters are kept from sleeping.
 */
bool stanchion_nopv(void) STANCHION_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STANCHION_H */
