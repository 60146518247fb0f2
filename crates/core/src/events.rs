//! Lock events, which are counted per context and summed when read.
//!
//! The names are the kernel's where it has the event. A world that does not count compiles every
//! [`Machine::count`](crate::Machine::count) to nothing. The list is open: another crate of locks goes on
//! with events of its own.

/// Something worth counting in a slow path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    index: usize,
    name: &'static str,
    meaning: &'static str,
}

impl Event {
    #[doc(hidden)]
    pub const fn new(index: usize, name: &'static str, meaning: &'static str) -> Self {
        Self { index, name, meaning }
    }

    /// Its place in the list of all events.
    pub const fn index(self) -> usize {
        self.index
    }

    /// The name used in tables, traces and files.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// What one count of it means.
    pub const fn meaning(self) -> &'static str {
        self.meaning
    }
}

listed! {
    impl Event;
    LockSlowpath = "lock_slowpath", "queued, or polled without a node, after trying for the lock in vain";
    LockNoNode = "lock_no_node", "no node was left, or no context number: acquired by polling";
    PvLockStealing = "pv_lock_stealing", "acquired ahead of a queue";
    PvGaveWay = "pv_gave_way", "queued, because the heir on the same CPU was due";
    PvRousedHere = "pv_roused_here", "waiters of the same CPU roused, because the heir was due and stood elsewhere";
    PvKickUnlock = "pv_kick_unlock", "kicks sent by a release";
    PvLatencyKick = "pv_latency_kick", "nanoseconds spent in kicks";
    PvLatencyWake = "pv_latency_wake", "nanoseconds from a kick until the kicked context ran";
    PvWaitHead = "pv_wait_head", "halts of the head of a queue";
    PvWaitNode = "pv_wait_node", "halts behind another waiter";
    PvNoBarrier = "pv_no_barrier", "a head could not have its heavy barrier and polled instead";
    RwReadSlow = "rw_read_slow", "readers that had to wait";
    RwWriteSlow = "rw_write_slow", "writers, and upgradable holders, that had to wait";
    RwBypass = "rw_bypass", "readers in interrupts that went past waiting writers";
    RwHeadHalt = "rw_head_halt", "halts of the head of a reader-writer lock's queue";
    RwKick = "rw_kick", "kicks sent by releases of reader-writer locks";
    PercpuReadSlow = "percpu_read_slow", "per-CPU reads by way of the base lock";
    PercpuSweep = "percpu_sweep", "per-CPU writers that looked at the readers' cells";
    PercpuSwept = "percpu_swept", "cells that they looked at";
    PercpuFenced = "percpu_fenced", "per-CPU writers that left readers to fence, because writers come often";
    PercpuCalmed = "percpu_calmed", "per-CPU readers that found that fences are no longer needed";
    PercpuWriterHalt = "percpu_writer_halt", "halts of a per-CPU writer for a reader that does not leave";
}

/// What says that a context acquired ahead of a queue.
pub const STEALS: &[Event] = &[Event::PvLockStealing];
