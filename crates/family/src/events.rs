//! The lock events that only locks of this crate count, behind those of the product.
use stanchion_core::{Event, events, listed};

listed! {
    /// The events of this crate's locks, as constants of [`Event`].
    trait FamilyEvents for Event behind events::ALL;
    LockPending = "lock_pending", "acquired by way of the pending bit, without a queue node";
    LockUseNode2 = "lock_use_node2", "queued in an interrupt of a queued context (second node)";
    LockUseNode3 = "lock_use_node3", "queued two interrupts deep (third node)";
    LockUseNode4 = "lock_use_node4", "queued three interrupts deep (fourth node)";
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
    PvKickEager = "pv_kick_eager", "kicks sent to a sleeping waiter because it became head";
    PvKickAhead = "pv_kick_ahead", "kicks sent by a release to sleepers behind the head";
    PvHashHops = "pv_hash_hops", "entries of the hash table looked at by releases";
    PvKickWake = "pv_kick_wake", "halts that ended by a kick";
    PvSpuriousWakeup = "pv_spurious_wakeup", "halts behind another waiter that ended with nothing to do";
    PvWaitAgain = "pv_wait_again", "halts of a head that had been woken before and lost to a thief";
    PvWaitEarly = "pv_wait_early", "halts taken early because the waiter in front was not running";
    PvNoParking = "pv_no_parking", "a head found no parking slot to be kicked at and polled instead";
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
}

/// What says that a context acquired ahead of a queue.
pub const STEALS: &[Event] =
    &[Event::PvLockStealing, Event::UnfairStealEntry, Event::UnfairStealQueue, Event::OwnerSteal];

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_distinct_and_in_the_order_of_the_numbers() {
        for (index, event) in ALL.iter().enumerate() {
            assert_eq!(event.index(), index);
            assert_eq!(
                ALL.iter().filter(|other| other.name() == event.name()).count(),
                1,
                "{}",
                event.name()
            );
            assert!(!event.meaning().is_empty());
        }
    }
}
