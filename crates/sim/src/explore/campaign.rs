//! Many schedules of one lock, and what they saw together.
use super::failure::Failure;
use super::plan::{Options, Plan};
use super::run::{Mode, run};
use super::subjects::Subject;
use core::ops::Range;
use stanchion_core::Event;
use stanchion_family::events::ALL;

/// What a number of schedules saw.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many there were.
    pub schedules: u64,
    /// How many steps they took.
    pub steps: u64,
    /// The worst overtaking of a waiter by one context.
    pub worst_overtaking: u32,
    /// The first seed that failed, and how.
    pub failure: Option<(u64, Failure)>,
    /// Which rows of the table were reached, as bits.
    rows: u64,
    events: Vec<u64>,
}

impl Tally {
    /// Takes in what other schedules saw.
    pub fn merge(&mut self, other: Self) {
        self.schedules += other.schedules;
        self.steps += other.steps;
        self.worst_overtaking = self.worst_overtaking.max(other.worst_overtaking);
        self.rows |= other.rows;
        self.events.resize(ALL.len(), 0);
        for (sum, more) in self.events.iter_mut().zip(other.events) {
            *sum += more;
        }
        let earlier = |seed: u64| self.failure.as_ref().is_none_or(|&(known, _)| seed < known);
        if other.failure.as_ref().is_some_and(|&(seed, _)| earlier(seed)) {
            self.failure = other.failure;
        }
    }

    /// The rows of `subject`'s table with whether each was reached.
    pub fn rows(&self, subject: &Subject) -> Vec<(&'static str, bool)> {
        let rows = subject.transitions().0.iter().enumerate();
        rows.map(|(index, row)| (row.name, self.rows & 1 << index != 0)).collect()
    }

    /// How often an event was counted.
    pub fn count(&self, event: Event) -> u64 {
        self.events.get(event.index()).copied().unwrap_or(0)
    }
}

/// Runs the schedules of `seeds` one after the other, up to the first that fails. `go_on` is asked before
/// each.
pub fn explore(
    subject: &Subject,
    options: &Options,
    seeds: Range<u64>,
    go_on: impl Fn(u64) -> bool,
) -> Tally {
    let mut tally = Tally { events: vec![0; ALL.len()], ..Tally::default() };
    for seed in seeds {
        if !go_on(seed) {
            break;
        }
        let seen = run(subject, &Plan::draw(subject, options, seed), Mode::default());
        tally.schedules += 1;
        tally.steps += seen.steps;
        tally.rows |= seen.rows;
        tally.worst_overtaking = tally.worst_overtaking.max(seen.worst);
        for (sum, more) in tally.events.iter_mut().zip(seen.events) {
            *sum += more;
        }
        if let Some(failure) = seen.failure {
            tally.failure = Some((seed, failure));
            break;
        }
    }
    tally
}
