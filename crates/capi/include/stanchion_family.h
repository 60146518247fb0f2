/*
 * stanchion_family.h - the locks that stanchion.h is compared with, and came from
 *
 * Written by `cargo xtask header` from crates/capi/src; do not edit. MIT or Apache-2.0, at your choice.
 *
 * The library has them if it was built with the feature `family` (`cargo xtask install --family`). What stanchion.h says of types, errors,
 * time, signals and faults holds for them, too.
 */

#ifndef STANCHION_FAMILY_H
#define STANCHION_FAMILY_H

#include "stanchion.h"

/**
 * `byte`: Whoever finds the byte free takes it; waiters spin. For: the unfair yardstick.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_byte_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_byte_t;
#define STANCHION_BYTE_INIT STANCHION_INIT

/**
 * `ticket`: Tickets in order of arrival; all waiters spin on one line. For: the fair yardstick, lost when threads outnumber CPUs.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_ticket_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_ticket_t;
#define STANCHION_TICKET_INIT STANCHION_INIT

/**
 * `twa`: Tickets in order of arrival; only the next in line polls the lock. For: as `ticket`, with more CPUs.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_twa_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_twa_t;
#define STANCHION_TWA_INIT STANCHION_INIT

/**
 * `qspin`: The waiters form a queue, and each spins on a line of its own. For: at most one thread a CPU, and none of them preempted.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_qspin_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_qspin_t;
#define STANCHION_QSPIN_INIT STANCHION_INIT

/**
 * `cna`: A queue of spinners that serves its own NUMA node first, for 1 ms. For: as `qspin`, on several NUMA nodes: waiters nearby first.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_cna_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_cna_t;
#define STANCHION_CNA_INIT STANCHION_INIT

/**
 * `hmcs`: A queue on each NUMA node, and a queue of the NUMA nodes. For: as `cna`: each NUMA node has its turn, and a line of 64 bytes in the lock.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_hmcs_t {
  /* For the library alone. */
  uint32_t opaque[144];
} stanchion_hmcs_t;
#define STANCHION_HMCS_INIT STANCHION_INIT

/**
 * `reciprocating`: Waiters arrive on a stack, and one stack after the other is served. For: as `qspin`: each hand-over is one store into the line of the next.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_reciprocating_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_reciprocating_t;
#define STANCHION_RECIPROCATING_INIT STANCHION_INIT

/**
 * `malthusian`: A queue that sets surplus waiters aside, to sleep for long. For: more threads than CPUs, a lock that is always wanted: few threads take turns.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_malthusian_t {
  /* For the library alone. */
  uint32_t opaque[2];
} stanchion_malthusian_t;
#define STANCHION_MALTHUSIAN_INIT STANCHION_INIT

