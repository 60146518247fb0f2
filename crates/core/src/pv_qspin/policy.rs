//! How a paravirtual queued lock waits: the choices, and the constants that go with each.
//!
//! Every constant is a parameter so that a model checker can run the very same code with small ones.

use super::signpost::{HashTable, Pointer, Signpost, Spots};
use crate::platform::{Atomic, Platform};

/// When a queued waiter stops polling ahead of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEarly {
    /// Never.
    Never,
    /// As soon as the waiter in front is seen asleep or not running: it looks before each poll.
    AtOnce,
    /// The same, but it looks once in so many polls.
    Sampled(u32),
}

/// The choices of a paravirtual queued lock. Times are in nanoseconds of [`Platform::relax`](crate::Platform::relax).
pub trait WaitPolicy: Send + Sync + 'static {
    /// The name of the lock with this policy, on command lines and in files.
    const NAME: &'static str;
    /// Whether a newcomer may take a free lock ahead of a queue.
    const STEALS: bool;
    /// How long a newcomer tries for the lock before it queues.
    const NEWCOMER_SPIN: u32;
    /// How long a waiter behind another one polls before it halts.
    const QUEUED_SPIN: u32;
    /// How long a head tries before it stops newcomers from stealing.
    const HEAD_PATIENCE: u32;
    /// How long a head tries, [`WaitPolicy::HEAD_PATIENCE`] included, before it halts.
    const HEAD_SPIN: u32;
    /// The first pause between two tries; each further one is twice as long.
    const FIRST_PAUSE: u32;
    /// The longest pause between two tries.
    const LONGEST_PAUSE: u32;
    /// The shortest time for which a context may go on stealing since it last came out of a queue, in microseconds.
    const SHORTEST_STINT_MICROS: u32;
    /// The longest such time, in microseconds.
    const LONGEST_STINT_MICROS: u32;
    /// What the product of a stint and the wait in the queue before it aims at, in square microseconds.
    const STINT_TIMES_WAIT_MICROS: u32;
    /// Who acquires ahead of a queue at least once in so many nanoseconds is in a hurry; 0: nobody is.
    const HURRIED_PACE: u32 = 0;
    /// The first pause of a newcomer in a hurry, unless its patience is less than four of these.
    const HURRIED_PAUSE: u32 = Self::FIRST_PAUSE;
    /// For how many stints more a context goes on if nobody would take its CPU.
    const LONGEST_EXTENSION: u32;
    /// How many waiters behind the head are looked at for one to let out; 0 lets nobody out.
    const LOOK_AHEAD: usize;
    /// How often a waiter that was let out tries for a newcomer's time before it queues again.
    const LET_OUT_TRIES: u32;
    /// How often the clock is looked at, in microseconds, as far as the bounds on credit allow.
    const CLOCK_INTERVAL_MICROS: u32;
    /// The least number of acquisitions ahead of a queue between two looks at the clock.
    const LEAST_CREDIT: u32;
    /// The greatest such number.
    const MOST_CREDIT: u32;
    /// Waits by so many plain polls behind another waiter, and as head, instead of by the times above; 0: by the times.
    const POLLS: u32 = 0;
    /// When a queued waiter stops polling ahead of its time.
    const WAIT_EARLY: WaitEarly = WaitEarly::AtOnce;
    /// Whether a sleeping waiter is kicked when it becomes head, and not only when the lock is released.
    const EAGER_KICK: bool = false;
    /// Whether a release that kicks the head also kicks sleepers behind it:
    /// [`Tunable::KickAhead`](crate::Tunable::KickAhead) of them at most.
    const KICKS_AHEAD: bool = false;
    /// Whether the first waiter polls the lock for a while, [`Tunable::PendingPolls`](crate::Tunable::PendingPolls), before it
    /// queues.
    const PENDING: bool = false;
    /// How a release finds the head that sleeps.
    type Signpost: Signpost;

    /// Halts while `cell` holds `value`; may return at any time.
    fn halt_while<P: Platform, T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        P::halt_while(cell, value);
    }
}

/// What the kernel does since 4.15, in the form that suits preempted *threads*: newcomers steal while the head of the
/// queue sleeps or has just woken up, for a bounded stint each.
#[derive(Debug)]
pub enum Hybrid {}

impl WaitPolicy for Hybrid {
    const NAME: &'static str = "pv-qspin";
    const STEALS: bool = true;
    const NEWCOMER_SPIN: u32 = 20_000;
    const QUEUED_SPIN: u32 = 2_000;
    const HEAD_PATIENCE: u32 = 4_000;
    const HEAD_SPIN: u32 = 20_000;
    const FIRST_PAUSE: u32 = 25;
    const LONGEST_PAUSE: u32 = 1_600;
    const SHORTEST_STINT_MICROS: u32 = 100;
    const LONGEST_STINT_MICROS: u32 = 2_000;
    const STINT_TIMES_WAIT_MICROS: u32 = 4_000_000;
    const HURRIED_PACE: u32 = 160;
    const HURRIED_PAUSE: u32 = 5_000;
    const LONGEST_EXTENSION: u32 = 8;
    const LOOK_AHEAD: usize = 16;
    const LET_OUT_TRIES: u32 = 10;
    const CLOCK_INTERVAL_MICROS: u32 = 32;
    const LEAST_CREDIT: u32 = 8;
    const MOST_CREDIT: u32 = 2_048;
    type Signpost = Spots;
}

