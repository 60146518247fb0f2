//! What our objects look like inside libc's types, and how an object says whose it is.
//!
//! `pthread_mutex_t`, 40 bytes (aarch64: 48). The kind stands where libc has it, so that static initialisers
//! and libc's own objects are what they are:
//!
//! | bytes | here | in libc |
//! |---|---|---|
//! | 0–3 | 0, unless libc holds it (`two.rs`) | its lock's word |
//! | 4–7 | how often a recursive one is held, less one | the same |
//! | 8–11 | [`TAKEN`] while a thread of ours has it, or is about to | owner's thread id |
//! | 12–15 | owner: its thread number, and a mark while it leaves waiters there | users |
//! | 16–19 | **kind** | **kind**: 0 normal, 1 recursive, 2 error-checking, 3 adaptive; 16 robust, 32 inherits, 64 protects, 128 shared; −1 destroyed |
//! | 20–23 | its record in `stats`, and what is to be added to that | spins, elision |
//! | 24–27 | the lock's word | list of robust ones |
//! | 28–29 | generation (`fork.rs`) | list of robust ones |
//! | 30–31 | how many wait for a condition with it | (in users) |
//! | 32–39 | waiters of a condition, to be woken as it is released | list of robust ones |
//!
//! We can do without what libc writes while it uses one of ours (0–15, and 20–23 of adaptive ones).
//!
//! `pthread_rwlock_t`, 56 bytes:
//!
//! | bytes | here | in libc |
//! |---|---|---|
//! | 0–15 | 0, unless libc's functions use it (`two_rw.rs`) | counts, futex words |
//! | 16–19 | the writer: its thread number | unused |
//! | 20–23 | the records of readers and writers in `stats` | unused |
//! | 24–27 | 0 | the writer's thread id |
//! | 28–31 | **shared** | **shared** |
//! | 32–43 | `qrw` | unused |
//! | 44–45 | generation | unused |
//! | 46–47 | whether the hold is timed for `stats`; whether it was handed over to libc | unused |
//! | 48–51 | **preference** | **preference**: 2 is "writers, and readers do not nest" |
//! | 52–55 | 0 | unused |
//!
//! `pthread_cond_t`, 48 bytes:
//!
//! | bytes | here | in libc |
//! |---|---|---|
//! | 0–7 | 0 | how many have waited so far |
//! | 8–19 | the queue of waiters | other counts, of those who wait and of signals |
//! | 20–39 | while somebody waits, the [`Trap`] | a lock; how many wait, the clock, and whether it is shared between processes; others |
//! | 40–45 | 0 | others |
//! | 46–47 | generation | others |
//!
//! `whose.rs` says when it is whose.
//!
//! `pthread_spinlock_t`, 4 bytes: see `spin.rs`.
use crate::fork::{adopt, generation};
use crate::locks::Choice;
use crate::thread::me;
use crate::whose::Trap;
use core::cell::UnsafeCell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use libc::{pthread_cond_t, pthread_mutex_t, pthread_rwlock_t};
use stanchion::condvar::{Relay, WaitQueue, Waiter};
use stanchion::deadline::Deadline;
use stanchion::native::{Native, Observed};
use stanchion_core::{QueuedRwLock, RawRwLock, TooManyReaders};

/// Our mutex.
#[repr(C)]
pub(crate) struct Mutex {
    pub(crate) libcs_word: AtomicU32,
    pub(crate) count: AtomicU32,
    pub(crate) libcs_owner: AtomicU32,
    pub(crate) owner: AtomicU32,
    pub(crate) kind: AtomicI32,
    /// `stats/records.rs`
    pub(crate) record: AtomicU16,
    /// The holder's, for `stats`: what to add to the record, and whether the hold is timed
    /// (`stats/tally.rs`).
    pub(crate) tally: AtomicU16,
    pub(crate) word: AtomicU32,
    pub(crate) generation: AtomicU16,
    /// The holder's: how many wait for a condition with it (`uses.rs`).
    pub(crate) waits: AtomicU16,
    pub(crate) relay: Relay,
}

