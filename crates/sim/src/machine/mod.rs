//! A simulated machine, as data: who shares a cache with whom, what each distance costs, who runs where.
//!
//! Machines come from files (`machines/*.toml`, read in [`mod@file`]); nothing here knows how they are
//! written. All times are integer picoseconds, so that a simulation is the same on every host.
pub mod file;
mod library;
mod shipped;
mod topology;

use crate::time::Time;

pub use library::{library, load, load_with};
pub use topology::{Distance, Topology};

/// Everything that a simulation needs to know of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The name on command lines and in files.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// Sockets, core groups, cores, hardware threads, and how far sockets are from each other.
    pub topology: Topology,
    /// Costs of memory accesses.
    pub memory: Memory,
    /// How hardware threads of a core, and cores of a socket, slow each other down.
    pub speed: Speed,
    /// The hypervisor or operating system that runs vCPUs or threads on the CPUs.
    pub host: Host,
}

/// Which coherence protocol moves the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Clean lines that another socket shares come from memory.
    Mesi,
    /// One sharer forwards a clean line to other sockets, which is faster than memory (Intel since Nehalem).
    Mesif,
    /// A dirty line can be shared without being written back; its owner serves readers, and groups of cores
    /// (core complexes) have caches of their own (AMD).
    Moesi,
    /// Load-linked and store-conditional (POWER, Arm): a compare-exchange that fails takes no ownership; one
    /// that lost its reservation while its store waited for the line tries again.
    LlSc,
}

/// Costs of memory accesses, in picoseconds unless named otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// How lines move.
    pub protocol: Protocol,
    /// Whether a reader takes a line that its owner has written, and leaves no copy there. A line that nobody
    /// has written since it came is shared (AMD Zen, Intel Emerald Rapids).
    pub migratory: bool,
    /// A load that hits the core's own cache, as far as it delays what follows.
    pub hit: Time,
    /// A read-modify-write of a line that the core owns.
    pub rmw: Time,
    /// Issuing a store; the line's arrival is not waited for.
    pub store: Time,
    /// A full fence with an empty store buffer.
    pub fence: Time,
    /// One poll of a spinning loop: load, compare, spin hint.
    pub poll: Time,
    /// From the arrival of the awaited value to the first instruction after the loop (a mispredicted branch).
    pub spin_exit: Time,
    /// A clean line from the cache that the core's group shares.
    pub group_clean: Time,
    /// A dirty line from another core of the group.
    pub group_dirty: Time,
    /// A dirty line from another group of the socket.
    pub socket_dirty: Time,
    /// A dirty line from a socket one hop away.
    pub remote_dirty: Time,
    /// What each further hop adds.
    pub hop: Time,
    /// A line that no cache has.
    pub memory: Time,
    /// Taking ownership of a line that other cores of the group share.
    pub upgrade: Time,
    /// The same if another group of the socket shares it.
    pub upgrade_socket: Time,
    /// The same if a remote socket shares it, one hop away.
    pub upgrade_remote: Time,
    /// What each further socket with sharers adds to an upgrade.
    pub upgrade_per_socket: Time,
    /// What each sharing core adds to an upgrade.
    pub upgrade_per_core: Time,
    /// How long a group's shared cache is occupied by serving one reader of a line (a read storm drains at
    /// this rate).
    pub group_occupancy: Time,
    /// Serving a clean line to another group or socket occupies it for this much of `group_occupancy`, in per
    /// cent.
    pub outside_percent: u32,
    /// For how much of a dirty transfer nobody else can be served from the line, in per cent of its latency.
    pub occupancy_percent: u32,
    /// For how much of a dirty transfer to a writer the old owner still reads and writes the line, in per
    /// cent of its latency.
    pub snoop_percent: u32,
    /// For how much of a dirty transfer to a reader the old owner still writes the line, in per cent of its
    /// latency.
    pub snoop_read_percent: u32,
    /// How much of the latency of a load that missed is hidden from an ownership request for the same line
    /// that follows at once (an out-of-order core issues both early), in per cent.
    pub overlap_percent: u32,
    /// An ownership request that follows a missed load within this time was issued together with it.
    pub burst: Time,
    /// How long before an instruction comes the core asks for the line that it needs, if it has run on for so
    /// long: an out-of-order core looks ahead.
    pub look_ahead: Option<Time>,
    /// The youngest stores of a core that may be on their way before the next has to wait.
    pub store_buffer: u16,
    /// Each transfer is longer or shorter by up to this, in per cent.
    pub jitter_percent: u32,
}

/// How much slower computing is for company.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    /// Time of a computation while a sibling thread of the core computes, in per cent of its time alone.
    pub sibling_computes_percent: u32,
    /// The same while siblings only spin.
    pub sibling_spins_percent: u32,
    /// Time of a computation when at least this many cores of the socket are busy, in per cent of its time
    /// with one busy; ascending, each row valid up to the next.
    pub turbo: Vec<(u16, u32)>,
}