/**
 * `unfair-q`: A queue of spinners who steal, those in front more often. For: more threads than CPUs, without sleeping; no bound on a wait.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_unfair_q_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_unfair_q_t;
#define STANCHION_UNFAIR_Q_INIT STANCHION_INIT

/**
 * `ppc-simple`: The word names its owner, and waiters give it their time. For: the unfair yardstick where time can be given to the owner.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_ppc_simple_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_ppc_simple_t;
#define STANCHION_PPC_SIMPLE_INIT STANCHION_INIT

/**
 * `owner-qspin`: A queue that gives its owner time; newcomers steal for a while. For: more threads than CPUs, where time can be given to the owner.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_owner_qspin_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_owner_qspin_t;
#define STANCHION_OWNER_QSPIN_INIT STANCHION_INIT

/**
 * `xen-pv`: Whoever finds the byte free takes it; waiters sleep after a while. For: more threads than CPUs; unfair, a full fence at each release.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_xen_pv_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_xen_pv_t;
#define STANCHION_XEN_PV_INIT STANCHION_INIT

/**
 * `pv-ticket`: Tickets in order of arrival; waiters sleep after a while. For: more threads than CPUs; strictly first come, first served.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_ticket_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_ticket_t;
#define STANCHION_PV_TICKET_INIT STANCHION_INIT

/**
 * `pv-ticket-opportunistic`: As pv-ticket, and waiters near their turn hardly ever sleep. For: comparisons with `pv-ticket`.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_ticket_opportunistic_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_ticket_opportunistic_t;
#define STANCHION_PV_TICKET_OPPORTUNISTIC_INIT STANCHION_INIT

/**
 * `pv-qspin`: Newcomers steal, others queue and sleep: the form of Linux 4.15. For: more threads than CPUs, as in a kernel; no bound on a wait; in C it may be destroyed as early as `stanchion_mutex_t`.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_t;
#define STANCHION_PV_QSPIN_INIT STANCHION_INIT

/**
 * `pv-qspin-eager`: Whoever becomes head of the queue is woken at once (4.2-rc1). For: comparisons: what was there before the 2015 series.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_eager_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_eager_t;
#define STANCHION_PV_QSPIN_EAGER_INIT STANCHION_INIT

/**
 * `pv-qspin-kick-at-unlock`: Nobody steals; a release wakes the head of the queue if it sleeps. For: comparisons: patch 1 of the 2015 series.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_kick_at_unlock_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_kick_at_unlock_t;
#define STANCHION_PV_QSPIN_KICK_AT_UNLOCK_INIT STANCHION_INIT

/**
 * `pv-qspin-kick-ahead`: As kick-at-unlock, and a release wakes the next few sleepers, too. For: comparisons: patches 1 and 2 of the 2015 series.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_kick_ahead_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_kick_ahead_t;
#define STANCHION_PV_QSPIN_KICK_AHEAD_INIT STANCHION_INIT

/**
 * `pv-qspin-wait-early`: As kick-ahead, and whoever queues behind a sleeper sleeps at once. For: comparisons: patches 1 to 3 of the 2015 series.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_wait_early_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_wait_early_t;
#define STANCHION_PV_QSPIN_WAIT_EARLY_INIT STANCHION_INIT

/**
 * `pv-qspin-wait-early-sampled`: As kick-ahead; waiters look now and then if the one ahead sleeps. For: comparisons: `pv-qspin-wait-early` as it was merged.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_wait_early_sampled_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_wait_early_sampled_t;
#define STANCHION_PV_QSPIN_WAIT_EARLY_SAMPLED_INIT STANCHION_INIT

/**
 * `pv-qspin-only-wait-early`: As kick-at-unlock; whoever queues behind a sleeper sleeps at once. For: comparisons: patches 1 and 3 of the 2015 series.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_only_wait_early_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_only_wait_early_t;
#define STANCHION_PV_QSPIN_ONLY_WAIT_EARLY_INIT STANCHION_INIT

/**
 * `pv-qspin-pending`: As kick-at-unlock, and the first waiter needs no place in the queue. For: comparisons: patches 1 and 5 of the 2015 series.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_pending_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_pending_t;
#define STANCHION_PV_QSPIN_PENDING_INIT STANCHION_INIT

/**
 * `pv-qspin-patched`: Kick at unlock, kick ahead, wait early and a pending waiter. For: comparisons: the 2015 series as a whole.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_patched_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_patched_t;
#define STANCHION_PV_QSPIN_PATCHED_INIT STANCHION_INIT

/**
 * `pv-qspin-hash`: As kick-at-unlock; a release finds the sleeper in a hash table. For: comparisons: how a release finds a sleeper.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_pv_qspin_hash_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_pv_qspin_hash_t;
#define STANCHION_PV_QSPIN_HASH_INIT STANCHION_INIT

/**
 * `ppc-qspin`: As kick-at-unlock, and waiters yield instead of sleeping. For: comparisons: queued locks on POWER from 2020 to 2022.
 *
 * Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
 * waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
 * it and, if nothing else is said above, each unlock has returned.
 */
typedef struct stanchion_ppc_qspin_t {
  /* For the library alone. */
  uint32_t opaque;
} stanchion_ppc_qspin_t;
#define STANCHION_PPC_QSPIN_INIT STANCHION_INIT