const _: () = assert!(size_of::<Mutex>() == 40 && core::mem::offset_of!(Mutex, libcs_owner) == 8);
const _: () = assert!(core::mem::offset_of!(Mutex, kind) == 16 && core::mem::offset_of!(Mutex, word) == 24);
const _: () = assert!(size_of::<Mutex>() <= size_of::<pthread_mutex_t>());

/// What a mutex of ours is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// And adaptive ones, which spin anyway.
    Normal,
    Recursive,
    Checking,
}

pub(crate) const NORMAL: i32 = 0;
pub(crate) const RECURSIVE: i32 = 1;
pub(crate) const CHECKING: i32 = 2;
const ADAPTIVE: i32 = 3;
/// What libc finds in the place of its owner. No thread has this id.
pub(crate) const TAKEN: u32 = 1 << 30;
/// Mark of an owner that leaves a waiter with the mutex at this moment.
const RELAYING: u32 = 1 << 4;
pub(crate) const DESTROYED: i32 = -1;
/// The lock that a mutex of its own has, plus one (`rules.rs`); 0 is "not decided yet". libc ignores them.
const DECISION: i32 = 0x7f00_0000;
/// Marks for lock elision, which libc sets on some machines; they say nothing about what a mutex does.
const ELISION: i32 = 256 | 512;

impl Mutex {
    /// # Safety
    ///
    /// `mutex` must point to an object that is or was initialised, and lives.
    #[inline(always)]
    pub(crate) unsafe fn at<'a>(mutex: *mut pthread_mutex_t) -> &'a Self {
        // SAFETY: the same size, aligned to 8 bytes; every field is atomic, or is touched by the holder only.
        unsafe { &*mutex.cast::<Self>() }
    }

    /// Makes a free mutex of this kind, which is one for libc as well.
    ///
    /// # Safety
    ///
    /// The object may be written.
    pub(crate) unsafe fn make(mutex: *mut pthread_mutex_t, kind: i32) {
        // SAFETY: the caller's promise; all-zero is a free mutex.
        let this = unsafe {
            mutex.write_bytes(0, 1);
            Self::at(mutex)
        };
        // ord: M13 alone: the program orders its use of what it initialised
        this.kind.store(kind, Ordering::Relaxed);
        // ord: M48 alone: as M13, the program orders its use of it
        this.generation.store(generation(), Ordering::Relaxed);
    }

    /// What it is; `None` if it is libc's, or destroyed.
    #[inline(always)]
    pub(crate) fn kind(&self) -> Option<Kind> {
        // ord: M6 alone: set when it was initialised, which the program orders (IW2)
        let kind = self.kind.load(Ordering::Relaxed);
        match if kind == DESTROYED { kind } else { kind & !ELISION & !DECISION } {
            NORMAL | ADAPTIVE => Some(Kind::Normal),
            RECURSIVE => Some(Kind::Recursive),
            CHECKING => Some(Kind::Checking),
            _ => None,
        }
    }

    /// The lock of its own that it has.
    pub(crate) fn decided(&self) -> Option<Choice> {
        // ord: M66 alone: a number; only one is ever written between two initialisations
        let decision = (self.kind.load(Ordering::Relaxed) & DECISION) >> DECISION.trailing_zeros();
        (decision != 0).then(|| Choice((decision - 1) as u8))
    }

