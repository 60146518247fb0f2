//! The locks that a mutex can be made of. They have four bytes, and their free word is zero. They do not
//! touch their word once they have released it (IW3), and a child of `fork` can forget their waiters. The
//! catalogue says which these are, and why the others are not.
use core::sync::atomic::{AtomicU32, Ordering};
use stanchion::Excludes;
use stanchion::deadline::Deadline;
use stanchion::native::{Looking, Native};
#[cfg(not(feature = "family"))]
use stanchion_core as rows;
use stanchion_core::transitions::Word;
use stanchion_core::{ConstLock, RawLock, StanchionLock};
#[cfg(feature = "family")]
use stanchion_family as rows;

/// The world of locks in foreign memory, in which `stats` can see what happens.
pub(crate) type World = Native<Looking>;

/// The default lock, which is called directly.
pub(crate) type Default = StanchionLock<World>;

/// One lock, for all the others.
pub(crate) struct Algorithm {
    pub(crate) name: &'static str,
    acquire: unsafe fn(*const AtomicU32),
    try_acquire: unsafe fn(*const AtomicU32) -> bool,
    acquire_until: unsafe fn(*const AtomicU32, &Deadline) -> bool,
    release: unsafe fn(*const AtomicU32),
    word: unsafe fn(*const AtomicU32) -> Word,
    /// The bits of the word that say who holds it, and nothing of who waits.
    holder: u32,
}

/// The word as a lock of type `L`.
///
/// # Safety
///
/// The word must be zero or have been used as this type of lock only, and outlive `'a`.
unsafe fn lock_at<'a, L>(word: *const AtomicU32) -> &'a L {
    const { assert!(size_of::<L>() == 4 && align_of::<L>() <= 4) };
    // SAFETY: `L` is four bytes of atomic cells, of which zero is a free lock (`zero_is_free` looks); the
    // caller's promise.
    unsafe { &*word.cast::<L>() }
}

const fn algorithm<L: Excludes + ConstLock + RawLock<Platform = World>>(holder: u32) -> Algorithm {
    Algorithm {
        name: L::NAME,
        // SAFETY: the word belongs to a mutex of ours, whose words are used as the one type of lock that the
        // process has (IW2).
        acquire: |word| unsafe { lock_at::<L>(word).acquire() },
        // SAFETY: as for `acquire`, the word is a lock of this type.
        try_acquire: |word| unsafe { lock_at::<L>(word).try_acquire() },
        // SAFETY: as for `acquire`, the word is a lock of this type.
        acquire_until: |word, until| unsafe { lock_at::<L>(word).acquire_until(until) },
        // SAFETY: as for `acquire`, the word is a lock of this type.
        release: |word| unsafe { lock_at::<L>(word).release() },
        // SAFETY: as for `acquire`, the word is a lock of this type.
        word: |word| unsafe { lock_at::<L>(word).word() },
        holder,
    }
}

/// What somebody meets who comes for a lock; a guess.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meets {
    Nobody,
    /// The lock is free, and others wait for it.
    Waiters,
    Holder,
}

macro_rules! algorithms {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        c $c:tt preload [$($holder:literal)?] $facts:tt)*) => {
        &[$($(algorithm::<$lock>($holder),)?)*]
    };
}

/// Why a name is refused that no lock of this build has.
pub(crate) const NO_SUCH_LOCK: &str = if cfg!(feature = "family") {
    "no such lock"
} else {
    "no such lock in this build; more are in one of `cargo build --release -p stanchion-preload --features family`"
};

/// All that the catalogue says can be preloaded. The first is the default.
pub(crate) static ALGORITHMS: &[Algorithm] = rows::mutex_rows! { World; algorithms; };

/// The lock that a process chose; a number so that it fits into an atomic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice(pub(crate) u8);

impl Choice {
    pub(crate) const DEFAULT: Self = Self(0);

