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
use crate::condition::libc_s::pthread_cond_init;
use crate::config;
use crate::object::Condition;
use crate::two::die_of_two;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, clockid_t, pthread_cond_t, pthread_condattr_t};
use stanchion::condvar::Sign;

/// What a condition says where threads of ours wait. libc counts threads there, and never as many.
const OURS: u32 = 0xc0d1_7104;

/// What libc's functions run into while threads of ours wait: libc's count of waiters is not zero, and its
/// lock of the condition is held. So a signal marks the lock as slept on, and sleeps; destroying marks the
/// count, and sleeps; a waiter is counted. Threads of ours find that when they take waiters out of the queue,
/// and while they wait when they look around. They end the process with a line.
#[repr(C)]
pub(crate) struct Trap {
    mark: AtomicU32,
    pairs: [Pair; 2],
}

/// libc's lock, and its count of waiters with flags below: the first pair since glibc 2.42, and the second
/// one before.
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
const WAITER: u32 = 8;

/// Which pair it is, plus one; 0 is "not known yet".
static PAIR: AtomicUsize = AtomicUsize::new(0);

/// Finds out which pair libc uses, by a condition with a clock.
#[cold]
fn find_pair() -> usize {
    let mut attributes = MaybeUninit::<pthread_condattr_t>::zeroed();
    let mut made = MaybeUninit::<pthread_cond_t>::zeroed();
    // SAFETY: both objects are there to be initialised; nobody else has them.
    let trap = unsafe {
        libc::pthread_condattr_init(attributes.as_mut_ptr());
        libc::pthread_condattr_setclock(attributes.as_mut_ptr(), CLOCK_MONOTONIC);
        pthread_cond_init(made.as_mut_ptr(), attributes.as_ptr());
        Condition::at(made.as_mut_ptr()).queue.sign()
    };
    // ord: PX38 alone: nobody else has it
    let pair = if trap.pairs[0].waiters.load(Ordering::Relaxed) & MONOTONIC != 0 { 1 } else { 2 };
    // ord: PX36 alone: every thread finds the same
    PAIR.store(pair, Ordering::Relaxed);
    pair
}

impl Trap {
    fn pair(&self) -> &Pair {
        // ord: PX37 alone: every thread finds the same
        let known = PAIR.load(Ordering::Relaxed);
        &self.pairs[if known == 0 { find_pair() } else { known } - 1]
    }

    /// libc's count of waiters, and its flags below.
    fn waiters(&self) -> u32 {
        // ord: PX31 alone: flags that were set when it was initialised, which the program orders; a mark
        self.pair().waiters.load(Ordering::Relaxed)
    }

    fn is_up(&self) -> bool {
        // ord: PX11 alone: who has to wake somebody got the condition's mutex from them
        self.mark.load(Ordering::Relaxed) == OURS
    }
}

/// Ends the process if libc's functions have changed its lock or count while the trap was up.
fn check(lock: u32, waiters: u32) {
    if lock == SLEPT_ON || waiters & !(SHARED | MONOTONIC) != WAITER {
        die_of_two(WAITED_FOR);
    }
}

impl Sign for Trap {
    const IS_LOOKED_AT: bool = true;

    fn put_up(&self) {
        // ord: PX32 alone: as PX11; libc's function compares only
        self.pair().lock.store(HELD, Ordering::Relaxed);
        // ord: PX33 alone: as PX32; nobody else changes it, unless the process is to end
        self.pair().waiters.store(self.waiters() | WAITER, Ordering::Relaxed);
        // ord: PX13 alone: a child of a fork that finds the mark finds the trap; others see it by the mutex
        self.mark.store(OURS, Ordering::Release);
    }

    fn take_down(&self) {
        if self.is_up() {
            let (pair, clock) = (self.pair(), self.waiters() & MONOTONIC);
            // ord: PX10 alone: as PX11; who finds none has nobody to wake
            self.mark.store(0, Ordering::Relaxed);
            // ord: PX30 alone: who was in the trap is found, and nobody is there afterwards; the mark goes
            // first, as in PX13
            let waiters = pair.waiters.swap(clock, Ordering::Release);
            // ord: PX34 alone: as PX30, who slept there is found
            check(pair.lock.swap(0, Ordering::Release), waiters);
        }
    }

    fn look(&self) {
        // ord: PX35 alone: marks that stay
        check(self.pair().lock.load(Ordering::Relaxed), self.waiters());
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
        let (is_ours, is_shared) = (trap.is_up(), trap.waiters() & SHARED != 0);
        if is_ours && libc_waits {
            die_of_two(WAITED_FOR);
        }
        if libc_waits || is_shared || config::choice().is_none() {
            return Whose::Libcs;
        }
        self.adopt();
        if is_ours { Whose::Ours } else { Whose::Nobodys }
    }

    /// The clock of timed waits, whosever it is.
    pub(crate) fn clock(&self) -> clockid_t {
        if self.queue.sign().waiters() & MONOTONIC == 0 { CLOCK_REALTIME } else { CLOCK_MONOTONIC }
    }
}