    /// Gives it this lock, if it has none yet; the one that it has then.
    pub(crate) fn decide(&self, choice: Choice) -> Choice {
        let decision = (i32::from(choice.0) + 1) << DECISION.trailing_zeros();
        // ord: M67 alone: as M66, the first one counts
        let before = self.kind.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |kind| {
            (kind & DECISION == 0).then_some(kind | decision)
        });
        if before.is_ok() { choice } else { self.decided().unwrap_or(choice) }
    }

    /// Whether it is a normal one, and neither libc's nor destroyed.
    #[inline(always)]
    pub(crate) fn is_normal(&self) -> bool {
        // ord: M35 alone: as M6, set when it was initialised
        self.kind.load(Ordering::Relaxed) == NORMAL
    }

    /// Whether the calling thread holds it. For mutexes of any kind: the owner is noted in all of them.
    #[inline(always)]
    pub(crate) fn is_mine(&self) -> bool {
        // ord: M7 alone: it is ours only if this thread wrote it
        self.owner.load(Ordering::Relaxed) == me()
    }

    /// Leaves a waiter with the mutex, to be woken when it is released. `false` unless the caller holds it;
    /// or if the waiter was notified `alone`, slept on another CPU, and passes nobody who stands here.
    ///
    /// # Safety
    ///
    /// The waiter must have been given to the caller by `notify`.
    pub(crate) unsafe fn relay(&self, waiter: NonNull<Waiter>, alone: bool) -> bool {
        // Somebody else may unlock it for us, as libc lets them for normal ones: they wait while the mark is
        // there, and we leave it alone if they were first.
        // ord: M56 pairs M57: what the last one to leave a waiter here wrote
        if self.owner.compare_exchange(me(), me() | RELAYING, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        // SAFETY: the mutex is held, and cannot be released while the mark is there (L5). A waiter that
        // `notify` gave exists until it is told.
        let stays = unsafe {
            let stays = !alone || waiter.as_ref().is_at_home() || !self.relay.is_empty();
            if stays {
                self.relay.take(waiter);
            }
            stays
        };
        // ord: M57 pairs M56, M58: the waiter is there before somebody else releases
        self.owner.store(me(), Ordering::Release);
        stays
    }

    /// Takes the mutex away from its owner, whoever that is, so that the calling thread can release it.
    #[cold]
    pub(crate) fn disown(&self) {
        // ord: M59 alone: a guess, the exchange decides
        let mut owner = self.owner.load(Ordering::Relaxed);
        loop {
            if owner & RELAYING != 0 {
                stanchion::deadline::sleep(Duration::from_micros(20));
                owner &= !RELAYING;
            }
            // ord: M58 pairs M57: waiters that the owner left are there
            match self.owner.compare_exchange(owner, 0, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => owner = now,
            }
        }
        // ord: TW30 alone: as in `leave`
        self.libcs_owner.store(0, Ordering::Relaxed);
    }

    /// See [`adopt`].
    #[inline(always)]
    pub(crate) fn adopt(&self, choice: Choice) {
        // SAFETY: the mutex is ours. Nobody of this process uses it before it is clean (IW4): those who
        // waited are gone, and whoever holds it changes nothing of it before it has come through here, too.
        adopt(&self.generation, || unsafe {
            choice.forget_waiters(&self.word);
            self.relay.forget();
            // ord: PX22 alone: nobody uses it meanwhile
            self.waits.store(0, Ordering::Relaxed);
        });
    }
}

/// Our reader-writer lock.
#[repr(C)]
pub(crate) struct RwLock {
    pub(crate) libcs_words: [AtomicU32; 4],
    pub(crate) writer: AtomicU32,
    /// `stats/records.rs`
    pub(crate) read_record: AtomicU16,
    pub(crate) write_record: AtomicU16,
    _libcs_writer: u32,
    pub(crate) shared: AtomicU32,
    lock: UnsafeCell<QueuedRwLock<Native<Observed>>>,
    pub(crate) generation: AtomicU16,
    /// Whether the writer's hold is timed for `stats`.
    pub(crate) timed: AtomicU8,
    /// Whether it was handed over to libc.
    pub(crate) whose: AtomicU8,
    pub(crate) preference: AtomicU32,
    _rest: u32,
}

const _: () = assert!(size_of::<RwLock>() == 56 && core::mem::offset_of!(RwLock, shared) == 28);
const _: () = assert!(core::mem::offset_of!(RwLock, preference) == 48);
const _: () = assert!(size_of::<RwLock>() == size_of::<pthread_rwlock_t>());

/// Writers go first, and the program promises not to read what it reads.
pub(crate) const WRITERS_FIRST: u32 = 2;

