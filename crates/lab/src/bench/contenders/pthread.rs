//! The locks of the C library.
#![expect(unsafe_code, reason = "calls the C library's locks")]
use crate::bench::contender::Contender;
use crate::bench::{available_cpus, restrict_to};
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use libc::{pthread_mutex_t, pthread_rwlock_t, pthread_rwlockattr_t, pthread_spinlock_t};
use std::thread::scope;
use std::time::Instant;

/// An object of the C library, of one of its kinds.
pub(crate) struct Posix<T, const KIND: c_int>(UnsafeCell<T>);

// SAFETY: POSIX locks are made to be locked and unlocked by any thread through a shared address; the cell is
// touched by nothing but those calls.
unsafe impl<T, const KIND: c_int> Sync for Posix<T, KIND> {}

pub(crate) type Mutex<const KIND: c_int> = Posix<pthread_mutex_t, KIND>;
pub(crate) type Spin = Posix<pthread_spinlock_t, { libc::PTHREAD_PROCESS_PRIVATE }>;
pub(crate) type RwLock<const KIND: c_int> = Posix<pthread_rwlock_t, KIND>;

pub(crate) const DEFAULT: c_int = libc::PTHREAD_MUTEX_DEFAULT;
pub(crate) const ADAPTIVE: c_int = libc::PTHREAD_MUTEX_ADAPTIVE_NP;
/// `PTHREAD_RWLOCK_PREFER_READER_NP`, and `_WRITER_NONRECURSIVE_NP` below, which `libc` has not for this
/// target.
pub(crate) const PREFER_READER: c_int = 0;
pub(crate) const PREFER_WRITER_NONRECURSIVE: c_int = 2;

impl<const KIND: c_int> Contender for Mutex<KIND> {
    fn new() -> Self {
        Self(UnsafeCell::new(match KIND {
            ADAPTIVE => libc::PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,
            _ => libc::PTHREAD_MUTEX_INITIALIZER,
        }))
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: the mutex was statically initialised and has not moved since its first use, because
        // the worker keeps it in one allocation for the life of the process.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
        let result = critical();
        // SAFETY: as above, and this thread holds the mutex: it locked it in this very call.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
        result
    }
}

impl Contender for Spin {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn settle(&self) {
        // SAFETY: the lock is at its final address and no thread uses it yet (the trait's contract).
        unsafe { libc::pthread_spin_init(self.0.get(), libc::PTHREAD_PROCESS_PRIVATE) };
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: `settle` initialised the lock at this address before any thread started.
        unsafe { libc::pthread_spin_lock(self.0.get()) };
        let result = critical();
        // SAFETY: as above, and this thread holds the lock: it locked it in this very call.
        unsafe { libc::pthread_spin_unlock(self.0.get()) };
        result
    }
}

impl<const KIND: c_int> Contender for RwLock<KIND> {
    const RW: bool = true;

    fn new() -> Self {
        Self(UnsafeCell::new(libc::PTHREAD_RWLOCK_INITIALIZER))
    }

    /// Gives it its kind, at the address where it stays and before its first use.
    fn settle(&self) {
        let mut attributes = MaybeUninit::<pthread_rwlockattr_t>::uninit();
        // SAFETY: the pointer is to room for attributes, which the first call initialises and the last one is
        // the last to use. Nobody has used the lock yet, and it stays where it is.
        let failed = unsafe {
            libc::pthread_rwlockattr_init(attributes.as_mut_ptr())
                | libc::pthread_rwlockattr_setkind_np(attributes.as_mut_ptr(), KIND)
                | libc::pthread_rwlock_init(self.0.get(), attributes.as_ptr())
                | libc::pthread_rwlockattr_destroy(attributes.as_mut_ptr())
        };
        assert_eq!(failed, 0, "the C library refuses a reader-writer lock of kind {KIND}");
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: the lock is initialised and has not moved since, because the worker keeps it in one
        // allocation for the life of the process.
        let failed = unsafe { libc::pthread_rwlock_rdlock(self.0.get()) };
        assert_eq!(failed, 0, "a read lock was refused");
        let result = critical();
        // SAFETY: as above, and this thread holds the lock: it read-locked it in this very call.
        unsafe { libc::pthread_rwlock_unlock(self.0.get()) };
        result
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: the lock is initialised and has not moved since, because the worker keeps it in one
        // allocation for the life of the process.
        let failed = unsafe { libc::pthread_rwlock_wrlock(self.0.get()) };
        assert_eq!(failed, 0, "a write lock was refused");
        let result = critical();
        // SAFETY: as above, and this thread holds the lock: it write-locked it in this very call.
        unsafe { libc::pthread_rwlock_unlock(self.0.get()) };
        result
    }
}

/// Takes a default mutex so many times, then a default reader-writer lock as a reader, then as a writer.
pub(crate) fn take(times: u32) {
    let mutex = Box::new(Mutex::<DEFAULT>::new());
    (0..times).for_each(|_| mutex.write(|| ()));
    let lock = Box::new(RwLock::<PREFER_READER>::new());
    lock.settle();
    (0..times).for_each(|_| lock.read(|| ()));
    (0..times).for_each(|_| lock.write(|| ()));
}

/// Two threads on two CPUs take a default mutex for so long and write the same data under it. Nobody does if
/// there is one CPU.
pub(crate) fn take_by_two(time: Duration) {
    let (mutex, data) = (Box::new(Mutex::<DEFAULT>::new()), CachePadded::new(AtomicU32::new(0)));
    let (begin, cpus) = (Instant::now(), available_cpus());
    let takes = |cpu: usize| {
        // If that is refused, they may be on one CPU at times, and wait less often.
        let _ = restrict_to(&[cpu]);
        while begin.elapsed() < time {
            for _ in 0..64 {
                mutex.write(|| data.store(data.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
            }
        }
    };
    if let [first, .., last] = cpus[..] {
        scope(|scope| {
            scope.spawn(|| takes(first));
            scope.spawn(|| takes(last));
        });
    }
}
