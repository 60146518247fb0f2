//! One type of C for each lock. `stanchion_mutex_t` is the default lock.
use crate::boundary::{Disguise, busy_unless, disguise, on};
use crate::deadline::{self, Clock};
use core::ffi::c_int;
use libc::timespec;
use stanchion::native::{CountedDestroyable, Counting, Destroyable, Native};
use stanchion::{Raw, lock};
#[cfg(not(feature = "family"))]
use stanchion_core as rows;
use stanchion_core::RawLock;
#[cfg(feature = "family")]
use stanchion_family as rows;

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

/// What a type is made of.
macro_rules! opaque {
    () => {
        u32
    };
    ($opaque:ty) => {
        $opaque
    };
}

/// A type and its functions. Functions are named by their modules in Rust, and in full in C.
macro_rules! mutex {
    ($(#[$doc:meta])* $name:ident $type:ident [$($opaque:ty)?] = $lock:ty) => {
        $(#[$doc])*
        ///
        /// Free if all bytes are zero. Memory: its size, and at most 192 bytes for each thread that ever
        /// waited for any lock of this library. The bytes may be given back when nobody holds it or waits for
        /// it and, if nothing else is said above, each unlock has returned.
        #[derive(Debug)]
        #[repr(C)]
        pub struct $type {
            /// For the library alone.
            pub opaque: opaque!($($opaque)?),
        }
        disguise!($type, $lock);

        #[doc = concat!("The functions of [`", stringify!($type), "`].")]
        pub mod $name {
            use super::{c_int, timespec, Clock, $type};

            #[doc = concat!(" Waits until the calling thread holds `lock`, a `", stringify!($type), "`.")]
            ///
            /// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
            /// - Progress: as its type says; needs the holder to run. A thread that holds it already waits
            ///   for ever.
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
            /// - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds
            ///   are not below a second.
            /// - Progress: the default lock queues and sleeps. The others take no place in a queue, and sleep
            ///   up to 1 ms between tries; under steady contention they may time out.
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
            /// The calling thread, or one that passed it on to the calling thread, holds the lock. Who is in
            /// doubt uses `stanchion_checked_mutex_t`.
            #[unsafe(export_name = concat!("stanchion_", stringify!($name), "_unlock"))]
            pub unsafe extern "C" fn unlock(lock: *mut $type) -> c_int {
                // SAFETY: the caller promises what `release` asks.
                unsafe { super::release(lock) }
            }
        }
    };
}

mutex! {
    /// The default lock, `stanchion`: for any number of threads on any number of CPUs. Waiters sleep, one at
    /// most is awake, and that one may be overtaken for 0.2 ms (`turn_us`). Timed waits queue as any other.
    /// Unlocking does not touch what it has released, so whoever locks it last may destroy it at once.
    mutex stanchion_mutex_t [] = lock::StanchionLock<Destroyable>
}

mutex! {
    /// `stanchion_mutex_t`, counting its events; see `stanchion_event_total`. It may be destroyed as early.
    /// Each thread that counts has 256 bytes of counters (512 in a library with the family).
    counted_mutex stanchion_counted_mutex_t [] = lock::StanchionLock<CountedDestroyable>
}

const _: () = assert!(stanchion::tunables::Tunable::TurnMicros.default() == 200, "the texts say 0.2 ms");

/// The other locks, each by its name in the catalogue.
macro_rules! family {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        c [$($type:ident $(: $opaque:ty)?)?] preload $holder:tt $facts:tt)*) => {
        $($(mutex! {
            #[doc = concat!(" `", $name, "`: ", $about, " For: ", $suits, ".")]
            $row $type [$($opaque)?] = Raw<$lock>
        })?)*

        /// Each lock of the catalogue: its name, and whether its type is free when it is zero, if it has a
        /// type here.
        #[cfg(test)]
        const EACH: &[(&str, &[fn() -> bool])] = &[$(($name, &[$(tests::zero_is_free::<_, $type>)?])),*];
    };
}

rows::mutex_rows! { Native<Destroyable>; family; }

/// Tries to acquire `lock` until `clock` shows `until`; otherwise as `stanchion_mutex_timedlock`.
///
/// - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned, the nanoseconds are not below a
///   second, or `clock` is neither `CLOCK_MONOTONIC` nor `CLOCK_REALTIME`.
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

/// Releases `lock` and leaves it to the thread that has waited longest, if one waits; nobody gets ahead of
/// it.
///
/// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
/// - Progress: the lock stays held until that thread runs, so each such release may cost a wake-up. For a
///   holder that locks it again at once, and is to let others in now and then.
///
/// # Safety
///
/// As `stanchion_mutex_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_mutex_unlock_fair(lock: *mut stanchion_mutex_t) -> c_int {
    let release = |lock: &lock::StanchionLock<Destroyable>| {
        lock.inner().release_fair();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, release) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::uncover;
    use core::mem::MaybeUninit;

    /// Whether zero is what the constructor makes.
    pub(super) fn zero_is_free<R, T: Disguise<Inner = Raw<R>>>() -> bool
    where
        R: RawLock,
        Raw<R>: stanchion::lock_api::RawMutex,
    {
        let zero = MaybeUninit::<T>::zeroed();
        // SAFETY: the address is that of a lock on the stack, which was zero.
        let zero = unsafe { uncover(zero.as_ptr()) }.expect("aligned");
        zero.inner().word() == <Raw<R> as stanchion::lock_api::RawMutex>::INIT.inner().word()
    }

    #[test]
    fn zero_is_free_and_each_lock_but_larger_variants_has_a_type() {
        assert!(zero_is_free::<_, stanchion_mutex_t>());
        assert!(zero_is_free::<_, stanchion_counted_mutex_t>());
        for (name, is_free) in EACH {
            let facts = rows::catalogue::mutex(name);
            let typed = (facts.bytes == 4 || !facts.is_variant()) && *name != "stanchion";
            assert_eq!(is_free.len(), usize::from(typed), "{name}: the default is `stanchion_mutex_t`");
            assert!(
                is_free.iter().all(|is_free| is_free()),
                "{name}: zero is not what its constructor makes"
            );
        }
    }
}
