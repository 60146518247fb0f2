//! What recording itself costs, as empty sections tell that follow each other at once: a reading of the clock
//! (7 to 30 ns), writing a step down, which takes as much, and the lock's own instructions.
use super::codec::{Event, Kind};
use super::raw::{self, Header};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// How many sections of each kind the command records of itself when it tries the library.
pub(crate) const SECTIONS: u32 = 10_000;
/// Of those, so many of a thousand are looked at, the shortest: an interrupt is no cost of recording.
const LOOKED_AT: usize = 950;

/// Ticks that stand in the times of an empty section.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// From when the lock was acquired to its release.
    pub hold: f64,
    /// From a release to the next arrival.
    pub think: f64,
}

pub(crate) type Costs = BTreeMap<Kind, Cost>;

/// From what the command recorded of itself; none if there is nothing.
pub(crate) fn measured(path: &Path) -> Option<Costs> {
    let file = File::open(path).ok()?;
    let mut events = Vec::new();
    let header = Header::read(&file).ok()??;
    raw::chunks(&file, &header, |chunk| Ok(_ = chunk.events(|event| events.push(*event)))).ok()?;
    of(&events)
}

/// None if one kind has no events.
fn of(events: &[Event]) -> Option<Costs> {
    let of_kind = |kind: Kind| {
        let events = || events.iter().filter(|event| event.key.kind() == kind);
        let think = |event: &Event| u64::try_from(event.think).unwrap_or(0);
        let hold = usual(events().map(|event| event.hold).collect())?;
        // The first came from somewhere else.
        Some((kind, Cost { hold, think: usual(events().skip(1).map(think).collect())? }))
    };
    Kind::ALL.into_iter().map(of_kind).collect()
}

/// The mean without the longest: a clock may go in steps that are longer than what it measures.
fn usual(mut times: Vec<u64>) -> Option<f64> {
    times.sort_unstable();
    times.truncate((times.len() * LOOKED_AT).div_ceil(1000));
    let sum: u64 = times.iter().sum();
    (!times.is_empty()).then(|| sum as f64 / times.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::codec::Key;
    use super::*;

    #[test]
    fn what_is_usual_for_an_empty_section_is_its_cost() {
        let event = |kind: u64, think, hold| {
            let key = Key::new(4096 << 2 | kind).expect("a lock");
            Event { key, came: 0, think, wait: 0, hold }
        };
        let mut events = vec![event(1, 1_000_000, 20)];
        for round in 0..100 {
            // A clock that goes in steps of ten, and an interrupt now and then.
            let hold = if round % 50 == 7 { 9000 } else { 20 + round % 2 * 10 };
            events.extend([event(1, 40, hold), event(2, 50, 10), event(3, -5, 30)]);
        }
        let costs = of(&events).expect("of each kind");
        assert!((24.0..26.0).contains(&costs[&Kind::Mutex].hold), "{costs:?}");
        assert!((costs[&Kind::Mutex].think - 40.0).abs() < 1e-9, "{costs:?}");
        assert_eq!(costs[&Kind::Read], Cost { hold: 10.0, think: 50.0 });
        assert_eq!(costs[&Kind::Write], Cost { hold: 30.0, think: 0.0 });
        assert_eq!(of(&events[..1]), None, "nothing of readers");
    }
}
