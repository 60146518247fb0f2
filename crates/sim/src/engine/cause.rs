//! Where the time of contexts goes.
use crate::time::Time;

/// What a context's time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// Useful work outside of sections.
    Computing,
    /// Useful work while it holds a lock.
    Holding,
    /// Instructions of lock code that neither wait nor miss.
    Locking,
    /// Waiting for a cache line to arrive.
    Transfer,
    /// Spinning on something that has not happened yet.
    Spinning,
    /// Work of the operating system or hypervisor on its behalf: halting, kicking, switching, ticks, exits.
    Overhead,
    /// Runnable, but its CPU runs somebody else (stolen time).
    Preempted,
    /// Halted until it is kicked.
    Halted,
    /// Asleep by its own wish (input and output, a timer).
    Sleeping,
}

impl Cause {
    /// Every cause, in the order of tables.
    pub const ALL: [Cause; 9] = [
        Cause::Computing,
        Cause::Holding,
        Cause::Locking,
        Cause::Transfer,
        Cause::Spinning,
        Cause::Overhead,
        Cause::Preempted,
        Cause::Halted,
        Cause::Sleeping,
    ];

    /// The name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Computing => "computing",
            Cause::Holding => "holding",
            Cause::Locking => "locking",
            Cause::Transfer => "transfer",
            Cause::Spinning => "spinning",
            Cause::Overhead => "overhead",
            Cause::Preempted => "preempted",
            Cause::Halted => "halted",
            Cause::Sleeping => "sleeping",
        }
    }

    /// Whether a physical CPU is busy with it.
    pub const fn uses_cpu(self) -> bool {
        (self as u8) < Cause::Preempted as u8
    }
}

/// Time by cause, in picoseconds, indexed by `Cause as usize`.
pub type ByCause = [Time; Cause::ALL.len()];

/// The running account of one context.
#[derive(Clone, Debug)]
pub(super) struct Spent {
    /// What is being spent on now, and since when.
    pub(super) cause: Cause,
    pub(super) since: Time,
    /// What it goes back to after a wait: computing, holding or locking.
    pub(super) base: Cause,
    pub(super) total: ByCause,
}

impl Default for Spent {
    fn default() -> Self {
        Self { cause: Cause::Preempted, since: 0, base: Cause::Computing, total: [0; Cause::ALL.len()] }
    }
}

impl Spent {
    /// From `now` on, time goes to `cause`.
    #[inline]
    pub(super) fn switch(&mut self, cause: Cause, now: Time) {
        self.total[self.cause as usize] += now - self.since;
        self.since = now;
        self.cause = cause;
    }

    /// `span` of the time up to `now + span` goes to `cause`, the rest goes on as before.
    #[inline]
    pub(super) fn aside(&mut self, cause: Cause, span: Time) {
        self.total[cause as usize] += span;
        self.since += span;
    }

    /// Forgets what was spent before `now`.
    pub(super) fn reset(&mut self, now: Time) {
        self.total = [0; Cause::ALL.len()];
        self.since = now;
    }
}
