//! One type of C for each lock of four bytes. `stanchion_mutex_t` is the default lock.
use crate::boundary::{Disguise, busy_unless, disguise, on};
use crate::deadline::{self, Clock};
use core::ffi::c_int;
use libc::timespec;
use stanchion::native::{CountedDeparting, Counting, Departing, Native};
use stanchion::{Raw, lock};
use stanchion_core::RawLock;

/// # Safety
///
/// As [`on`].
#[inline(always)]
unsafe fn acquire<T: Disguise<Inner = Raw<L>>, L: RawLock>(lock: *const T) -> c_int {
    let acquire = |lock: &Raw<L>| {
        lock.inner().acquire();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, acquire) }
}

/// # Safety
///
/// As [`on`].
#[inline(always)]
unsafe fn try_acquire<T: Disguise<Inner = Raw<L>>, L: RawLock>(lock: *const T) -> c_int {
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, |lock| busy_unless(lock.inner().try_acquire())) }
}

/// # Safety
///
/// As [`on`] and [`deadline::by`].
unsafe fn acquire_by<T: Disguise<Inner = Raw<L>>, C: Counting, L: RawLock<Platform = Native<C>>>(
    lock: *const T,
    clock: Clock,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller promises what both ask.
    unsafe { on(lock, |lock| deadline::by(clock, until, |until| lock.inner().acquire_until(until))) }
}

/// # Safety
///
/// As [`on`].
#[inline(always)]
unsafe fn release<T: Disguise<Inner = Raw<L>>, L: RawLock>(lock: *const T) -> c_int {
    let release = |lock: &Raw<L>| {
        lock.inner().release();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, release) }
}

/// The types and their functions. Functions are named by their modules in Rust, and in full in C.
macro_rules! mutexes {
    ($($(#[$doc:meta])* $name:ident $type:ident = $lock:ty;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Free if all bytes are zero. Memory: 4 bytes, and 128 bytes for each thread that ever waited for any lock of this library. They
            /// may be given back when nobody holds it or waits for it, and each unlock has returned.
            #[derive(Debug)]
            #[repr(C)]
            pub struct $type {
                /// For the library alone.
                pub opaque: u32,
            }
            disguise!($type, $lock);

            #[doc = concat!("The functions of [`", stringify!($type), "`].")]
            pub mod $name {
                use super::{c_int, timespec, Clock, $type};

                #[doc = concat!(" Waits until the calling thread holds `lock`, a `", stringify!($type), "`.")]
                ///
                /// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
                /// - Progress: as its type says; needs the holder to run. A thread that holds it already waits for ever.
                ///
                /// # Safety
                ///
                /// `lock` points at a lock that was zero before its first use.
                #[unsafe(export_name = concat!("stanchion_", stringify!($name), "_lock"))]
                pub unsafe extern "C" fn lock(lock: *mut $type) -> c_int {
                    // SAFETY: the caller promises what `acquire` asks.
                    unsafe { super::acquire(lock) }
                }

                #[doc = concat!(" Acquires `lock`, a `", stringify!($type), "`, if that needs no waiting.")]
                ///
                /// - Returns: 0, `EBUSY` if somebody holds it, or `EINVAL` if `lock` is null or misaligned.
                ///
                /// # Safety
                ///
                /// `lock` points at a lock that was zero before its first use.
                #[unsafe(export_name = concat!("stanchion_", stringify!($name), "_trylock"))]
                pub unsafe extern "C" fn trylock(lock: *mut $type) -> c_int {
                    // SAFETY: the caller promises what `try_acquire` asks.
                    unsafe { super::try_acquire(lock) }
                }

                #[doc = concat!(" Tries to acquire `lock`, a `", stringify!($type), "`, until `CLOCK_MONOTONIC` shows `until`.")]
                ///
                /// - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds are not below a second.
                /// - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep up to 1 ms between tries; under
                ///   steady contention they may time out.
                ///
                /// # Safety
                ///
                /// `lock` points at a lock that was zero before its first use, `until` at a point of time.
                #[unsafe(export_name = concat!("stanchion_", stringify!($name), "_timedlock"))]
                pub unsafe extern "C" fn timedlock(lock: *mut $type, until: *const timespec) -> c_int {
                    // SAFETY: the caller promises what `acquire_by` asks.
                    unsafe { super::acquire_by(lock, Clock::Monotonic, until) }
                }

                #[doc = concat!(" Releases `lock`, a `", stringify!($type), "`.")]
                ///
                /// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
                ///
                /// # Safety
                ///
                /// The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in doubt uses
                /// `stanchion_checked_mutex_t`.
                #[unsafe(export_name = concat!("stanchion_", stringify!($name), "_unlock"))]
                pub unsafe extern "C" fn unlock(lock: *mut $type) -> c_int {
                    // SAFETY: the caller promises what `release` asks.
                    unsafe { super::release(lock) }
                }
            }
        )*

        /// What the tests go through: the name of each type, that of its lock, and whether it is free when it is zero.
        #[cfg(test)]
        fn each(mut visit: impl FnMut(&str, &str, bool)) {
            use stanchion::lock_api::RawMutex as _;
            fn name_of<L: RawLock>(_: &Raw<L>) -> &'static str {
                L::NAME
            }
            $({
                type Inner = <$type as Disguise>::Inner;
                let zero = $type { opaque: 0 };
                // SAFETY: the address is that of a lock on the stack, which was zero.
                let zero = unsafe { crate::boundary::uncover(&raw const zero) }.expect("aligned");
                let new = Inner::INIT;
                visit(stringify!($name), name_of(zero), zero.inner().word() == new.inner().word());
            })*
        }
    };
}