/// [`Unlimited`] for the queue of another lock, whose first in line holds this one while it waits, asleep perhaps: who comes then is to
/// sleep soon. No stints: in such a queue, a context that has to queue because its stint is over waits for a CPU while it could have had
/// the other lock.
#[derive(Debug)]
pub enum Brief {}

impl WaitPolicy for Brief {
    const NAME: &'static str = "pv-qspin-brief";
    const STEALS: bool = Unlimited::STEALS;
    const NEWCOMER_SPIN: u32 = 250;
    const QUEUED_SPIN: u32 = 500;
    const HEAD_PATIENCE: u32 = 250;
    const HEAD_SPIN: u32 = 1_000;
    const FIRST_PAUSE: u32 = Unlimited::FIRST_PAUSE;
    const LONGEST_PAUSE: u32 = Unlimited::LONGEST_PAUSE;
    const SHORTEST_STINT_MICROS: u32 = Unlimited::SHORTEST_STINT_MICROS;
    const LONGEST_STINT_MICROS: u32 = Unlimited::LONGEST_STINT_MICROS;
    const STINT_TIMES_WAIT_MICROS: u32 = Unlimited::STINT_TIMES_WAIT_MICROS;
    const LONGEST_EXTENSION: u32 = Unlimited::LONGEST_EXTENSION;
    const LOOK_AHEAD: usize = Unlimited::LOOK_AHEAD;
    const LET_OUT_TRIES: u32 = Unlimited::LET_OUT_TRIES;
    const CLOCK_INTERVAL_MICROS: u32 = Unlimited::CLOCK_INTERVAL_MICROS;
    const LEAST_CREDIT: u32 = Unlimited::LEAST_CREDIT;
    const MOST_CREDIT: u32 = Unlimited::MOST_CREDIT;
    type Signpost = Spots;
}

/// Polls before a waiter halts, as the kernel has it.
const SPIN_THRESHOLD: u32 = 1 << 15;
/// How often the merged form looks at the waiter in front.
const SAMPLE: WaitEarly = WaitEarly::Sampled(256);

/// Declares the policies that were announced: nobody steals, and waiters poll so often and then halt.
macro_rules! announced {
    ($($(#[$doc:meta])* $policy:ident = $name:literal { $($item:item)* } $signpost:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $policy {}

        impl WaitPolicy for $policy {
            const NAME: &'static str = $name;
            const STEALS: bool = false;
            const NEWCOMER_SPIN: u32 = 0;
            const QUEUED_SPIN: u32 = 0;
            const HEAD_PATIENCE: u32 = 0;
            const HEAD_SPIN: u32 = 0;
            const FIRST_PAUSE: u32 = 25;
            const LONGEST_PAUSE: u32 = 200;
            const SHORTEST_STINT_MICROS: u32 = 0;
            const LONGEST_STINT_MICROS: u32 = 0;
            const STINT_TIMES_WAIT_MICROS: u32 = 0;
            const LONGEST_EXTENSION: u32 = 0;
            const LOOK_AHEAD: usize = 0;
            const LET_OUT_TRIES: u32 = 0;
            const CLOCK_INTERVAL_MICROS: u32 = 1;
            const LEAST_CREDIT: u32 = 1;
            const MOST_CREDIT: u32 = 1;
            const POLLS: u32 = SPIN_THRESHOLD;
            type Signpost = $signpost;
            $($item)*
        }
    )*};
}

announced! {
    /// Before the series (4.2-rc1): a sleeping waiter is kicked when it becomes head, and again when the lock is released, if
    /// it fell asleep meanwhile.
    EagerKick = "pv-qspin-eager" {
        const WAIT_EARLY: WaitEarly = WaitEarly::Never;
        const EAGER_KICK: bool = true;
    } Spots;
    /// Patch 1, in 4.2: a sleeping waiter that becomes head is woken only when the lock is released.
    KickAtUnlock = "pv-qspin-kick-at-unlock" {
        const WAIT_EARLY: WaitEarly = WaitEarly::Never;
    } Spots;
    /// Patches 1 and 2: a release also wakes the next few sleepers, so that they are awake when their turn comes.
    KickAhead = "pv-qspin-kick-ahead" {
        const WAIT_EARLY: WaitEarly = WaitEarly::Never;
        const KICKS_AHEAD: bool = true;
    } Spots;
    /// Patches 1 to 3: a waiter also halts as soon as the one in front of it sleeps.
    WaitEarlyAtOnce = "pv-qspin-wait-early" {
        const KICKS_AHEAD: bool = true;
    } Spots;
    /// The same with the form that was merged in 4.5 and 4.10: it looks at every 256th poll, and also heeds the hint that the
    /// waiter in front is preempted.
    WaitEarlySampled = "pv-qspin-wait-early-sampled" {
        const KICKS_AHEAD: bool = true;
        const WAIT_EARLY: WaitEarly = SAMPLE;
    } Spots;
    /// Patches 1 and 5: the first waiter polls the lock for a while and needs no node.
    FirstPends = "pv-qspin-pending" {
        const WAIT_EARLY: WaitEarly = WaitEarly::Never;
        const PENDING: bool = true;
    } Spots;
    /// Patches 1 and 3, without kick-ahead.
    OnlyWaitEarly = "pv-qspin-only-wait-early" {} Spots;
    /// The whole series: kick at unlock, kick-ahead, wait-early, pending.
    Patched = "pv-qspin-patched" {
        const KICKS_AHEAD: bool = true;
        const PENDING: bool = true;
    } Spots;
    /// [`KickAtUnlock`] with the kernel's hash table.
    Hashed = "pv-qspin-hash" {
        const WAIT_EARLY: WaitEarly = WaitEarly::Never;
    } HashTable;
    /// [`KickAtUnlock`] with the number of the head's node in the lock, which takes 8 bytes.
    Pointed = "pv-qspin-pointer" {
        const WAIT_EARLY: WaitEarly = WaitEarly::Never;
    } Pointer;
    /// What POWER had from 2020 to 2022: the same lock on its hypervisor calls. A waiter does not sleep: it confers its slice to
    /// anybody, so no wake-up can be lost, and the kick (prod) only makes a conferred context runnable.
    Conferring = "ppc-qspin" {
        const WAIT_EARLY: WaitEarly = WaitEarly::Never;

        fn halt_while<P: Platform, T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
            // ord: G7 alone: decides whether to give the slice away; the caller looks again
            if cell.load(crate::order::Relaxed) == value {
                P::yield_slice();
            }
        }
    } Spots;
}

