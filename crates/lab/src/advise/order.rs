//! Locks that are taken in both orders.
//!
//! Two threads that wait for such locks wait for each other for ever, so that a program only tries one of
//! them, or has a reason why the two never meet. A recording tells neither: a lock that was tried with
//! success is a lock that was taken. So the second of the two is replayed as free in the rarer order.
use super::program::{Identity, identity};
use crate::run::record::codec::Event;
use std::collections::{HashMap, VecDeque};

/// Locks that a thread may hold at a time: beyond that the oldest are not looked at.
const DEEP: usize = 16;

/// How often a lock was taken, the second, while the first was held.
#[derive(Default)]
pub(super) struct Orders(HashMap<(Identity, Identity), u64>);

impl Orders {
    /// Sees the next event of a thread, in the order of releases. `recent` holds what was seen before.
    pub(super) fn see(&mut self, recent: &mut VecDeque<Event>, event: Event) {
        for other in recent.iter().rev().take_while(|other| other.released() > event.came) {
            // It is released first, so it is the inner one, or both were taken and released in one order.
            let (outer, inner) = if event.came <= other.came { (&event, other) } else { (other, &event) };
            *self.0.entry((identity(outer), identity(inner))).or_default() += 1;
        }
        if recent.len() == DEEP {
            recent.pop_front();
        }
        recent.push_back(event);
    }

    /// Pairs that are also taken in the other order, and there more often.
    pub(super) fn rare(&self) -> HashMap<(Identity, Identity), u64> {
        let rare = self.0.iter().filter(|&(&(outer, inner), &times)| {
            let others = self.0.get(&(inner, outer)).copied().unwrap_or(0);
            others > 0 && (times, outer) < (others, inner)
        });
        rare.map(|(pair, times)| (*pair, *times)).collect()
    }
}