mutexes! {
    /// The default lock, `stanchion`: for any number of threads on any number of CPUs. Waiters sleep, one at most is awake, and that one may be
    /// overtaken for 0.4 ms. Timed waits queue as any other. Unlocking does not touch what it has released, so whoever locks it last may
    /// destroy it at once.
    mutex stanchion_mutex_t = lock::StanchionLock<Departing>;
    /// `stanchion_mutex_t`, counting its events; see `stanchion_event_total`. It may be destroyed as early.
    counted_mutex stanchion_counted_mutex_t = lock::StanchionLock<CountedDeparting>;
    /// `byte`: the unfair yardstick. Spins; no bound on a wait.
    byte stanchion_byte_t = lock::ByteLock<Departing>;
    /// `ticket`: the fair yardstick, lost when threads outnumber CPUs. First come, first served; spins.
    ticket stanchion_ticket_t = lock::TicketLock<Departing>;
    /// `qspin`: for at most one thread a CPU, and none of them preempted. A queue of spinners.
    qspin stanchion_qspin_t = lock::QSpinLock<Departing>;
    /// `cna`: as `qspin`, on several NUMA nodes; waiters nearby come first, others wait 1 ms longer at most. Spins.
    cna stanchion_cna_t = lock::CnaLock<Departing>;
    /// `unfair-q`: for more threads than CPUs, without sleeping; waiters may steal. No bound on a wait.
    unfair_q stanchion_unfair_q_t = lock::UnfairQueuedLock<Departing>;
    /// `ppc-simple`: unfair; waiters lend their time to an owner that does not run. Spins.
    ppc_simple stanchion_ppc_simple_t = lock::OwnerYieldLock<Departing>;
    /// `owner-qspin`: a queue, whose waiters lend their time to an owner that does not run. Spins.
    owner_qspin stanchion_owner_qspin_t = lock::OwnerQueuedLock<Departing>;
    /// `xen-pv`: an unfair byte whose waiters sleep after a while.
    xen_pv stanchion_xen_pv_t = lock::XenPvLock<Departing>;
    /// `pv-ticket`: first come, first served; waiters sleep after a while.
    pv_ticket stanchion_pv_ticket_t = lock::PvTicketLock<Departing>;
    /// `pv-ticket-opportunistic`: the same; waiters near their turn hardly ever sleep.
    pv_ticket_opportunistic stanchion_pv_ticket_opportunistic_t = lock::PvTicketOpportunisticLock<Departing>;
    /// `pv-qspin`: as merged in Linux 4.15: newcomers steal, waiters sleep; no bound on stealing by time. It may be destroyed as early.
    pv_qspin stanchion_pv_qspin_t = lock::PvQSpinLock<Departing>;
    /// `pv-qspin-kick-at-unlock`: never steals.
    pv_qspin_kick_at_unlock stanchion_pv_qspin_kick_at_unlock_t = lock::PvQSpinKickAtUnlockLock<Departing>;
    /// `pv-qspin-eager`: wakes a sleeper when it becomes head (4.2-rc1).
    pv_qspin_eager stanchion_pv_qspin_eager_t = lock::PvQSpinEagerLock<Departing>;
    /// `pv-qspin-kick-ahead`: as kick-at-unlock, and wakes the next few sleepers.
    pv_qspin_kick_ahead stanchion_pv_qspin_kick_ahead_t = lock::PvQSpinKickAheadLock<Departing>;
    /// `pv-qspin-wait-early`: as kick-ahead, and sleeps at once behind sleepers.
    pv_qspin_wait_early stanchion_pv_qspin_wait_early_t = lock::PvQSpinWaitEarlyLock<Departing>;
    /// `pv-qspin-wait-early-sampled`: as kick-ahead, and looks now and then whether to sleep.
    pv_qspin_wait_early_sampled stanchion_pv_qspin_wait_early_sampled_t = lock::PvQSpinWaitEarlySampledLock<Departing>;
    /// `pv-qspin-only-wait-early`: as kick-at-unlock, and sleeps at once behind sleepers.
    pv_qspin_only_wait_early stanchion_pv_qspin_only_wait_early_t = lock::PvQSpinOnlyWaitEarlyLock<Departing>;
    /// `pv-qspin-pending`: as kick-at-unlock; the first waiter needs no node.
    pv_qspin_pending stanchion_pv_qspin_pending_t = lock::PvQSpinPendingLock<Departing>;
    /// `pv-qspin-patched`: the announced series of 2015 as a whole.
    pv_qspin_patched stanchion_pv_qspin_patched_t = lock::PvQSpinPatchedLock<Departing>;
    /// `pv-qspin-hash`: as kick-at-unlock; finds its head in a hash table.
    pv_qspin_hash stanchion_pv_qspin_hash_t = lock::PvQSpinHashLock<Departing>;
    /// `ppc-qspin`: as kick-at-unlock; yields instead of sleeping.
    ppc_qspin stanchion_ppc_qspin_t = lock::PpcQSpinLock<Departing>;
}