impl RwLock {
    /// # Safety
    ///
    /// `lock` must point to an object that is or was initialised, and lives.
    #[inline(always)]
    pub(crate) unsafe fn at<'a>(lock: *mut pthread_rwlock_t) -> &'a Self {
        // SAFETY: the same size, aligned to 8 bytes; every field is atomic.
        unsafe { &*lock.cast::<Self>() }
    }

    /// The lock itself.
    #[inline(always)]
    pub(crate) fn lock(&self) -> &QueuedRwLock<Native<Observed>> {
        // SAFETY: it is shared, but for the moment at which it is cleaned up, when nobody uses it (IW4).
        unsafe { &*self.lock.get() }
    }

    /// Waits until the calling thread holds the lock alone.
    pub(crate) fn acquire_write(&self) {
        if self.prefers_readers() {
            self.lock().acquire_write_letting_readers_in();
        } else {
            self.lock().acquire_write();
        }
    }

    /// Waits until the caller holds the lock, alone or not, or the deadline has passed. Whether it does.
    pub(crate) fn acquire_until(&self, alone: bool, until: &Deadline) -> Result<bool, TooManyReaders> {
        let lock = self.lock();
        match (alone, self.prefers_readers()) {
            (true, true) => Ok(lock.acquire_write_letting_readers_in_until(until)),
            (true, false) => Ok(lock.acquire_write_until(until)),
            (false, true) => lock.acquire_read_beside_readers_until(until),
            (false, false) => lock.acquire_read_until(until),
        }
    }

    /// Whether it is ours and not libc's.
    #[inline(always)]
    pub(crate) fn is_ours(&self) -> bool {
        // ord: M9 alone: set when it was initialised, which the program orders (IW2)
        self.shared.load(Ordering::Relaxed) == 0 && !self.was_handed_over()
    }

    /// See [`adopt`].
    #[inline(always)]
    pub(crate) fn adopt(&self) {
        // SAFETY: those who waited are gone, and nobody here uses the lock before it is clean (IW4).
        adopt(&self.generation, || unsafe { (*self.lock.get()).forget_waiters() });
    }

    /// Whether the calling thread writes.
    #[inline(always)]
    pub(crate) fn is_mine(&self) -> bool {
        // ord: M10 alone: it is ours only if this thread wrote it
        self.writer.load(Ordering::Relaxed) == me()
    }

    #[inline(always)]
    pub(crate) fn set_writer(&self, writer: u32) {
        // ord: M11 alone: see M10, others only learn that it is not them
        self.writer.store(writer, Ordering::Relaxed);
    }

    /// Whether readers pass writers that wait, which is libc's default: a thread may read again.
    #[inline(always)]
    pub(crate) fn prefers_readers(&self) -> bool {
        // ord: M12 alone: set when it was initialised, which the program orders (IW2)
        self.preference.load(Ordering::Relaxed) != WRITERS_FIRST
    }
}

/// Our condition variable.
#[repr(C)]
pub(crate) struct Condition {
    pub(crate) libcs_waits: AtomicU64,
    pub(crate) queue: WaitQueue<Trap>,
    _rest: [u16; 3],
    generation: AtomicU16,
}

const _: () = assert!(size_of::<Condition>() == size_of::<pthread_cond_t>());

impl Condition {
    /// # Safety
    ///
    /// `condition` must point to an object that is or was initialised, and lives.
    #[inline(always)]
    pub(crate) unsafe fn at<'a>(condition: *mut pthread_cond_t) -> &'a Self {
        // SAFETY: the same size, aligned to 8 bytes; every field is atomic, or guarded by the queue itself.
        unsafe { &*condition.cast::<Self>() }
    }

    /// See [`adopt`].
    #[inline(always)]
    pub(crate) fn adopt(&self) {
        // SAFETY: those who waited are gone, and nobody here uses the condition before it is clean (IW4).
        adopt(&self.generation, || unsafe { self.queue.forget() });
    }
}
