//! Rules 4 and 5: whom an owner rouses, and when it gives its CPU to the heir.
//!
//! A context that is roused while no CPU is idle stands in line for the CPU of whoever roused it, if that is
//! where it ran before; else it may stand in line for that one as well. So an owner rouses waiters at home on
//! its own CPU where it can, and notes in their node that they wait for this CPU.
//!
//! Without rule 4, the heir gets its CPU when the system takes it away from another context, some
//! milliseconds later, and meanwhile nobody else is roused: a rotation of all waiters takes as many time
//! slices as there are waiters. A context that gives its CPU away at a moment at which it does not hold the
//! lock is not preempted while it does.
//!
//! To look at the clock takes as long as some acquisitions. So an owner looks in one of 16 acquisitions only,
//! and in one of 128 where these take less than a quarter of a turn ([`is_quick`]).
use super::StanchionLock;
use super::queue::{Ends, Queue};
use super::word::{HELD, QUICK, SPINS, URGENT, WAKE};
use crate::Tunable;
use crate::events::Event;
use crate::machine::{Atomic, micros};
use crate::nodes::{State, WaitNode};
use crate::numbers::NodeId;
use crate::order::Relaxed;
use crate::platform::Platform;

impl<P: Platform, const IN_ORDER: bool> StanchionLock<P, IN_ORDER> {
    /// For the owner, whom the flag *wake* has told: chooses an heir, unless there is one. Who is to be
    /// woken, once the lock is released.
    pub(super) fn rouse_heir(&self, domain: &P::Domain) -> Option<NodeId> {
        debug_assert_ne!(self.count.peek() & HELD, 0, "only owners rouse (I4)");
        let flags = self.change_flags(|flags| flags & !(WAKE | URGENT)); // before looking, I4
        let queue = Queue::of(self, domain);
        loop {
            let ends = queue.link()?;
            let urgent = if flags & (URGENT | SPINS) == URGENT { most_urgent(&queue, ends) } else { None };
            if urgent.is_some() {
                self.change_flags(|flags| flags | URGENT); // there may be more of them
            }
            let chosen = urgent.unwrap_or_else(|| self.choose(&queue, ends));
            let tag = queue.node(chosen).tag();
            match tag.state() {
                State::Waiting if rouse(&queue, chosen) => {
                    if chosen != ends.oldest {
                        queue.to_front(chosen);
                    }
                    return Some(chosen);
                }
                // The heir is awake already, and sets the flag when it goes to sleep.
                State::Roused => return None,
                _ => queue.remove_if_gone(chosen, tag),
            }
        }
    }

    /// Rule 5 among waiters that are not urgent: one nearby, else the oldest. In order, the nearby ones wait
    /// their turn.
    fn choose(&self, queue: &Queue<'_, P>, ends: Ends) -> NodeId {
        if self.is_in_order() {
            return ends.oldest;
        }
        let others_wait = queue.node(ends.oldest).tag().state() == State::Waiting;
        nearby(queue, ends).filter(|_| others_wait).unwrap_or(ends.oldest)
    }

    /// Whether an owner that barged looks around (rule 4): one in 16 acquisitions does, one in 128 where they
    /// are quick. The first byte was `count` before this one. From one such acquisition to the next there are
    /// 15 or 17, so that of two contexts in turns each looks around, unless they are quick.
    #[inline(always)]
    pub(super) fn is_to_look_around(&self, count: u8) -> bool {
        let number = count >> 1;
        number & (P::SELDOM & !1) == 0 // decides mostly
            && (number ^ number >> 4) & P::SELDOM & 1 == 0
            && self.has_queue()
            && (count & Self::RARELY == 0 || self.flags() & QUICK == 0)
    }

    /// Rule 4, for the owner that barged: if the heir's turn has come and it waits for this CPU, lets it have
    /// that, and queues. Returns as owner.
    #[cold]
    #[inline(never)]
    pub(super) fn look_around(&self) {
        let gives_way = P::with_domain(|domain| self.gives_way(domain));
        if matches!(gives_way, GivesWay::No) {
            return;
        }
        self.release_owned();
        if let GivesWay::To(Some(successor)) = gives_way {
            P::wake(successor);
        }
        if let GivesWay::ToAnybody = gives_way {
            P::yield_slice();
            let _ = self.barge().map_err(|count| self.spin_as_newcomer(count) || self.wait_in_queue(None));
        } else {
            self.wait_in_queue(None);
        }
    }

