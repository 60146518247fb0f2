//! The event queue: what happens next.
//!
//! Two four-ary heaps: *near* events (a transfer, a store, a computation that ends) and *far* ones (ticks,
//! slices, timers, spin budgets). The near heap stays as small as the number of contexts that do something at
//! this moment, so that a hand-over between two of a thousand waiters sorts a handful of events and not a
//! thousand timers. Cost: O(log₄ n) an event.
//!
//! Events at the same picosecond are ordered by a seeded tie-break, then by age, so a seed gives one order on
//! every host.
use crate::random::mix;
use crate::time::Time;

/// What an event is about; the fields of [`Event`] mean what the variant says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Context `who` goes on.
    Resume,
    /// Context `who`, which waits at a line, has read it again.
    Reread,
    /// Context `who`, which waits at a line and has lost it to another reader, polls again.
    Poll,
    /// The waiters of group `extra` at line `who` have read it again.
    Storm,
    /// The oldest posted store of context `who` becomes visible.
    Store,
    /// A kick arrives at context `who`.
    Kick,
    /// CPU `who` has switched to its context.
    Dispatch,
    /// The spin budget of context `who` is used up.
    Deadline,
    /// Context `who` has been spinning for long enough to leave the guest.
    PauseLoop,
    /// The sleep of context `who` is over.
    Wake,
    /// The regular interrupt of CPU `who`.
    Tick,
    /// CPU `who` has completed the instruction during which it was interrupted.
    Preempt,
    /// The slice of what runs on CPU `who` ends.
    Expire,
    /// Regular work of the scheduler.
    Housekeeping,
    /// The warm-up is over.
    Measure,
    /// A look around: is the time up, does the caller want to stop, can anybody go on? Without it a lone
    /// context would run ahead for ever.
    Breath,
}

impl Kind {
    fn is_far(self) -> bool {
        self as u8 >= Kind::Deadline as u8
    }
}

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) time: Time,
    tie: u32,
    /// Whom or what it is about.
    pub(super) who: u32,
    /// The generation of `who` when the event was made; an event of an older generation is void.
    pub(super) generation: u32,
    pub(super) kind: Kind,
    pub(super) extra: u16,
}

impl Event {
    fn before(&self, other: &Self) -> bool {
        (self.time, self.tie) < (other.time, other.tie)
    }
}

/// What is going to happen.
pub(super) struct Queue {
    near: Heap,
    far: Heap,
    next: Time,
    seed: u64,
    made: u64,
}

impl Queue {
    pub(super) fn new(seed: u64) -> Self {
        Self { near: Heap::default(), far: Heap::default(), next: Time::MAX, seed: mix(seed), made: 0 }
    }

    /// When the next event happens; `Time::MAX` if none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.next
    }

    /// Whether nothing is under way but timers.
    pub(super) fn is_quiet(&self) -> bool {
        self.near.first().is_none()
    }

    #[inline]
    pub(super) fn push(&mut self, time: Time, kind: Kind, who: u32, generation: u32, extra: u16) {
        self.made += 1;
        // A multiplication spreads the counter over the upper bits; which bits does not matter, that they
        // repeat does.
        let tie = ((self.seed ^ self.made).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32;
        let event = Event { time, tie, who, generation, kind, extra };
        if kind.is_far() {
            self.far.push(event);
        } else {
            self.near.push(event);
        }
        self.next = self.next.min(time);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Event> {
        let event = match (self.near.first(), self.far.first()) {
            (Some(near), Some(far)) if far.before(near) => self.far.pop(),
            (Some(_), _) => self.near.pop(),
            (None, _) => self.far.pop(),
        };
        let first = |heap: &Heap| heap.first().map_or(Time::MAX, |event| event.time);
        self.next = first(&self.near).min(first(&self.far));
        event
    }
}

/// A four-ary heap: half the depth of a binary one, and the children of a node share cache lines.
#[derive(Default)]
struct Heap(Vec<Event>);

const ARITY: usize = 4;

impl Heap {
    #[inline]
    fn first(&self) -> Option<&Event> {
        self.0.first()
    }

    fn push(&mut self, event: Event) {
        let mut at = self.0.len();
        self.0.push(event);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if !event.before(&self.0[parent]) {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = event;
    }

    fn pop(&mut self) -> Option<Event> {
        let last = self.0.pop()?;
        let Some(&top) = self.0.first() else { return Some(last) };
        let len = self.0.len();
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            if first >= len {
                break;
            }
            let mut least = first;
            for child in first + 1..(first + ARITY).min(len) {
                if self.0[child].before(&self.0[least]) {
                    least = child;
                }
            }
            if !self.0[least].before(&last) {
                break;
            }
            self.0[at] = self.0[least];
            at = least;
        }
        self.0[at] = last;
        Some(top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn order(seed: u64, times: &[Time]) -> Vec<(Time, u32)> {
        let mut queue = Queue::new(seed);
        for (who, &time) in times.iter().enumerate() {
            let kind = if who % 3 == 0 { Kind::Tick } else { Kind::Resume };
            queue.push(time, kind, who as u32, 0, 0);
        }
        core::iter::from_fn(|| {
            let next = queue.next_time();
            let event = queue.pop()?;
            assert_eq!(event.time, next);
            Some((event.time, event.who))
        })
        .collect()
    }

    #[test]
    fn events_come_in_order_whatever_heap_they_are_in() {
        let mut random = Random::new(3, 0);
        let times: Vec<Time> = (0..500).map(|_| random.below(200)).collect();
        let popped = order(1, &times);
        assert!(popped.is_sorted_by_key(|&(time, _)| time));
        let mut all: Vec<u32> = popped.iter().map(|&(_, who)| who).collect();
        all.sort_unstable();
        assert_eq!(all, (0..500).collect::<Vec<u32>>());
    }

    #[test]
    fn ties_are_broken_by_the_seed() {
        let same = [7; 40];
        assert_eq!(order(1, &same), order(1, &same));
        assert_ne!(order(1, &same), order(2, &same));
    }
}
