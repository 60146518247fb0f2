//! The per-CPU reader-writer lock and its classes.
use crate::boundary::{busy_unless, disguise, on, uncover};
use crate::deadline::{self, Clock, acquire_until};
use core::ffi::c_int;
use core::ptr::NonNull;
use libc::timespec;
use stanchion::native::{Native, Silent};
use stanchion::percpu::Class;
use stanchion_core::{CpuId, PerCpuRwLock, ReaderCell, ReaderClass};

/// A resource class of per-CPU reader-writer locks. A thread reads one lock of a class at a time without
/// writing to anything shared; a further one, held at the same time, goes through that lock's own word. So
/// locks that are held together belong to different classes.
///
/// Empty if all bytes are zero. Memory: 24 bytes, 64 for each thread number that was ever used to read a lock
/// of the class, and 128 for each thread that reads; a megabyte of addresses is set aside at the first use,
/// and never given back.
#[derive(Debug)]
#[repr(C)]
pub struct stanchion_class_t {
    /// For the library alone.
    pub opaque: [u64; 3],
}
disguise!(stanchion_class_t, Class);

/// A reader-writer lock whose readers write to nothing that they share: for readers on many CPUs that hardly
/// ever meet a writer.
///
/// `STANCHION_PERCPU_RWLOCK_INIT_IN(&class)` makes a free lock of a class; if all bytes are zero, it is a
/// free lock of the class that all such locks share. It may be moved or freed while nobody holds it or waits
/// for it, and the thread that wrote it last has returned. Memory: 40 bytes, and as its class says.
#[derive(Debug)]
#[repr(C)]
pub struct stanchion_percpu_rwlock_t {
    /// The class, which stays for ever; null for the common one. Not to be changed once the lock was used.
    pub of: *mut stanchion_class_t,
    /// For the library alone.
    pub opaque: [u64; 4],
}
disguise!(stanchion_percpu_rwlock_t, Classed);

type Lock = PerCpuRwLock<Native<Silent>>;
type Cell = ReaderCell<Native<Silent>>;

/// What it is.
#[repr(C)]
pub(crate) struct Classed {
    of: Option<NonNull<stanchion_class_t>>,
    lock: Lock,
}

// SAFETY: the class, which the address leads to, and the lock are shared by threads by design.
unsafe impl Sync for Classed {}

/// The class as the lock sees it. Only this file leads a lock to its cells, so the lock itself need not know
/// which class it has.
struct Own(&'static Class);

impl ReaderClass<Native<Silent>> for Own {
    fn cell(&self, cpu: CpuId) -> Option<&Cell> {
        ReaderClass::cell(&self.0, cpu)
    }

    #[inline(always)]
    fn own(&self) -> Option<&Cell> {
        ReaderClass::own(&self.0)
    }

    fn each(&self, visit: impl FnMut(CpuId, &Cell)) {
        ReaderClass::each(&self.0, visit);
    }

    fn id(&self) -> usize {
        0
    }
}

/// The class of locks that were made without one.
static COMMON: Class = Class::new();

/// Calls `body` with the lock and its class; `EINVAL` if there can be no lock, or no class, at its address.
///
/// # Safety
///
/// As [`on`], for the lock and the class that it names; the class stays for ever.
#[inline(always)]
unsafe fn classed(lock: *const stanchion_percpu_rwlock_t, body: impl FnOnce(&Lock, &Own) -> c_int) -> c_int {
    let with_class = |classed: &Classed| {
        let class = match classed.of {
            None => Some(&COMMON),
            // SAFETY: the caller promises that a class is there, zero at first, and that it stays.
            Some(of) => unsafe { uncover::<stanchion_class_t>(of.as_ptr()) },
        };
        class.map_or(libc::EINVAL, |class| body(&classed.lock, &Own(class)))
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, with_class) }
}

/// Waits until the calling thread reads. A thread may read several locks, and one of them several times if no
/// writer waits for it.
///
/// - Returns: 0, `EAGAIN` if too many read locks are held (16384 through the lock's word, or 65536 by the
///   thread), or `EINVAL` if `lock` or its class is null or misaligned.
/// - Progress: waits for writers only, and sleeps. Once a writer has the lock's own word, and waits for the
///   cells of its class only, no new reader passes it.
///
/// # Safety
///
/// `lock` points at a lock that was initialised before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_rdlock(lock: *mut stanchion_percpu_rwlock_t) -> c_int {
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, |lock, class| lock.acquire_read_in(class).map_or(libc::EAGAIN, |_| 0)) }
}

/// Reads if that needs no waiting.
///
/// - Returns: 0, `EBUSY` if somebody writes, waits to write, or too many read, or `EINVAL` as
///   `stanchion_percpu_rwlock_rdlock`.
///
/// # Safety
///
/// `lock` points at a lock that was initialised before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_tryrdlock(lock: *mut stanchion_percpu_rwlock_t) -> c_int {
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, |lock, class| busy_unless(lock.try_acquire_read_in(class).is_some())) }
}