/// The form merged in 4.15: newcomers steal without a limit on time while the head of the queue sleeps or has just woken up.
/// [`Hybrid`] is this with a bound on how long each context may go on. Here, both learn from their spins, which the form of 4.15
/// did not.
#[derive(Debug)]
pub enum Unlimited {}

impl WaitPolicy for Unlimited {
    const NAME: &'static str = "pv-qspin-4.15";
    const STEALS: bool = true;
    const NEWCOMER_SPIN: u32 = 20_000;
    const QUEUED_SPIN: u32 = 50_000;
    const HEAD_PATIENCE: u32 = 0;
    const HEAD_SPIN: u32 = 50_000;
    const FIRST_PAUSE: u32 = 25;
    const LONGEST_PAUSE: u32 = 200;
    const SHORTEST_STINT_MICROS: u32 = u32::MAX;
    const LONGEST_STINT_MICROS: u32 = u32::MAX;
    const STINT_TIMES_WAIT_MICROS: u32 = 1;
    const LONGEST_EXTENSION: u32 = 0;
    const LOOK_AHEAD: usize = 0;
    const LET_OUT_TRIES: u32 = 0;
    const CLOCK_INTERVAL_MICROS: u32 = 1_000;
    const LEAST_CREDIT: u32 = 2_048;
    const MOST_CREDIT: u32 = 2_048;
    const WAIT_EARLY: WaitEarly = SAMPLE;
    type Signpost = Spots;
}

/// A policy with constants small enough to be reached in a few steps, for worlds that explore every schedule. Its choices, which
/// are what is to be explored, stay; the times are those of a world whose pause is one unit.
#[derive(Debug)]
pub struct Small<W>(core::marker::PhantomData<fn() -> W>);

impl<W: WaitPolicy> WaitPolicy for Small<W> {
    const NAME: &'static str = W::NAME;
    const STEALS: bool = W::STEALS;
    const NEWCOMER_SPIN: u32 = 2;
    const QUEUED_SPIN: u32 = 2;
    const HEAD_PATIENCE: u32 = 0;
    const HEAD_SPIN: u32 = 3;
    const FIRST_PAUSE: u32 = 1;
    const LONGEST_PAUSE: u32 = 1;
    const SHORTEST_STINT_MICROS: u32 = W::SHORTEST_STINT_MICROS;
    const LONGEST_STINT_MICROS: u32 = W::LONGEST_STINT_MICROS;
    const STINT_TIMES_WAIT_MICROS: u32 = 1;
    const LONGEST_EXTENSION: u32 = 0;
    const LOOK_AHEAD: usize = 0;
    const LET_OUT_TRIES: u32 = 1;
    const CLOCK_INTERVAL_MICROS: u32 = 1;
    const LEAST_CREDIT: u32 = 1;
    const MOST_CREDIT: u32 = 2;
    const POLLS: u32 = if W::POLLS > 0 { 2 } else { 0 };
    const WAIT_EARLY: WaitEarly = match W::WAIT_EARLY {
        WaitEarly::Sampled(_) => WaitEarly::Sampled(1),
        other => other,
    };
    const EAGER_KICK: bool = W::EAGER_KICK;
    const KICKS_AHEAD: bool = W::KICKS_AHEAD;
    const PENDING: bool = W::PENDING;
    type Signpost = W::Signpost;

    fn halt_while<P: Platform, T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        W::halt_while::<P, T, A>(cell, value);
    }
}