    fn gives_way(&self, domain: &P::Domain) -> GivesWay {
        if P::tunable(Tunable::HandOver) == 0 {
            return GivesWay::No;
        }
        let queue = Queue::of(self, domain);
        let Some(ends) = queue.link() else { return GivesWay::No };
        let heir = queue.node(ends.oldest);
        if heir.tag().state() != State::Roused {
            return GivesWay::No;
        }
        let now = micros::<P>();
        self.pace_looks(heir, now);
        if !heir.is_due(now) {
            return GivesWay::No;
        }
        let here = P::home();
        // ord: SU2 alone: a hint for whom to give way
        let stands_here = |node: &WaitNode<P>| node.runs_at.load(Relaxed) == here;
        if let Some(roused) = first(&queue, ends, State::Roused, stands_here) {
            if !queue.node(roused).is_due(now) {
                return GivesWay::No;
            }
            P::count(Event::PvGaveWay);
            return GivesWay::To(None);
        }
        let half = P::tunable(Tunable::TurnMicros) / 2;
        if !heir.is_due(now.wrapping_sub(half)) {
            return GivesWay::No; // it may be on its way to another CPU
        }
        // Nobody knows where the heir stands. Whoever is at home here may have this CPU; the heir keeps its
        // turn.
        if let Some(waiter) = first(&queue, ends, State::Waiting, is_at_home(here))
            && rouse(&queue, waiter)
        {
            P::count(Event::PvRousedHere);
            return GivesWay::To(Some(waiter));
        }
        // ord: SU3 alone: a hint; the next look comes half a turn later
        heir.due.store(now.wrapping_add(half), Relaxed);
        GivesWay::ToAnybody
    }

    /// Notes in the lock how soon owners look around again. Where schedules are explored, it is now and then.
    fn pace_looks(&self, heir: &WaitNode<P>, now: u32) {
        // ord: SU8 alone: written by owners, or by the waiter that got the node ready
        let since = now.wrapping_sub(heir.looked.load(Relaxed));
        // ord: SU11 alone: as SU8, owners alone read it
        heir.looked.store(now, Relaxed);
        let before = self.flags() & QUICK;
        let quick = if P::EXPLORES {
            self.count_when_free() & 4 != 0
        } else {
            is_quick(before != 0, since, P::tunable(Tunable::TurnMicros))
        };
        let after = if quick { QUICK } else { 0 };
        if before != after {
            self.change_flags(|flags| flags & !QUICK | after);
        }
    }

    /// The owner releases the lock in the course of an acquisition.
    pub(super) fn release_owned(&self) {
        crate::lock::RawLock::release(self);
    }
}

/// Whether 128 acquisitions take less than a quarter of a turn. So many took `since` microseconds at least,
/// or about 16 if they were not `quick` before.
fn is_quick(quick: bool, since: u32, turn: u32) -> bool {
    since.saturating_mul(if quick { 1 } else { 8 }) < turn / 4
}

/// Whether, and to whom, an owner gives its CPU.
enum GivesWay {
    No,
    /// To a context that stands in line for it; this one has to be woken first.
    To(Option<NodeId>),
    /// The heir may stand in line here or elsewhere: the system decides.
    ToAnybody,
}

/// The first of the foremost nodes in this state for which `is` holds.
fn first<P: Platform>(
    queue: &Queue<'_, P>,
    ends: Ends,
    state: State,
    is: impl Fn(&WaitNode<P>) -> bool,
) -> Option<NodeId> {
    let mut next = Some(ends.oldest);
    for _ in 0..P::tunable(Tunable::LookAhead) {
        let id = next?;
        let node = queue.node(id);
        if node.tag().state() == state && is(node) {
            return next;
        }
        next = queue.newer(id);
    }
    None
}

fn is_at_home<P: Platform>(here: u32) -> impl Fn(&WaitNode<P>) -> bool {
    // ord: SU4 alone: a hint, published by SQ1
    move |node| node.home.load(Relaxed) == here
}