/// Tries to read until `CLOCK_MONOTONIC` shows `until`.
///
/// - Returns: 0, `ETIMEDOUT`, or `EINVAL` also if `until` is null or misaligned or its nanoseconds are not
///   below a second.
/// - Progress: sleeps up to 1 ms between tries; under steady contention it may time out.
///
/// # Safety
///
/// `lock` points at a lock that was initialised before its first use, `until` at a point of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_timedrdlock(
    lock: *mut stanchion_percpu_rwlock_t,
    until: *const timespec,
) -> c_int {
    let acquire = |lock: &Lock, class: &Own| {
        // SAFETY: the caller promises what `by` asks of `until`.
        unsafe {
            deadline::by(Clock::Monotonic, until, |until| {
                acquire_until(until, || lock.try_acquire_read_in(class).is_some())
            })
        }
    };
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, acquire) }
}

/// Waits until the calling thread holds `lock` alone. It costs a `membarrier` system call, or while writers
/// are frequent a fence, and a look at a line of each thread that has read such a lock or waited for any lock
/// of this library.
///
/// - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
/// - Progress: waits for readers that are in, and sleeps. A thread that reads or writes already waits for
///   ever (a debug build of the library ends the process where it can tell). So does every writer under a
///   filter that takes `membarrier` away after the process had it; tries then fail.
///
/// # Safety
///
/// `lock` points at a lock that was initialised before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_wrlock(lock: *mut stanchion_percpu_rwlock_t) -> c_int {
    let acquire = |lock: &Lock, class: &Own| {
        lock.acquire_write_in(class);
        0
    };
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, acquire) }
}

/// Writes if that needs no waiting.
///
/// - Returns: 0, `EBUSY` if somebody reads or writes, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
///
/// # Safety
///
/// `lock` points at a lock that was initialised before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_trywrlock(lock: *mut stanchion_percpu_rwlock_t) -> c_int {
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, |lock, class| busy_unless(lock.try_acquire_write_in(class))) }
}

/// Tries to write until `CLOCK_MONOTONIC` shows `until`.
///
/// - Returns: 0, `ETIMEDOUT`, or `EINVAL` also if `until` is null or misaligned or its nanoseconds are not
///   below a second.
/// - Progress: each try costs what writing costs; sleeps up to 1 ms between tries; under steady contention it
///   may time out.
///
/// # Safety
///
/// `lock` points at a lock that was initialised before its first use, `until` at a point of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_timedwrlock(
    lock: *mut stanchion_percpu_rwlock_t,
    until: *const timespec,
) -> c_int {
    let acquire = |lock: &Lock, class: &Own| {
        // SAFETY: the caller promises what `by` asks of `until`.
        unsafe {
            deadline::by(Clock::Monotonic, until, |until| {
                acquire_until(until, || lock.try_acquire_write_in(class))
            })
        }
    };
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, acquire) }
}

/// Gives up a read lock. Locks may be given up in any order.
///
/// - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
///
/// # Safety
///
/// The calling thread itself has acquired a read lock of `lock`, and not given it up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_rdunlock(lock: *mut stanchion_percpu_rwlock_t) -> c_int {
    let release = |lock: &Lock, class: &Own| {
        lock.release_read_in(class);
        0
    };
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, release) }
}

/// Gives up the write lock.
///
/// - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
///
/// # Safety
///
/// The calling thread itself holds the write lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_wrunlock(lock: *mut stanchion_percpu_rwlock_t) -> c_int {
    let release = |lock: &Lock, class: &Own| {
        lock.release_write_in(class);
        0
    };
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, release) }
}

/// Turns the write lock into a read lock; no writer comes in between. `stanchion_percpu_rwlock_rdunlock`
/// gives it up.
///
/// - Returns: 0, or `EINVAL` as `stanchion_percpu_rwlock_rdlock`.
///
/// # Safety
///
/// The calling thread itself holds the write lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_percpu_rwlock_downgrade(lock: *mut stanchion_percpu_rwlock_t) -> c_int {
    let downgrade = |lock: &Lock, class: &Own| {
        lock.downgrade_in(class);
        0
    };
    // SAFETY: the caller promises what `classed` asks.
    unsafe { classed(lock, downgrade) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_core::{ConstRwLock as _, RawRwLock as _};

    #[test]
    fn zero_is_free() {
        let zero = stanchion_percpu_rwlock_t { of: core::ptr::null_mut(), opaque: [0; 4] };
        // SAFETY: the address is that of a lock on the stack, which was zero.
        let zero = unsafe { uncover(&raw const zero) }.expect("aligned");
        assert!(zero.of.is_none());
        let new = Lock::NEW;
        assert_eq!(zero.lock.word(), new.word());
    }
}
