//! The GNU C library's reader-writer lock with either preference: no spinning, sleeps at once.
#![expect(unsafe_code, reason = "calls the C library's reader-writer lock")]
use crate::bench::contender::Kind;
use crate::bench::rw::contender::RwContender;
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use libc::{
    pthread_rwlock_init, pthread_rwlock_rdlock, pthread_rwlock_t, pthread_rwlock_unlock,
    pthread_rwlock_wrlock, pthread_rwlockattr_destroy, pthread_rwlockattr_init,
    pthread_rwlockattr_setkind_np, pthread_rwlockattr_t,
};

/// `PTHREAD_RWLOCK_PREFER_READER_NP` and `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`, which `libc` has not
/// for this target.
const PREFER_READER: c_int = 0;
const PREFER_WRITER_NONRECURSIVE: c_int = 2;

struct Lock<const KIND: c_int>(UnsafeCell<pthread_rwlock_t>);

// SAFETY: POSIX locks are made to be locked and unlocked by any thread through a shared address; the cell is
// touched by nothing but those calls.
unsafe impl<const KIND: c_int> Sync for Lock<KIND> {}

impl<const KIND: c_int> Lock<KIND> {
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

macro_rules! preference {
    ($name:ident: $kind:ident, $told:literal, $about:literal) => {
        pub(crate) struct $name(Lock<$kind>);

        impl RwContender for $name {
            const NAME: &'static str = $told;
            const KIND: Kind = Kind::Peer;
            const ABOUT: &'static str = $about;
            const BYTES: usize = size_of::<pthread_rwlock_t>();

            fn new() -> Self {
                Self(Lock::new())
            }

            fn settle(&self) {
                self.0.settle();
            }

            #[inline]
            fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
                self.0.read(critical)
            }

            #[inline]
            fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
                self.0.write(critical)
            }
        }
    };
}

preference!(PreferReaders: PREFER_READER, "pthread-readers", "pthread_rwlock_t, readers preferred (the default)");
preference!(PreferWriters: PREFER_WRITER_NONRECURSIVE, "pthread-writers", "pthread_rwlock_t, writers preferred (nonrecursive)");