/// The first waiter at home on this CPU, if it came less than a turn after the oldest; else the first on this
/// NUMA node, if it came less than `near_us` after it.
fn nearby<P: Platform>(queue: &Queue<'_, P>, ends: Ends) -> Option<NodeId> {
    // ord: SU5 alone: published by SQ1
    let since = |id| queue.node(id).since.load(Relaxed);
    let came_within = |limit, id| is_within(limit, since(ends.oldest), since(id));
    let near = P::tunable(Tunable::NearMicros);
    let turn = P::tunable(Tunable::TurnMicros);
    let at_home = first(queue, ends, State::Waiting, is_at_home(P::home()));
    if let Some(id) = at_home
        && came_within(turn.min(near), id)
    {
        return at_home;
    }
    if !P::is_numa() {
        return None;
    }
    let numa = P::numa_node();
    // ord: SU6 alone: a hint, published by SQ1
    let on_node = first(queue, ends, State::Waiting, |node| node.numa.load(Relaxed) == numa);
    on_node.filter(|&id| came_within(near, id))
}

/// Whether a waiter came less than `limit` microseconds after the first, or a little before it, as clocks
/// differ; times modulo 2^32.
fn is_within(limit: u32, first: u32, since: u32) -> bool {
    let limit = limit.min(1 << 30);
    since.wrapping_sub(first).wrapping_add(limit) < limit * 2
}

/// The first among the most urgent waiters of real-time priority.
fn most_urgent<P: Platform>(queue: &Queue<'_, P>, ends: Ends) -> Option<NodeId> {
    let (mut found, mut most) = (None, 0);
    let mut next = Some(ends.oldest);
    while let Some(id) = next {
        let node = queue.node(id);
        // ord: SU7 alone: published by SQ1
        let priority = node.priority.load(Relaxed);
        if priority > most && node.tag().state() == State::Waiting {
            (found, most) = (Some(id), priority);
        }
        next = queue.newer(id);
    }
    found
}

/// For the owner: an heir that nobody has woken is a waiter again, unless it has woken up by itself and
/// stands down, or gives up.
pub(super) fn put_back<P: Platform>(node: &WaitNode<P>) {
    let tag = node.tag();
    let _ = tag.state() == State::Roused && node.change(tag, State::Waiting);
}

/// Makes a waiter an heir, whose turn comes later. Whether it still waited. The caller wakes it, once it has
/// released the lock.
fn rouse<P: Platform>(queue: &Queue<'_, P>, id: NodeId) -> bool {
    let node = queue.node(id);
    let tag = node.tag();
    if tag.state() != State::Waiting {
        return false;
    }
    let here = P::home();
    node.begin_turn(P::tunable(Tunable::TurnMicros));
    // ord: SU9 alone: a hint, published by SQ1
    let runs_at = if node.home.load(Relaxed) == here { here } else { 0 };
    // ord: SU10 alone: a hint for rule 4
    node.runs_at.store(runs_at, Relaxed);
    node.change(tag, State::Roused)
}

#[cfg(test)]
mod tests {
    use super::{is_quick, is_within};

    #[test]
    fn the_first_is_passed_by_those_that_came_soon_after_it_however_long_it_has_waited() {
        assert!(is_within(200, u32::MAX - 100, 98), "the clock goes round");
        assert!(!is_within(200, u32::MAX - 100, 99));
        assert!(is_within(200, 5, 4) && is_within(200, 5, u32::MAX) && !is_within(0, 5, 4));
        for minutes in [1, 36, 50, 71] {
            assert!(!is_within(200, 0, minutes * 60_000_000), "{minutes} minutes later");
        }
    }

    #[test]
    fn acquisitions_are_quick_if_128_take_less_than_a_quarter_of_a_turn() {
        assert!(is_quick(false, 6, 200), "16 in 6 us");
        assert!(!is_quick(false, 7, 200));
        assert!(is_quick(true, 49, 200), "128 in 49 us");
        assert!(!is_quick(true, 50, 200), "slower by now");
        assert!(!is_quick(false, u32::MAX, 200), "nobody has looked yet");
        assert!(!is_quick(true, 1_u32.wrapping_sub(2), 200), "the clocks of two CPUs differ");
        assert!(!is_quick(false, 0, 0), "nobody may be overtaken");
    }
}
