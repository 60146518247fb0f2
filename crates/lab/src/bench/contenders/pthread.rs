//! The locks of the C library.
#![expect(unsafe_code, reason = "calls the C library's locks")]
use crate::bench::contender::Contender;
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use libc::{
    PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, PTHREAD_MUTEX_INITIALIZER, pthread_mutex_lock, pthread_mutex_t,
    pthread_mutex_unlock,
};
use libc::{
    pthread_rwlock_init, pthread_rwlock_rdlock, pthread_rwlock_t, pthread_rwlock_unlock,
    pthread_rwlock_wrlock, pthread_rwlockattr_destroy, pthread_rwlockattr_init,
    pthread_rwlockattr_setkind_np, pthread_rwlockattr_t,
};
use libc::{pthread_spin_init, pthread_spin_lock, pthread_spin_unlock, pthread_spinlock_t};

/// The default mutex, which sleeps at once, or glibc's adaptive one, which spins for about as long as past
/// waits took before it sleeps.
pub(crate) struct Mutex<const ADAPTIVE: bool>(UnsafeCell<pthread_mutex_t>);

// SAFETY: POSIX mutexes are made to be locked and unlocked by any thread through a shared address; the
// cell is touched by nothing but those calls.
unsafe impl<const ADAPTIVE: bool> Sync for Mutex<ADAPTIVE> {}

impl<const ADAPTIVE: bool> Contender for Mutex<ADAPTIVE> {
    fn new() -> Self {
        let free = if ADAPTIVE { PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP } else { PTHREAD_MUTEX_INITIALIZER };
        Self(UnsafeCell::new(free))
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: the mutex was statically initialised and has not moved since its first use, because
        // the worker keeps it in one allocation for the life of the process.
        unsafe { pthread_mutex_lock(self.0.get()) };
        let result = critical();
        // SAFETY: as above, and this thread holds the mutex: it locked it in this very call.
        unsafe { pthread_mutex_unlock(self.0.get()) };
        result
    }
}

/// The spin lock: test-and-set on one word, never sleeps. The yardstick of uncontended cost.
pub(crate) struct Spin(UnsafeCell<pthread_spinlock_t>);

// SAFETY: POSIX spin locks are made to be used by any thread through a shared address; the cell is
// touched by nothing but those calls.
unsafe impl Sync for Spin {}

impl Contender for Spin {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn settle(&self) {
        // SAFETY: the lock is at its final address and no thread uses it yet (the trait's contract).
        unsafe { pthread_spin_init(self.0.get(), libc::PTHREAD_PROCESS_PRIVATE) };
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: `settle` initialised the lock at this address before any thread started.
        unsafe { pthread_spin_lock(self.0.get()) };
        let result = critical();
        // SAFETY: as above, and this thread holds the lock: it locked it in this very call.
        unsafe { pthread_spin_unlock(self.0.get()) };
        result
    }
}

/// `PTHREAD_RWLOCK_PREFER_READER_NP` and `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`, which `libc` has not
/// for this target.
pub(crate) const PREFER_READER: c_int = 0;
pub(crate) const PREFER_WRITER_NONRECURSIVE: c_int = 2;

/// The GNU C library's reader-writer lock with either preference: no spinning, sleeps at once.
pub(crate) struct RwLock<const KIND: c_int>(UnsafeCell<pthread_rwlock_t>);

// SAFETY: POSIX locks are made to be locked and unlocked by any thread through a shared address; the cell is
// touched by nothing but those calls.
unsafe impl<const KIND: c_int> Sync for RwLock<KIND> {}

impl<const KIND: c_int> Contender for RwLock<KIND> {
    fn new() -> Self {
        Self(UnsafeCell::new(libc::PTHREAD_RWLOCK_INITIALIZER))
    }

    /// Gives it its kind, at the address where it stays and before its first use.
    fn settle(&self) {
        let mut attributes = MaybeUninit::<pthread_rwlockattr_t>::uninit();
        // SAFETY: the pointer is to room for attributes, which the call initialises.
        let mut failed = unsafe { pthread_rwlockattr_init(attributes.as_mut_ptr()) };
        // SAFETY: the attributes were initialised above, and the kind is one that the library knows.
        failed |= unsafe { pthread_rwlockattr_setkind_np(attributes.as_mut_ptr(), KIND) };
        // SAFETY: nobody has used the lock yet, it stays where it is, and the attributes are initialised.
        failed |= unsafe { pthread_rwlock_init(self.0.get(), attributes.as_ptr()) };
        // SAFETY: the attributes were initialised above and are not used any more.
        failed |= unsafe { pthread_rwlockattr_destroy(attributes.as_mut_ptr()) };
        assert_eq!(failed, 0, "the C library refuses a reader-writer lock of kind {KIND}");
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: the lock is initialised and has not moved since, because the worker keeps it in one
        // allocation for the life of the process.
        let failed = unsafe { pthread_rwlock_rdlock(self.0.get()) };
        assert_eq!(failed, 0, "a read lock was refused");
        let result = critical();
        // SAFETY: as above, and this thread holds the lock: it read-locked it in this very call.
        unsafe { pthread_rwlock_unlock(self.0.get()) };
        result
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: the lock is initialised and has not moved since, because the worker keeps it in one
        // allocation for the life of the process.
        let failed = unsafe { pthread_rwlock_wrlock(self.0.get()) };
        assert_eq!(failed, 0, "a write lock was refused");
        let result = critical();
        // SAFETY: as above, and this thread holds the lock: it write-locked it in this very call.
        unsafe { pthread_rwlock_unlock(self.0.get()) };
        result
    }
}

/// Takes a default mutex so many times, then a default reader-writer lock as a reader, then as a writer, each
/// at an address where it stays.
pub(crate) fn take(times: u32) {
    let mutex = Box::new(Mutex::<false>::new());
    (0..times).for_each(|_| mutex.write(|| ()));
    let lock = Box::new(RwLock::<PREFER_READER>::new());
    lock.settle();
    (0..times).for_each(|_| lock.read(|| ()));
    (0..times).for_each(|_| lock.write(|| ()));
}
