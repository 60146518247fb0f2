//! Tunables: what can be changed at run time, by name. The list is open, as that of
//! [`events`](crate::events).
//!
//! A lock asks its world in its slow path, by [`Machine::tunable`](crate::Machine::tunable). The native world
//! answers from a table that a program may write to, and simulated worlds from their arguments. Worlds that
//! explore every schedule give small numbers.

/// Something that can be changed while locks are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunable {
    index: usize,
    name: &'static str,
    default: u32,
    meaning: &'static str,
}

impl Tunable {
    #[doc(hidden)]
    pub const fn new(index: usize, name: &'static str, default: u32, meaning: &'static str) -> Self {
        Self { index, name, default, meaning }
    }

    /// Its place in the list of all tunables.
    pub const fn index(self) -> usize {
        self.index
    }

    /// The name used on command lines and in files.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        self.meaning
    }

    /// What it is unless somebody says otherwise.
    pub const fn default(self) -> u32 {
        self.default
    }
}

listed! {
    impl Tunable;
    SpinNanos = "spin_ns": 10_000, "stanchion: for how long a context spins before it sleeps, at most, in nanoseconds";
    PauseNanos = "pause_ns": 25, "stanchion: pause between two looks at a lock that one holder keeps, in nanoseconds";
    BackoffNanos = "backoff_ns": 3_200, "stanchion: to what pauses grow at a lock that changes hands, in nanoseconds";
    Overtakings = "overtakings": 8, "stanchion: a newcomer that was overtaken so often queues; a lock that is acquired so often between two looks is hot";
    TurnMicros = "turn_us": 200, "stanchion: for how long a waiter that was roused may be overtaken, in microseconds";
    LookAhead = "look_ahead": 128, "stanchion: among how many of the first waiters one nearby is looked for";
    NearMicros = "near_us": 5_000, "stanchion: by how much a waiter on the NUMA node of whoever rouses may have come later than the first, in microseconds; 0: the first is roused, wherever it is";
    Adapt = "adapt": 1, "stanchion: 1 makes spins shorter where they are in vain";
    Turns = "turns": 1, "stanchion: 1 makes the waiters of a hot lock sleep for a turn";
    HandOver = "hand_over": 1, "stanchion: 1 makes a context give its CPU to a waiter whose turn has come";
    RwNewcomerPolls = "rw_newcomer_polls": 64, "qrw: polls of a newcomer, which may pass those who wait, before it queues; of a writer, again before it sets the no-barging flag";
    RwHeadPolls = "rw_head_polls": 64, "qrw: polls of a head that reads before it reserves its place, and of every head between two halts";
    RwSweepPolls = "rw_sweep_polls": 1_024, "percpu-rw: polls of a writer for a reader to leave before it halts";
    RwFenceRatio = "rw_fence_ratio": 16, "percpu-rw: readers fence if writers come within so many times what interrupting all CPUs takes; 0: never";
    RwCalmReads = "rw_calm_reads": 251, "percpu-rw: a reader looks once in so many fenced reads, 256 at most, if fences are still needed";
}