/// Tries to acquire `lock` until `clock` shows `until`; otherwise as `stanchion_mutex_timedlock`.
///
/// - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned, the nanoseconds are not below a second, or `clock` is neither
///   `CLOCK_MONOTONIC` nor `CLOCK_REALTIME`.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use, `until` at a point of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_mutex_clocklock(
    lock: *mut stanchion_mutex_t,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    match deadline::clock(clock) {
        // SAFETY: the caller promises what `acquire_by` asks.
        Some(clock) => unsafe { acquire_by(lock, clock, until) },
        None => libc::EINVAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_free_and_names_are_those_of_the_locks() {
        let mut seen = 0;
        each(|name, lock, free| {
            seen += 1;
            assert!(free, "{name}: zero is not what its constructor makes");
            if !name.ends_with("mutex") {
                assert_eq!(name, lock.replace(['-', '.'], "_"));
            }
        });
        assert!(seen > 20);
    }

    /// The list of locks is another crate's; its rows of four bytes are those that state no size.
    #[test]
    fn each_lock_of_four_bytes_has_a_type() {
        let text = include_str!("../../stanchion/src/lock.rs");
        let list =
            text.split("\nlocks! {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("the list");
        let rows = list.lines().map(str::trim).filter(|line| !line.starts_with("///") && !line.is_empty());
        let small = rows.filter(|row| !row.contains(" in ")).count();
        let mut types = 0;
        each(|name, _, _| types += usize::from(!name.ends_with("mutex")));
        assert_eq!(types + 1, small, "the default is `stanchion_mutex_t`");
    }
}