/// What runs vCPUs (or threads) on CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Who decides which of them runs.
    pub scheduler: SchedulerKind,
    /// Entering the wait: the futex call or HLT exit of a context that goes to sleep.
    pub halt: Time,
    /// What a kick costs the kicker, if the target sleeps.
    pub kick: Time,
    /// The same if another CPU has to be interrupted for that; none: there is no difference.
    pub kick_across: Option<Time>,
    /// How long a CPU that falls idle still looks for work: whoever is kicked meanwhile goes on at once, and
    /// nobody is interrupted; none: it is at rest at once.
    pub idle_entry: Option<Time>,
    /// What it costs the kicker if the target does not.
    pub kick_idle: Time,
    /// From the kick until a sleeper's CPU, which idles, runs it.
    pub wake_idle: Time,
    /// From the kick until a sleeper is queued, if its CPU runs somebody else.
    pub wake_busy: Time,
    /// Switching a CPU from one context to another.
    pub switch: Time,
    /// What a context that moves to another CPU pays for its cold caches.
    pub migrate: Time,
    /// `yield` when nobody else can use the CPU.
    pub yield_cost: Time,
    /// The expensive side of an asymmetric fence (`membarrier`); `None`: there is none, both sides use full
    /// fences.
    pub heavy_barrier: Option<Time>,
    /// Whether a context can see that another one is preempted.
    pub preempted_hint: bool,
    /// Whether contexts are vCPUs, which see that another one is preempted wherever it ran, and can give it
    /// their CPU. Threads of an operating system know that of those only that were last on their own CPU, and
    /// yield to whoever is next.
    pub hypercalls: bool,
    /// Pause-loop exits, if the hypervisor has them.
    pub pause_loop: Option<PauseLoop>,
    /// Contexts start within this span of each other, in seeded order: a FIFO lock keeps the order of its
    /// first queue for ever.
    pub start_spread: Time,
    /// The CPU's regular interrupt: period and cost. Period 0: none.
    pub tick_period: Time,
    /// What a tick costs whoever runs.
    pub tick_cost: Time,
}

/// Leaving a guest that spins for long.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseLoop {
    /// Spinning for this long without a pause leaves the guest.
    pub window: Time,
    /// What the window grows to, doubling with each exit until the vCPU is dispatched anew; `None`: without
    /// end.
    pub largest: Option<Time>,
    /// Pauses that are nearer to each other than this belong to one loop.
    pub gap: Time,
    /// What one exit costs.
    pub exit: Time,
    /// A vCPU that was dispatched less than this ago is not put aside by a directed yield.
    pub guard: Time,
}

/// Which scheduler, with its parameters in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum SchedulerKind {
    /// Context *n* has CPU *n* for itself; there are no more contexts than CPUs.
    Pinned,
    /// Equal shares by virtual run time.
    FairShare(FairShare),
    /// One queue a CPU in turns (Xen's credit scheduler, simple hypervisors).
    RoundRobin(RoundRobin),
}

/// Which of Linux's fair schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fair {
    /// Up to Linux 6.5: who slept has credit, who yields is passed over once.
    Cfs,
    /// Since Linux 6.6: who slept has what it was owed, who yields forfeits its turn.
    Eevdf,
}

/// Parameters of the fair-share scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct FairShare {
    /// Which one it is.
    pub kind: Fair,
    /// How long a context runs before another of the same CPU gets its turn.
    pub slice: Time,
    /// Preemption happens at multiples of this (the scheduler's tick); 0: at any moment.
    pub granularity: Time,
    /// A woken context preempts the running one if it is behind by more than this; `None`: never.
    pub wake_preemption: Option<Time>,
    /// By how much the account of a turn may be off: interrupts and softirqs make turns unequal.
    pub turn_noise: Time,
    /// How often queues are balanced; 0: never.
    pub balance: Time,
    /// Whether a CPU that runs out of work pulls from another queue at once.
    pub idle_pull: bool,
    /// What such a pull is thought to cost: a CPU whose idle periods are shorter on the average does without.
    pub pull_cost: Time,
    /// Whether a wake-up looks for an idle CPU (else the sleeper goes to where it ran last).
    pub wake_to_idle: bool,
    /// A CPU limit for all contexts together (a cgroup's quota).
    pub quota: Option<Quota>,
}

/// Parameters of the round-robin scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundRobin {
    /// How long a context runs while others wait.
    pub slice: Time,
    /// Whether a woken context goes ahead of those that used up their slices (credit's boost).
    pub boost: bool,
    /// Whether an idle CPU steals from other queues.
    pub steal: bool,
}

/// A limit on the CPU time of all contexts together.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// The length of a period.
    pub period: Time,
    /// CPU time that may be used in it.
    pub budget: Time,
}
