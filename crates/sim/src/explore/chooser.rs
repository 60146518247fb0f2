//! Who goes next: random, by priority, or by a script.
//!
//! Whatever the way, a context that polls with pauses cannot keep the others from running: a pause gives the
//! turn to somebody else if anybody can run, and takes the highest priority away from a context that had it.
//! A context that polls without pauses loses its priority after [`TURNS_OF_A_POLLER`] turns in a row.
use super::plan::{Choosing, Plan};
use super::script::{Item, Script};
use super::{CONTEXTS, Ctx};
use crate::random::Random;

/// After so many turns in a row a context is taken for a poller.
const TURNS_OF_A_POLLER: u32 = 2_000;

/// The contexts in a set, as bits.
pub(super) type Set = u32;

/// Bit of a context.
#[inline]
pub(super) const fn bit(ctx: Ctx) -> Set {
    1 << ctx
}

/// A random member of a set that is not empty.
#[inline]
pub(super) fn any_of(mut set: Set, random: &mut Random) -> Ctx {
    let count = set.count_ones();
    if count > 1 {
        for _ in 0..random.below(count.into()) {
            set &= set - 1;
        }
    }
    set.trailing_zeros() as Ctx
}

/// Decides whose turn it is.
#[derive(Debug)]
pub(super) enum Chooser {
    Random {
        stay: u64,
    },
    Pct {
        /// The greater, the earlier.
        priority: [i32; CONTEXTS],
        changes: Vec<u64>,
        /// Below every priority given so far.
        lowest: i32,
    },
    Script {
        items: Vec<Item>,
        at: usize,
        /// Turns that the current item's context has had.
        taken: u32,
    },
}

impl Chooser {
    pub(super) fn of(plan: &Plan, random: &mut Random) -> Self {
        match &plan.choosing {
            Choosing::Random { stay } => Self::Random { stay: *stay },
            Choosing::Pct { changes } => {
                let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
                random.shuffle(&mut order);
                // The next change is the last, which is cheap to remove.
                let changes = changes.iter().rev().copied().collect();
                Self::Pct { priority: order, changes, lowest: 0 }
            }
        }
    }

    pub(super) fn following(script: &Script) -> Self {
        Self::Script { items: script.items.clone(), at: 0, taken: 0 }
    }

    /// What happens before the next turn according to the script, if there is one.
    pub(super) fn scripted(&mut self) -> Option<Item> {
        let Self::Script { items, at, taken } = self else { return None };
        if let Some(&Item::Turns(_, turns)) = items.get(*at)
            && *taken >= turns
        {
            (*at, *taken) = (*at + 1, 0);
        }
        let item = *items.get(*at)?;
        if let Item::Turns(..) = item {
            return None;
        }
        *at += 1;
        Some(item)
    }

    /// Whether the stream of random numbers decides what happens between turns.
    #[inline]
    pub(super) fn is_random(&self) -> bool {
        !matches!(self, Self::Script { .. })
    }

    /// One of `candidates`, which is not empty. `current` had the last turn, `relaxed` if it paused, and
    /// `in_a_row` turns. `None`: the script has something else to happen first.
    #[inline]
    pub(super) fn next(
        &mut self,
        candidates: Set,
        current: Ctx,
        relaxed: bool,
        in_a_row: u32,
        steps: u64,
        random: &mut Random,
    ) -> Option<Ctx> {
        let tired = relaxed || in_a_row >= TURNS_OF_A_POLLER;
        let stays = candidates & bit(current) != 0;
        // Somebody else, if there is anybody.
        let fresh = if tired && candidates != bit(current) { candidates & !bit(current) } else { candidates };
        match self {
            Self::Random { stay } => {
                let goes_on = stays && !tired && *stay > 1 && !random.once_in(*stay);
                Some(if goes_on { current } else { any_of(fresh, random) })
            }
            Self::Pct { priority, changes, lowest } => {
                while changes.last().is_some_and(|&change| change <= steps) {
                    changes.pop();
                    *lowest -= 1;
                    priority[current] = *lowest;
                }
                if tired {
                    *lowest -= 1;
                    priority[current] = *lowest;
                }
                (0..CONTEXTS).filter(|&ctx| candidates & bit(ctx) != 0).max_by_key(|&ctx| priority[ctx])
            }
            Self::Script { items, at, taken } => loop {
                match items.get(*at) {
                    Some(&Item::Turns(ctx, turns)) if *taken < turns && candidates & bit(ctx) != 0 => {
                        *taken += 1;
                        return Some(ctx);
                    }
                    Some(Item::Turns(..)) => (*at, *taken) = (*at + 1, 0),
                    Some(_) => return None,
                    // The rest takes care of itself: whoever runs goes on, then the next in line.
                    None if stays && !tired => return Some(current),
                    None => return Some(after(current, fresh)),
                }
            },
        }
    }
}

/// The first of `set`, which is not empty, behind `ctx`, going round.
fn after(ctx: Ctx, set: Set) -> Ctx {
    let behind = set & !(bit(ctx) | (bit(ctx) - 1));
    (if behind == 0 { set } else { behind }).trailing_zeros() as Ctx
}

#[cfg(test)]
mod tests {
    use super::super::fault::Faults;
    use super::*;

    #[test]
    fn any_member_of_a_set_may_be_chosen_and_no_other() {
        let mut random = Random::new(1, 1);
        let mut seen = 0;
        for _ in 0..200 {
            seen |= bit(any_of(0b1_0110, &mut random));
        }
        assert_eq!(seen, 0b1_0110);
    }

    #[test]
    fn a_poller_with_the_highest_priority_lets_others_run() {
        let mut random = Random::new(1, 1);
        let mut pct = Chooser::Pct { priority: [9, 8, 7, 0, 0, 0, 0, 0], changes: Vec::new(), lowest: 0 };
        let mut next = |current, relaxed| pct.next(0b111, current, relaxed, 1, 5, &mut random);
        assert_eq!(next(1, false), Some(0));
        assert_eq!(next(0, true), Some(1));
        assert_eq!(next(1, false), Some(1));
        assert_eq!(next(1, true), Some(2));
        assert_eq!(next(2, true), Some(0), "all have paused: the one that did so first");
    }

    #[test]
    fn a_change_point_lowers_whoever_runs() {
        let mut random = Random::new(1, 1);
        let mut pct = Chooser::Pct { priority: [9, 8, 0, 0, 0, 0, 0, 0], changes: vec![3], lowest: 0 };
        let mut next = |current, steps| pct.next(0b11, current, false, 1, steps, &mut random);
        assert_eq!([next(0, 1), next(0, 2), next(0, 3), next(1, 4)], [Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn a_script_is_followed_and_then_ends_sensibly() {
        let mut random = Random::new(1, 1);
        let items = vec![Item::Turns(1, 2), Item::Drain(0), Item::Turns(0, 1)];
        let script = Script { rounds: vec![1, 1], faults: Faults::NONE, items };
        let mut chooser = Chooser::following(&script);
        let mut next = |chooser: &mut Chooser, current| chooser.next(0b11, current, false, 1, 0, &mut random);
        assert_eq!(chooser.scripted(), None);
        assert_eq!([next(&mut chooser, 0), next(&mut chooser, 1)], [Some(1), Some(1)]);
        assert_eq!(next(&mut chooser, 1), None, "the drain comes first");
        assert_eq!(chooser.scripted(), Some(Item::Drain(0)));
        assert_eq!([next(&mut chooser, 1), next(&mut chooser, 0)], [Some(0), Some(0)]);
    }
}