/** `STANCHION_EACH_FAMILY(X)` is `X(name, bytes)` for each type of the family: `stanchion_name_t` has so many bytes. */
#define STANCHION_EACH_FAMILY(X) \
    X(byte, 4) \
    X(ticket, 4) \
    X(twa, 4) \
    X(qspin, 4) \
    X(cna, 4) \
    X(hmcs, 576) \
    X(reciprocating, 4) \
    X(malthusian, 8) \
    X(unfair_q, 4) \
    X(ppc_simple, 4) \
    X(owner_qspin, 4) \
    X(xen_pv, 4) \
    X(pv_ticket, 4) \
    X(pv_ticket_opportunistic, 4) \
    X(pv_qspin, 4) \
    X(pv_qspin_eager, 4) \
    X(pv_qspin_kick_at_unlock, 4) \
    X(pv_qspin_kick_ahead, 4) \
    X(pv_qspin_wait_early, 4) \
    X(pv_qspin_wait_early_sampled, 4) \
    X(pv_qspin_only_wait_early, 4) \
    X(pv_qspin_pending, 4) \
    X(pv_qspin_patched, 4) \
    X(pv_qspin_hash, 4) \
    X(ppc_qspin, 4)

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Waits until the calling thread holds `lock`, a `stanchion_byte_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_byte_lock(struct stanchion_byte_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_byte_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_byte_trylock(struct stanchion_byte_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_byte_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_byte_timedlock(struct stanchion_byte_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_byte_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_byte_unlock(struct stanchion_byte_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_ticket_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_ticket_lock(struct stanchion_ticket_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_ticket_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_ticket_trylock(struct stanchion_ticket_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_ticket_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_ticket_timedlock(struct stanchion_ticket_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_ticket_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_ticket_unlock(struct stanchion_ticket_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_twa_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_twa_lock(struct stanchion_twa_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_twa_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_twa_trylock(struct stanchion_twa_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_twa_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_twa_timedlock(struct stanchion_twa_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_twa_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_twa_unlock(struct stanchion_twa_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_qspin_lock(struct stanchion_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_qspin_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_qspin_trylock(struct stanchion_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_qspin_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_qspin_timedlock(struct stanchion_qspin_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_qspin_unlock(struct stanchion_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_cna_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_cna_lock(struct stanchion_cna_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_cna_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_cna_trylock(struct stanchion_cna_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_cna_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_cna_timedlock(struct stanchion_cna_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_cna_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_cna_unlock(struct stanchion_cna_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_hmcs_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_hmcs_lock(struct stanchion_hmcs_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_hmcs_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_hmcs_trylock(struct stanchion_hmcs_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_hmcs_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_hmcs_timedlock(struct stanchion_hmcs_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_hmcs_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_hmcs_unlock(struct stanchion_hmcs_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_reciprocating_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_reciprocating_lock(struct stanchion_reciprocating_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_reciprocating_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_reciprocating_trylock(struct stanchion_reciprocating_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_reciprocating_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_reciprocating_timedlock(struct stanchion_reciprocating_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_reciprocating_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_reciprocating_unlock(struct stanchion_reciprocating_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_malthusian_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_malthusian_lock(struct stanchion_malthusian_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_malthusian_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_malthusian_trylock(struct stanchion_malthusian_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_malthusian_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_malthusian_timedlock(struct stanchion_malthusian_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_malthusian_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_malthusian_unlock(struct stanchion_malthusian_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_unfair_q_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_unfair_q_lock(struct stanchion_unfair_q_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_unfair_q_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_unfair_q_trylock(struct stanchion_unfair_q_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_unfair_q_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_unfair_q_timedlock(struct stanchion_unfair_q_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_unfair_q_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_unfair_q_unlock(struct stanchion_unfair_q_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_ppc_simple_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_ppc_simple_lock(struct stanchion_ppc_simple_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_ppc_simple_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_ppc_simple_trylock(struct stanchion_ppc_simple_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_ppc_simple_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_ppc_simple_timedlock(struct stanchion_ppc_simple_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_ppc_simple_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_ppc_simple_unlock(struct stanchion_ppc_simple_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_owner_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_owner_qspin_lock(struct stanchion_owner_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_owner_qspin_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_owner_qspin_trylock(struct stanchion_owner_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_owner_qspin_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_owner_qspin_timedlock(struct stanchion_owner_qspin_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_owner_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_owner_qspin_unlock(struct stanchion_owner_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_xen_pv_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_xen_pv_lock(struct stanchion_xen_pv_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_xen_pv_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_xen_pv_trylock(struct stanchion_xen_pv_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_xen_pv_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_xen_pv_timedlock(struct stanchion_xen_pv_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_xen_pv_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_xen_pv_unlock(struct stanchion_xen_pv_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_ticket_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_ticket_lock(struct stanchion_pv_ticket_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_ticket_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_ticket_trylock(struct stanchion_pv_ticket_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_ticket_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_ticket_timedlock(struct stanchion_pv_ticket_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_ticket_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_ticket_unlock(struct stanchion_pv_ticket_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_ticket_opportunistic_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_ticket_opportunistic_lock(struct stanchion_pv_ticket_opportunistic_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_ticket_opportunistic_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_ticket_opportunistic_trylock(struct stanchion_pv_ticket_opportunistic_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_ticket_opportunistic_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_ticket_opportunistic_timedlock(struct stanchion_pv_ticket_opportunistic_t *lock,
                                                const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_ticket_opportunistic_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_ticket_opportunistic_unlock(struct stanchion_pv_ticket_opportunistic_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_lock(struct stanchion_pv_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_trylock(struct stanchion_pv_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_timedlock(struct stanchion_pv_qspin_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_unlock(struct stanchion_pv_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_eager_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_eager_lock(struct stanchion_pv_qspin_eager_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_eager_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_eager_trylock(struct stanchion_pv_qspin_eager_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_eager_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_eager_timedlock(struct stanchion_pv_qspin_eager_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_eager_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_eager_unlock(struct stanchion_pv_qspin_eager_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_kick_at_unlock_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_kick_at_unlock_lock(struct stanchion_pv_qspin_kick_at_unlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_kick_at_unlock_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_kick_at_unlock_trylock(struct stanchion_pv_qspin_kick_at_unlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_kick_at_unlock_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_kick_at_unlock_timedlock(struct stanchion_pv_qspin_kick_at_unlock_t *lock,
                                                const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_kick_at_unlock_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_kick_at_unlock_unlock(struct stanchion_pv_qspin_kick_at_unlock_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_kick_ahead_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_kick_ahead_lock(struct stanchion_pv_qspin_kick_ahead_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_kick_ahead_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_kick_ahead_trylock(struct stanchion_pv_qspin_kick_ahead_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_kick_ahead_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_kick_ahead_timedlock(struct stanchion_pv_qspin_kick_ahead_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_kick_ahead_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_kick_ahead_unlock(struct stanchion_pv_qspin_kick_ahead_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_wait_early_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_wait_early_lock(struct stanchion_pv_qspin_wait_early_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_wait_early_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_wait_early_trylock(struct stanchion_pv_qspin_wait_early_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_wait_early_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_wait_early_timedlock(struct stanchion_pv_qspin_wait_early_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_wait_early_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_wait_early_unlock(struct stanchion_pv_qspin_wait_early_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_wait_early_sampled_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_wait_early_sampled_lock(struct stanchion_pv_qspin_wait_early_sampled_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_wait_early_sampled_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_wait_early_sampled_trylock(struct stanchion_pv_qspin_wait_early_sampled_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_wait_early_sampled_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_wait_early_sampled_timedlock(struct stanchion_pv_qspin_wait_early_sampled_t *lock,
                                                    const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_wait_early_sampled_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_wait_early_sampled_unlock(struct stanchion_pv_qspin_wait_early_sampled_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_only_wait_early_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_only_wait_early_lock(struct stanchion_pv_qspin_only_wait_early_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_only_wait_early_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_only_wait_early_trylock(struct stanchion_pv_qspin_only_wait_early_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_only_wait_early_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_only_wait_early_timedlock(struct stanchion_pv_qspin_only_wait_early_t *lock,
                                                 const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_only_wait_early_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_only_wait_early_unlock(struct stanchion_pv_qspin_only_wait_early_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_pending_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_pending_lock(struct stanchion_pv_qspin_pending_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_pending_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_pending_trylock(struct stanchion_pv_qspin_pending_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_pending_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_pending_timedlock(struct stanchion_pv_qspin_pending_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_pending_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_pending_unlock(struct stanchion_pv_qspin_pending_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_patched_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_patched_lock(struct stanchion_pv_qspin_patched_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_patched_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_patched_trylock(struct stanchion_pv_qspin_patched_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_patched_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_patched_timedlock(struct stanchion_pv_qspin_patched_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_patched_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_patched_unlock(struct stanchion_pv_qspin_patched_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_pv_qspin_hash_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_hash_lock(struct stanchion_pv_qspin_hash_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_pv_qspin_hash_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_pv_qspin_hash_trylock(struct stanchion_pv_qspin_hash_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_pv_qspin_hash_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_pv_qspin_hash_timedlock(struct stanchion_pv_qspin_hash_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_pv_qspin_hash_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_pv_qspin_hash_unlock(struct stanchion_pv_qspin_hash_t *lock) STANCHION_NOEXCEPT;

/**
 * Waits until the calling thread holds `lock`, a `stanchion_ppc_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 * - Progress: as its type says; needs the holder to run. A thread that holds it already waits
 *   for ever.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_ppc_qspin_lock(struct stanchion_ppc_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Acquires `lock`, a `stanchion_ppc_qspin_t`, if that needs no waiting.
 *
 * - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: `lock` points at a lock that was zero before its first use.
 */
int stanchion_ppc_qspin_trylock(struct stanchion_ppc_qspin_t *lock) STANCHION_NOEXCEPT;

/**
 * Tries to acquire `lock`, a `stanchion_ppc_qspin_t`, until `CLOCK_MONOTONIC` shows `until`.
 *
 * - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
 *   are not below a second.
 * - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
 *   up to 1 ms between tries; under steady contention they may time out.
 *
 * Caller: `lock` points at a lock that was zero before its first use, `until` at a point of time.
 */
int stanchion_ppc_qspin_timedlock(struct stanchion_ppc_qspin_t *lock, const struct timespec *until) STANCHION_NOEXCEPT;

/**
 * Releases `lock`, a `stanchion_ppc_qspin_t`.
 *
 * - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
 *
 * Caller: The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
 * doubt uses `stanchion_checked_mutex_t`.
 */
int stanchion_ppc_qspin_unlock(struct stanchion_ppc_qspin_t *lock) STANCHION_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STANCHION_FAMILY_H */