    pub(crate) fn name(self) -> &'static [u8] {
        self.algorithm().name.as_bytes()
    }

    fn algorithm(self) -> &'static Algorithm {
        &ALGORITHMS[usize::from(self.0)]
    }

    /// # Safety
    ///
    /// `word` must be that of a mutex of ours.
    #[inline(always)]
    pub(crate) unsafe fn acquire(self, word: *const AtomicU32) {
        // SAFETY: the caller's promise, and IW2.
        unsafe {
            if self == Self::DEFAULT {
                lock_at::<Default>(word).acquire();
            } else {
                (self.algorithm().acquire)(word);
            }
        }
    }

    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire).
    #[inline(always)]
    pub(crate) unsafe fn try_acquire(self, word: *const AtomicU32) -> bool {
        // SAFETY: the caller's promise, and IW2.
        unsafe {
            if self == Self::DEFAULT {
                lock_at::<Default>(word).try_acquire()
            } else {
                (self.algorithm().try_acquire)(word)
            }
        }
    }

    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire).
    pub(crate) unsafe fn acquire_until(self, word: *const AtomicU32, until: &Deadline) -> bool {
        // SAFETY: the caller's promise, and IW2.
        unsafe { (self.algorithm().acquire_until)(word, until) }
    }

    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire); and the calling thread must hold it, or have been given it by who
    /// does.
    #[inline(always)]
    pub(crate) unsafe fn release(self, word: *const AtomicU32) {
        // SAFETY: the caller's promise, and IW2.
        unsafe {
            if self == Self::DEFAULT {
                lock_at::<Default>(word).release();
            } else {
                (self.algorithm().release)(word);
            }
        }
    }

    /// What the word says; it may be out of date.
    ///
    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire).
    #[inline(always)]
    unsafe fn word(self, word: *const AtomicU32) -> Word {
        // SAFETY: the caller's promise, and IW2.
        unsafe {
            if self == Self::DEFAULT {
                lock_at::<Default>(word).word()
            } else {
                (self.algorithm().word)(word)
            }
        }
    }

    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire).
    #[inline(always)]
    pub(crate) unsafe fn meets(self, word: *const AtomicU32) -> Meets {
        // SAFETY: the caller's promise: it is the word of a mutex of ours.
        let word = unsafe { self.word(word) };
        match (word.locked, word.tail) {
            (0, 0) => Meets::Nobody,
            (0, _) => Meets::Waiters,
            _ => Meets::Holder,
        }
    }

    /// Whether somebody waits; a guess, for the holder. Whoever sleeps has left a mark in the second byte or
    /// stands in the queue.
    ///
    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire).
    #[inline(always)]
    pub(crate) unsafe fn is_waited_for(self, word: *const AtomicU32) -> bool {
        // SAFETY: the caller's promise: it is the word of a mutex of ours.
        let word = unsafe { self.word(word) };
        word.tail != 0 || word.pending != 0
    }

    /// Leaves who holds it, and forgets who waits.
    ///
    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire); and nobody may use it meanwhile.
    pub(crate) unsafe fn forget_waiters(self, word: &AtomicU32) {
        // ord: M47 alone: nobody uses it meanwhile
        word.fetch_and(self.algorithm().holder, Ordering::Relaxed);
    }

    /// # Safety
    ///
    /// As for [`acquire`](Self::acquire).
    pub(crate) unsafe fn is_held(self, word: *const AtomicU32) -> bool {
        // SAFETY: the caller's promise: it is the word of a mutex of ours.
        unsafe { self.word(word) }.locked != 0
    }
}

/// Makes sure that zero is free, and what a free lock is: called when the lock is chosen.
pub(crate) fn zero_is_free(choice: Choice) -> bool {
    let word = AtomicU32::new(0);
    // SAFETY: a word of our own, used as this one type.
    unsafe {
        let held = choice.is_held(&raw const word);
        let taken = choice.try_acquire(&raw const word);
        if taken {
            choice.release(&raw const word);
        }
        !held && taken && !choice.is_held(&raw const word)
    }
}
