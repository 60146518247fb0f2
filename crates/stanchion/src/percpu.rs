//! Reader-writer locks whose readers write to nothing that they share.
//!
//! ```
//! use stanchion::percpu::{Class, PerCpuRwLock};
//!
//! static TABLES: Class = Class::new();
//! static ROUTES: PerCpuRwLock<Vec<u32>> = PerCpuRwLock::new(&TABLES, Vec::new());
//!
//! ROUTES.write().push(7);
//! assert_eq!(ROUTES.read()[0], 7);
//! ```
//!
//! A reader is noted in its own thread's cell, so a guard stays with the thread that made it:
//!
//! ```compile_fail,E0277
//! use stanchion::percpu::{Class, PerCpuRwLock};
//!
//! static TABLES: Class = Class::new();
//! static ROUTES: PerCpuRwLock<Vec<u32>> = PerCpuRwLock::new(&TABLES, Vec::new());
//!
//! let guard = ROUTES.read();
//! std::thread::spawn(move || drop(guard)); // `ReadGuard` is not `Send`
//! ```
//!
//! A thread reads one lock of a [`Class`] at a time that way; a further one of the same class, held at the
//! same time, goes through that lock's own word. So locks that are held together belong to different classes.
pub use crate::native::Class;
use crate::native::{Native, Silent};
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use stanchion_core as core_locks;
use stanchion_core::{ConstRwLock, TooManyReaders};

type Lock = core_locks::PerCpuRwLock<Native<Silent>>;
type Held<'a> = core_locks::percpu_rw::In<'a, Native<Silent>>;

/// A value that many threads read and few write, with a lock of a [`Class`].
///
/// - Fairness: once a writer has the lock's own word, and waits for the cells of its class only, no new
///   reader passes it. Readers that wait do so in its queue. See [`stanchion_core::percpu_rw`].
/// - Progress: readers wait for writers only, and sleep; [`read_again`](Self::read_again) sleeps, too. A
///   writer waits for readers that are in, and sleeps. It needs `membarrier` if the process could have it
///   when it began: under a filter of system calls that takes it away later, writers wait for ever, and tries
///   fail.
/// - Errors: reading panics if 16 384 read locks are held through the lock's own word, or 65 536 by one
///   thread; there is no poisoning. A thread that reads and then writes the same lock waits for itself; debug
///   builds panic where they can tell. So does whoever writes after a guard was forgotten, to
///   this lock or to another one of its class that lies in its place later.
/// - Memory: 40 bytes beside the value, for each class what [`Class`] says, and 128 bytes for each thread
///   that reads.
/// - Cost: reading costs the same with any number of readers. Writing costs a `membarrier`, or a fence and
///   one for each reader while writes are frequent. It also costs a look at one line for each living thread
///   that has waited for any lock of this crate, or read any lock of this kind.
pub struct PerCpuRwLock<T: ?Sized> {
    class: Own,
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: the lock lets a writer in alone, and readers together, so sharing it asks of the value what sending
// and sharing it would.
unsafe impl<T: ?Sized + Send + Sync> Sync for PerCpuRwLock<T> {}
// SAFETY: nothing but the value is tied to a thread while no guard exists, which borrows the lock.
unsafe impl<T: ?Sized + Send> Send for PerCpuRwLock<T> {}

impl<T> PerCpuRwLock<T> {
    /// A free lock of `class`.
    pub const fn new(class: &'static Class, value: T) -> Self {
        Self { class: Own(class), lock: Lock::NEW, value: UnsafeCell::new(value) }
    }

