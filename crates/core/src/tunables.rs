//! Tunables: what can be changed at run time, by name. One list, as for [`events`](crate::events).
//!
//! A lock asks its world in its slow path, [`Machine::tunable`](crate::Machine::tunable); the native world
//! answers from a table that a program may write to, simulated worlds from their arguments, and worlds that
//! explore every schedule give small numbers.

macro_rules! tunables {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $default:literal, $meaning:literal;)*) => {
        /// Something that can be changed while locks are in use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Tunable { $($(#[$doc])* #[doc = $meaning] $name,)* }

        impl Tunable {
            /// Every tunable, in the order of the list.
            pub const ALL: &'static [Tunable] = &[$(Tunable::$name,)*];

            /// The name used on command lines and in files.
            pub const fn name(self) -> &'static str {
                match self { $(Tunable::$name => $text,)* }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Tunable::$name => $meaning,)* }
            }

            /// What it is unless somebody says otherwise.
            pub const fn default(self) -> u32 {
                match self { $(Tunable::$name => $default,)* }
            }
        }
    };
}

tunables! {
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
    RwNewcomerPolls = "rw_newcomer_polls": 64, "qrw: polls of a newcomer, which may pass the head, before it queues";
    RwHeadPolls = "rw_head_polls": 64, "qrw: polls of the head before it sets the no-barging flag, and between two halts";
    RwSweepPolls = "rw_sweep_polls": 1_024, "percpu-rw: polls of a writer for a reader to leave before it halts";
    RwFenceRatio = "rw_fence_ratio": 16, "percpu-rw: readers fence if writers come within so many times what interrupting all CPUs takes; 0: never";
    RwCalmReads = "rw_calm_reads": 251, "percpu-rw: a reader looks once in so many fenced reads, 256 at most, if fences are still needed";
}

impl Tunable {
    /// The tunable of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tunable| tunable.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::Tunable;

    #[test]
    fn names_are_distinct_and_in_the_order_of_the_discriminants() {
        for (index, tunable) in Tunable::ALL.iter().enumerate() {
            assert_eq!(*tunable as usize, index);
            assert_eq!(Tunable::ALL.iter().filter(|other| other.name() == tunable.name()).count(), 1);
            assert!(tunable.meaning().contains(": "), "{} says which lock it belongs to", tunable.name());
        }
    }
}
