//! Locks that are taken in both orders.
//!
//! Threads that take two locks in different orders can wait for each other for ever, unless one of them only
//! tries, or the two never meet. A recording shows neither: a try that succeeds is an acquisition there.
use super::program::{Identity, identity};
use super::walk::{Held, Moment, walk};
use super::window::Window;
use crate::run::record::raw::Chunk;
use std::collections::{HashMap, HashSet};

/// Two locks, by their numbers, of which the second was taken while the first was held.
pub(super) type Pair = (u32, u32);

/// Pairs that are taken in the other order, too, and waited for more often there: who tries does not wait. If
/// that is equal, those that are taken more often there. Waits for a reader-writer lock contain a reading of
/// the clock, so that those of a mutex and of such a lock do not compare.
pub(super) fn rare(
    threads: &[Vec<Chunk>],
    window: Window,
    numbers: &HashMap<Identity, u32>,
) -> Option<HashSet<Pair>> {
    let mut orders: HashMap<Pair, (u64, u64)> = HashMap::new();
    for chunks in threads {
        let mut held = Held::default();
        walk(window, chunks, |moment| match moment {
            Moment::Acquire(event) => {
                let number = numbers.get(&identity(event)).copied();
                if let Some(inner) = number {
                    for (hold, outer) in held.over(event).filter(|(_, outer)| *outer != inner) {
                        let (waited, times) = orders.entry((outer, inner)).or_default();
                        *waited += u64::from(event.wait > 0 && identity(hold).1 == identity(event).1);
                        *times += 1;
                    }
                }
                _ = held.acquire(event, number);
            }
            Moment::Release(event) => _ = held.release(event),
            Moment::Mark(..) => {}
        })?;
    }
    let is_rare = |&(outer, inner): &Pair| {
        let other = orders.get(&(inner, outer));
        other.is_some_and(|other| (orders[&(outer, inner)], outer) < (*other, inner))
    };
    Some(orders.keys().filter(|pair| is_rare(pair)).copied().collect())
}