    /// The value, once nobody uses the lock.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// Only the handle that the lock was made with leads to its cells, so the lock itself need not know its
/// class.
struct Own(&'static Class);

impl core_locks::ReaderClass<Native<Silent>> for Own {
    fn cell(&self, cpu: core_locks::CpuId) -> Option<&core_locks::ReaderCell<Native<Silent>>> {
        core_locks::ReaderClass::cell(&self.0, cpu)
    }

    #[inline(always)]
    fn own(&self) -> Option<&core_locks::ReaderCell<Native<Silent>>> {
        core_locks::ReaderClass::own(&self.0)
    }

    fn each(&self, visit: impl FnMut(core_locks::CpuId, &core_locks::ReaderCell<Native<Silent>>)) {
        core_locks::ReaderClass::each(&self.0, visit);
    }

    fn id(&self) -> usize {
        0
    }
}

impl<T: ?Sized> PerCpuRwLock<T> {
    /// Waits until it may read. A thread that reads the lock already uses [`PerCpuRwLock::read_again`].
    ///
    /// # Panics
    ///
    /// If more read locks are held than can be counted.
    #[inline(always)]
    #[track_caller]
    pub fn read(&self) -> ReadGuard<'_, T> {
        self.guarded(self.lock.acquire_read_in(&self.class))
    }

    /// Reads without waiting behind writers that wait: for signal handlers, and for threads that read the
    /// lock already.
    ///
    /// # Panics
    ///
    /// If more read locks are held than can be counted.
    #[inline]
    #[track_caller]
    pub fn read_again(&self) -> ReadGuard<'_, T> {
        self.guarded(self.lock.acquire_read_again_in(&self.class))
    }

    #[inline(always)]
    #[track_caller]
    fn guarded<'a>(&'a self, acquired: Result<Held<'a>, TooManyReaders>) -> ReadGuard<'a, T> {
        match acquired {
            Ok(held) => ReadGuard { lock: self, held, stays: PhantomData },
            Err(error) => panic!("{error}"),
        }
    }

    /// Reads if that needs no waiting.
    #[inline]
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        let held = self.lock.try_acquire_read_in(&self.class)?;
        Some(ReadGuard { lock: self, held, stays: PhantomData })
    }

    /// Waits until it may write.
    ///
    /// # Panics
    ///
    /// In debug builds, if the thread reads the lock.
    pub fn write(&self) -> WriteGuard<'_, T> {
        self.lock.acquire_write_in(&self.class);
        WriteGuard { lock: self, stays: PhantomData }
    }

    /// Writes if that needs no waiting.
    pub fn try_write(&self) -> Option<WriteGuard<'_, T>> {
        let acquired = self.lock.try_acquire_write_in(&self.class);
        acquired.then(|| WriteGuard { lock: self, stays: PhantomData })
    }

    /// The value, which nobody else can reach meanwhile.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for PerCpuRwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("PerCpuRwLock");
        match self.try_read() {
            Some(guard) => out.field("value", &&*guard),
            None => out.field("value", &format_args!("<locked>")),
        };
        out.finish_non_exhaustive()
    }
}

/// Reads a [`PerCpuRwLock`] until it is dropped, on the thread that made it.
#[must_use = "the lock is released at once if the guard is dropped"]
pub struct ReadGuard<'a, T: ?Sized> {
    lock: &'a PerCpuRwLock<T>,
    held: Held<'a>,
    /// A reader is noted in its own thread's cell, so the guard stays there.
    stays: PhantomData<*mut ()>,
}

/// Writes a [`PerCpuRwLock`] until it is dropped, on the thread that made it.
///
/// ```compile_fail,E0277
/// static TABLES: stanchion::percpu::Class = stanchion::percpu::Class::new();
/// static ROUTES: stanchion::percpu::PerCpuRwLock<u32> = stanchion::percpu::PerCpuRwLock::new(&TABLES, 0);
///
/// let guard = ROUTES.write();
/// std::thread::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is released at once if the guard is dropped"]
pub struct WriteGuard<'a, T: ?Sized> {
    lock: &'a PerCpuRwLock<T>,
    stays: PhantomData<*mut ()>,
}

// SAFETY: what a shared guard gives is a shared value.
unsafe impl<T: ?Sized + Sync> Sync for ReadGuard<'_, T> {}
// SAFETY: what a shared guard gives is a shared value.
unsafe impl<T: ?Sized + Sync> Sync for WriteGuard<'_, T> {}

impl<'a, T: ?Sized> WriteGuard<'a, T> {
    /// Goes on as a reader; no writer comes in between.
    pub fn downgrade(guard: Self) -> ReadGuard<'a, T> {
        let lock = guard.lock;
        core::mem::forget(guard);
        ReadGuard { lock, held: lock.lock.downgrade_in(&lock.class), stays: PhantomData }
    }
}

impl<T: ?Sized> Deref for ReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds a read lock, so nobody writes.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for WriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the write lock, so nobody else reads or writes.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the write lock, so nobody else reads or writes.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.lock.release_read_of(self.held);
    }
}

impl<T: ?Sized> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.lock.release_write_in(&self.lock.class);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
