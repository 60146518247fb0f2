//! What a thread did, in the order in which it did that.
//!
//! A hold is told of at its end; holds and marks that are told of before it may belong into it.
use super::window::Window;
use crate::run::record::codec::{Event, Item, Kind, What};
use crate::run::record::raw::Chunk;
use core::cmp::Reverse;
use stanchion_wire::trace::DEPTH;
use std::collections::VecDeque;

pub(super) enum Moment<'e> {
    Acquire(&'e Event),
    Release(&'e Event),
    Mark(u64, What),
}

/// Calls `each` with all that a thread did in the window. None if a chunk is damaged.
pub(super) fn walk(window: Window, chunks: &[Chunk], each: impl FnMut(Moment)) -> Option<()> {
    // Events come in the order of releases. Who held several took those first that have a negative time
    // before them, so these are read before all are merged.
    let mut ahead = Vec::new();
    for chunk in chunks {
        window.items(chunk, |item| match item {
            Item::Event(event) if event.think < 0 => ahead.push(event),
            _ => {}
        })?;
    }
    ahead.sort_by_key(order);
    let mut walk = Walk { ahead: ahead.into(), marks: VecDeque::new(), each };
    for chunk in chunks {
        window.items(chunk, |item| walk.item(item))?;
    }
    walk.marks_until(u64::MAX, u64::MAX);
    Some(())
}

/// Of two locks that a thread came for at the same moment, the outer one is first.
fn order(event: &Event) -> (u64, Reverse<u64>) {
    (event.came, Reverse(event.released()))
}

struct Walk<F> {
    /// Holds that begin next, of locks that are released later than others.
    ahead: VecDeque<Event>,
    /// Marks that may belong into the hold that is told of next.
    marks: VecDeque<(u64, What)>,
    each: F,
}

impl<F: FnMut(Moment)> Walk<F> {
    fn item(&mut self, item: Item) {
        match item {
            Item::Event(event) => {
                if event.think >= 0 {
                    self.marks_until(event.came, event.came);
                    self.ahead_until(event.came);
                    (self.each)(Moment::Acquire(&event));
                }
                let released = event.released();
                // Whatever else begins at that moment does so after the release.
                let before = released.saturating_sub(1);
                self.marks_until(released, before);
                self.ahead_until(before);
                self.ahead_while(|ahead| event.think < 0 && order(ahead) <= order(&event));
                (self.each)(Moment::Release(&event));
            }
            Item::Mark(at, what) => self.marks.push_back((at, what)),
        }
    }

    /// Holds begin up to `ahead` only.
    fn marks_until(&mut self, at: u64, ahead: u64) {
        while let Some((at, what)) = self.marks.pop_front_if(|(mark, _)| *mark <= at) {
            // Who slept or waited did so before it took anything at that moment; who notifies may hold it.
            let may_hold = matches!(what, What::Notified { .. });
            self.ahead_until(if may_hold { at } else { at.saturating_sub(1) }.min(ahead));
            (self.each)(Moment::Mark(at, what));
        }
    }

    fn ahead_until(&mut self, at: u64) {
        self.ahead_while(|ahead| ahead.came <= at);
    }

    fn ahead_while(&mut self, mut is_due: impl FnMut(&Event) -> bool) {
        while let Some(event) = self.ahead.pop_front_if(|ahead| is_due(ahead)) {
            (self.each)(Moment::Acquire(&event));
        }
    }
}

/// What a thread holds, each with the number that it was acquired by: that of a lock that others may wait
/// for.
#[derive(Default)]
pub(super) struct Held(Vec<(Event, Option<u32>)>);

impl Held {
    /// Whether others may wait for a lock that it holds.
    pub(super) fn is_waited_for(&self) -> bool {
        self.0.iter().any(|(_, number)| number.is_some())
    }

    /// The number that it is held by: more locks than the library records were written by somebody else, and
    /// have none.
    pub(super) fn acquire(&mut self, event: &Event, number: Option<u32>) -> Option<u32> {
        if self.0.len() == 2 * DEPTH {
            return None;
        }
        self.0.push((*event, number));
        number
    }

    pub(super) fn release(&mut self, event: &Event) -> Option<u32> {
        let place = self.0.iter().rposition(|(held, _)| held == event)?;
        self.0.remove(place).1
    }

    /// Locks under which a thread may wait for `event`'s so that another one waits for it: not if it reads
    /// both.
    pub(super) fn over(&self, event: &Event) -> impl Iterator<Item = (&Event, u32)> {
        let reads = |event: &Event| event.key.kind() == Kind::Read;
        let is_reader = reads(event);
        let numbered = self.0.iter().filter_map(|(held, number)| Some((held, (*number)?)));
        numbered.filter(move |(held, _)| !is_reader || !reads(held))
    }
}
