//! Bounds that need more than a word.
use stanchion_core::catalogue::Overtaking;

/// In the kernel's form, nobody is a newcomer that polls, and the head asks at once.
pub(super) const PASSING_STRICT: Overtaking = Overtaking::WhileItLooks { looks: 2 + 1, asks: 1, as_head: 1 };

/// A waiter of `cna` is overtaken so often by each other context.
///
/// Once as in `qspin`: by an acquisition that was past its look when the waiter queued. The rest is while the
/// waiter stands in the secondary queue. There a context that came later goes ahead of it if it runs on the
/// preferred NUMA node. That ends with the threshold, which is 2 µs or twenty steps here. A head that sorts
/// the queue later than that has it flushed when it leaves.
///
/// To acquire ahead a second time, a context releases, queues again (14 steps), becomes head and sorts. The
/// context in front of it has to do the same, and twenty steps are too few for both. So a context acquires
/// ahead once while heads sort in time. It does so once more if the last of those heads makes it head: it
/// finds the time to be over, and flushes the secondary queue when it leaves.
pub(super) const BY_NUMA_NODE: Overtaking = Overtaking::AtMost(3);

/// A NUMA node that queues for `hmcs` waits for those in front, each for one turn. A turn is two acquisitions
/// here, and the first is that of the context that had queued its node before.
pub(super) const BY_NUMA_TURN: Overtaking = Overtaking::EachNode(1);

/// Here every second release of `malthusian` while somebody is aside recalls the eldest. The release that
/// sets it aside is none of those two, and lets somebody pass, too.
pub(super) const ASIDE: Overtaking = Overtaking::FirstAside(2);
