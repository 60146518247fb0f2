//! Lock events: one list of counters, counted per context and summed when read.
//!
//! The names are the kernel's where it has the event. A world that does not count compiles every
//! [`Machine::count`](crate::Machine::count) to nothing.

macro_rules! events {
    ($($(#[$about:meta])* $name:ident = $text:literal, $meaning:literal;)*) => {
        /// Something worth counting in a slow path.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Event { $(#[doc = $meaning] $name,)* }

        impl Event {
            /// Every event, in the order of the list.
            pub const ALL: &'static [Event] = &[$(Event::$name,)*];

            /// The name used in tables, traces and files.
            pub const fn name(self) -> &'static str {
                match self { $(Event::$name => $text,)* }
            }

            /// What one count of it means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Event::$name => $meaning,)* }
            }
        }
    };
}

events! {
    LockPending = "lock_pending", "acquired by way of the pending bit, without a queue node";
    LockSlowpath = "lock_slowpath", "queued, or polled without a node, after trying for the lock in vain";
    LockUseNode2 = "lock_use_node2", "queued in an interrupt of a queued context (second node)";
    LockUseNode3 = "lock_use_node3", "queued two interrupts deep (third node)";
    LockUseNode4 = "lock_use_node4", "queued three interrupts deep (fourth node)";
    LockNoNode = "lock_no_node", "no node was left, or no context number: acquired by polling";
    CnaMoved = "cna_moved", "remote waiters moved to the secondary queue";
    CnaSpliced = "cna_spliced", "secondary queues put back in front because their wait was over";
    UnfairStealEntry = "unfair_steal_entry", "acquired at once, ahead of a queue";
    UnfairStealQueue = "unfair_steal_queue", "acquired from behind in the queue";
    UnfairHeadStolen = "unfair_head_stolen", "a head lost a free lock to a thief";
    UnfairUnlinkTail = "unfair_unlink_tail", "thieves that left the end of the queue";
    UnfairUnlinkMiddle = "unfair_unlink_middle", "thieves that left from between two waiters";
    UnfairTailRace = "unfair_tail_race", "thieves that left the end of the queue while somebody took their place";
    OwnerSteal = "owner_steal", "acquired while polling ahead of the queue";
    OwnerMustQueue = "owner_must_queue", "heads that forbade stealing";
    OwnerConfer = "owner_confer", "slices given to an owner that did not run";
    OwnerConferPrev = "owner_confer_prev", "slices given to a waiter in front that did not run";
    OwnerSleepy = "owner_sleepy", "locks marked because their owner did not run";
    OwnerProd = "owner_prod", "next heads woken because they did not run";
    PvLockStealing = "pv_lock_stealing", "acquired ahead of a queue";
    PvGaveWay = "pv_gave_way", "queued, because the heir on the same CPU was due";
    PvRousedHere = "pv_roused_here", "waiters of the same CPU roused, because the heir was due and stood elsewhere";
    PvKickUnlock = "pv_kick_unlock", "kicks sent by a release";
    PvKickEager = "pv_kick_eager", "kicks sent to a sleeping waiter because it became head";
    PvKickAhead = "pv_kick_ahead", "kicks sent by a release to sleepers behind the head";
    PvHashHops = "pv_hash_hops", "entries of the hash table looked at by releases";
    PvLatencyKick = "pv_latency_kick", "nanoseconds spent in kicks";
    PvLatencyWake = "pv_latency_wake", "nanoseconds from a kick until the kicked context ran";
    PvKickWake = "pv_kick_wake", "halts that ended by a kick";
    PvSpuriousWakeup = "pv_spurious_wakeup", "halts behind another waiter that ended with nothing to do";
    PvWaitAgain = "pv_wait_again", "halts of a head that had been woken before and lost to a thief";
    PvWaitEarly = "pv_wait_early", "halts taken early because the waiter in front was not running";
    PvWaitHead = "pv_wait_head", "halts of the head of a queue";
    PvWaitNode = "pv_wait_node", "halts behind another waiter";
    PvNoParking = "pv_no_parking", "a head found no parking slot to be kicked at and polled instead";
    PvNoBarrier = "pv_no_barrier", "a head could not have its heavy barrier and polled instead";
    XenTakenSlow = "xen_taken_slow", "waits that blocked on an event";
    XenTakenSlowNested = "xen_taken_slow_nested", "such waits in an interrupt of another blocked wait";
    XenTakenSlowPickup = "xen_taken_slow_pickup", "acquired right before halting";
    XenTakenSlowSpurious = "xen_taken_slow_spurious", "halts that ended without an event";
    XenReleasedSlow = "xen_released_slow", "releases that looked for a blocked waiter";
    XenReleasedSlowKicked = "xen_released_slow_kicked", "waiters kicked by such releases";
    TicketTakenSlow = "ticket_taken_slow", "waits for a ticket that asked to be kicked";
    TicketTakenSlowPickup = "ticket_taken_slow_pickup", "tickets whose turn came right before halting";
    TicketTakenSlowSpurious = "ticket_taken_slow_spurious", "halts that ended before the ticket's turn";
    TicketReleasedSlow = "ticket_released_slow", "releases that looked for the next ticket's context";
    TicketReleasedSlowKicked = "ticket_released_slow_kicked", "waiters kicked by such releases";
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

/// Names that events had before, which stay valid where a name is read.
const FORMER: &[(&str, Event)] = &[
    ("pv_stint_over", Event::PvGaveWay),
    ("pv_let_out", Event::PvRousedHere),
    ("pv_no_spot", Event::PvNoParking),
];

impl Event {
    /// The event of that name, or of the name that it had before.
    pub fn by_name(name: &str) -> Option<Self> {
        let now = Self::ALL.iter().copied().find(|event| event.name() == name);
        now.or_else(|| FORMER.iter().find(|(former, _)| *former == name).map(|&(_, event)| event))
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, FORMER};

    #[test]
    fn events_are_found_by_their_names_and_by_former_ones() {
        for &event in Event::ALL {
            assert_eq!(Event::by_name(event.name()), Some(event));
        }
        for &(former, event) in FORMER {
            assert_eq!(Event::by_name(former), Some(event));
            assert!(Event::ALL.iter().all(|event| event.name() != former), "{former} is a name of today");
        }
        assert_eq!(Event::by_name("pv_no"), None);
    }

    #[test]
    fn names_are_distinct_and_in_the_order_of_the_discriminants() {
        for (index, event) in Event::ALL.iter().enumerate() {
            assert_eq!(*event as usize, index);
            assert!(Event::ALL.iter().filter(|other| other.name() == event.name()).count() == 1);
            assert!(!event.meaning().is_empty());
        }
    }
}
