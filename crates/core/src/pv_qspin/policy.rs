//! How a paravirtual queued lock waits: the choices, and the constants that go with each.
//!
//! Every constant is a parameter so that a model checker can run the very same code with small ones.

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
    const LONGEST_EXTENSION: u32 = 8;
    const LOOK_AHEAD: usize = 16;
    const LET_OUT_TRIES: u32 = 10;
    const CLOCK_INTERVAL_MICROS: u32 = 32;
    const LEAST_CREDIT: u32 = 8;
    const MOST_CREDIT: u32 = 2_048;
}

/// What the kernel did in 4.2: nobody steals, and a sleeping waiter that becomes head is woken only when the lock is
/// released.
#[derive(Debug)]
pub enum KickAtUnlock {}

impl WaitPolicy for KickAtUnlock {
    const NAME: &'static str = "pv-qspin-kick-at-unlock";
    const STEALS: bool = false;
    const NEWCOMER_SPIN: u32 = 0;
    const QUEUED_SPIN: u32 = 50_000;
    const HEAD_PATIENCE: u32 = 0;
    const HEAD_SPIN: u32 = 50_000;
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
}
