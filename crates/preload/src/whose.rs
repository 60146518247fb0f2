//! Whose a condition variable is, and what libc's functions find in one where threads of ours wait.
//!
//! | libc's count of waits | mark | whose |
//! |---|---|---|
//! | 0 | none | nobody's: who waits makes it theirs, and a signal is for nobody |
//! | 0 | [`OURS`] | ours: threads wait in our queue |
//! | more | none | libc's: somebody waits or waited by its functions, and ours pass all to it from now on |
//! | more | [`OURS`] | both wait: we end the process, with a line |
//!
//! One that is shared between processes is libc's. Initialising is libc's in any case: the clock stands where
//! libc has it.
//!
//! A signal by libc's functions to waiters of ours would find that nobody waits, wake nobody, and leave no
//! trace. So it runs into a [`Trap`].
use crate::config;
use crate::object::Condition;
use crate::two::die_of_two;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, clockid_t};
use stanchion::condvar::Sign;

/// What a condition says where threads of ours wait. libc counts threads there, and never as many.
const OURS: u32 = 0xc0d1_7104;

/// What libc's signals run into while threads of ours wait: libc's count of waiters is not zero, and its lock
/// of the condition is held. So libc's function marks the lock as slept on, and sleeps. Threads of ours find
/// the mark as soon as the queue is empty, and while they wait when they look around; they end the process
/// with a line.
///
/// Lock and count are the first pair since glibc 2.42, and the second one before. While the lock is held,
/// libc looks at nothing in the other pair.
#[repr(C)]
pub(crate) struct Trap {
    mark: AtomicU32,
    pairs: [Pair; 2],
}

#[repr(C)]
struct Pair {
    lock: AtomicU32,
    waiters: AtomicU32,
}

/// libc's lock when it is held, and when somebody sleeps there, too.
const HELD: u32 = 1;
const SLEPT_ON: u32 = 2;
/// What libc has beside its count of waiters, and one waiter.
const SHARED: u32 = 1;
const MONOTONIC: u32 = 2;
const FLAGS: u32 = 7;
const WAITER: u32 = 8;

impl Trap {
    /// What libc's initialisation left beside the count.
    fn flags(&self) -> u32 {
        // ord: PX31 alone: set when it was initialised, which the program orders
        self.pairs.iter().fold(0, |flags, pair| flags | pair.waiters.load(Ordering::Relaxed)) & FLAGS
    }

    fn is_up(&self) -> bool {
        // ord: PX11 alone: who has to wake somebody got the condition's mutex from them
        self.mark.load(Ordering::Relaxed) == OURS
    }

    /// What libc finds as its lock and its count, beside the flags; whether somebody was in the trap.
    fn set(&self, lock: u32, waiters: u32) -> bool {
        self.pairs.iter().fold(false, |found, pair| {
            // ord: PX32 alone: changed under the queue's guard only
            let flags = pair.waiters.load(Ordering::Relaxed) & FLAGS;
            // ord: PX33 alone: as PX11; libc compares only
            pair.waiters.store(flags | waiters, Ordering::Relaxed);
            // ord: PX34 alone: whoever has marked it before is found, and nobody sleeps there afterwards
            found | (pair.lock.swap(lock, Ordering::Relaxed) == SLEPT_ON)
        })
    }
}

impl Sign for Trap {
    const IS_LOOKED_AT: bool = true;

    fn put_up(&self) {
        // ord: PX13 alone: as PX11, they see it by the mutex
        self.mark.store(OURS, Ordering::Relaxed);
        self.set(HELD, WAITER);
    }

    fn take_down(&self) {
        if self.is_up() {
            if self.set(0, 0) {
                die_of_two(WAITED_FOR);
            }
            // ord: PX10 alone: as PX11; who finds none has nobody to wake
            self.mark.store(0, Ordering::Relaxed);
        }
    }

    fn look(&self) {
        // ord: PX35 alone: a mark that stays
        if self.pairs.iter().any(|pair| pair.lock.load(Ordering::Relaxed) == SLEPT_ON) {
            die_of_two(WAITED_FOR);
        }
    }
}

/// What is told of a condition.
const WAITED_FOR: &[u8] = b"a condition variable that the program waits for";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Nobodys,
    Ours,
    Libcs,
}

impl Condition {
    /// Whose it is. If it is not libc's, our queue is fit to be used (IW4).
    #[inline(always)]
    pub(crate) fn whose(&self) -> Whose {
        // ord: PX12 alone: libc's count, which is only compared
        let libc_waits = self.libcs_waits.load(Ordering::Relaxed) != 0;
        let trap = self.queue.sign();
        let (is_ours, is_shared) = (trap.is_up(), trap.flags() & SHARED != 0);
        if is_ours && libc_waits {
            die_of_two(WAITED_FOR);
        }
        if libc_waits || is_shared || config::choice().is_none() {
            return Whose::Libcs;
        }
        self.adopt();
        if is_ours { Whose::Ours } else { Whose::Nobodys }
    }

    /// The clock of timed waits.
    pub(crate) fn clock(&self) -> clockid_t {
        if self.queue.sign().flags() & MONOTONIC == 0 { CLOCK_REALTIME } else { CLOCK_MONOTONIC }
    }
}
