//! The tunables of this crate's locks, behind those of the product.
use stanchion_core::{Tunable, listed, tunables};

listed! {
    /// The tunables of this crate's locks, as constants of [`Tunable`].
    trait FamilyTunables for Tunable behind tunables::ALL;
    CnaThreshold = "cna_threshold_us": 1_000, "cna: for how long waiters of other NUMA nodes may be passed over, in microseconds";
    CnaShuffle = "cna_shuffle_one_in": 128, "cna: a head without a secondary queue starts to sort one turn in so many";
    XenTimeout = "xen_timeout": 1_024, "xen-pv: polls before a waiter blocks; the greatest number means never";
    XenWakeAll = "xen_wake_all": 0, "xen-pv: 1 wakes every blocked waiter of the lock at a release, 0 one of them";
    SpinThreshold = "spin_threshold": 32_768, "pv-ticket: polls before a waiter halts";
    OticketNear = "oticket_near": 18, "pv-ticket-opportunistic: waiters nearer than this to their turn poll longer";
    OticketWake = "oticket_wake": 4, "pv-ticket-opportunistic: how many waiters a release wakes";
    StealIntervalMin = "steal_interval_min": 8, "unfair-q: polls between two attempts to steal, right behind the head";
    StealIntervalMax = "steal_interval_max": 1_024, "unfair-q: the same, far back in the queue";
    KickAhead = "kick_ahead": 4, "pv-qspin policies with kick-ahead: how many waiters behind the head a release wakes";
    PendingPolls = "pending_polls": 1_024, "pv-qspin policies with a pending bit: polls of the pending waiter before it queues";
    StealSpins = "steal_spins": 32, "owner-qspin: polls of a newcomer that tries to steal; 0 disables stealing";
    RemoteStealSpins = "remote_steal_spins": 4, "owner-qspin: the same, when the owner is on another NUMA node";
    HeadSpins = "head_spins": 256, "owner-qspin: polls before the head forbids stealing";
    YieldOwner = "yield_owner": 1, "owner-qspin: 1 confers to a preempted owner";
    YieldAllowSteal = "yield_allow_steal": 0, "owner-qspin: 1 lets newcomers steal while the head confers";
    SpinOnPreemptedOwner = "spin_on_preempted_owner": 0, "owner-qspin: 1 does not count polls while the owner is preempted";
    SleepyLock = "sleepy_lock": 1, "owner-qspin: 1 marks a lock whose owner was seen preempted, so that waiters poll longer";
    SleepyLockSticky = "sleepy_lock_sticky": 0, "owner-qspin: 1 marks it again after it was seen marked before";
    SleepyLockInterval = "sleepy_lock_interval_us": 0, "owner-qspin: for how long a context remembers a marked lock, in microseconds";
    SleepyLockFactor = "sleepy_lock_factor": 256, "owner-qspin: multiplies the three limits on polls while a lock is marked";
    YieldPrev = "yield_prev": 1, "owner-qspin: 1 confers to a preempted waiter in front";
    YieldSleepyOwner = "yield_sleepy_owner": 1, "owner-qspin: 1 tells waiters down the queue that the owner is preempted";
    ProdHead = "prod_head": 0, "owner-qspin: 1 wakes the next head if it is preempted";
}

/// The tunable of that name.
pub fn by_name(name: &str) -> Option<Tunable> {
    ALL.iter().copied().find(|tunable| tunable.name() == name)
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_distinct_and_in_the_order_of_the_numbers() {
        for (index, tunable) in ALL.iter().enumerate() {
            assert_eq!(tunable.index(), index);
            assert_eq!(
                ALL.iter().filter(|other| other.name() == tunable.name()).count(),
                1,
                "{}",
                tunable.name()
            );
            assert!(tunable.meaning().contains(": "), "{} says which lock it belongs to", tunable.name());
        }
    }
}
