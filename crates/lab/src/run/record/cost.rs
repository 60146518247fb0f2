//! What stands in recorded times and is no work of the program, as sections tell in which nothing is done: a
//! reading of the clock (7 to 30 ns), writing a step down, which takes as much, and the lock's own
//! instructions. Of a mutex that two threads want, the lines of the lock and of its data, too, which come
//! from another CPU.
use super::codec::{Event, Kind};
use super::raw::{self, Header};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Fewer that waited say nothing.
const ENOUGH: usize = 100;
/// Of the times of empty sections, so many of a thousand are looked at, the shortest: an interrupt is no cost
/// of recording.
const LOOKED_AT: usize = 950;

/// Ticks that stand in the times of an empty section.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// From when the lock was acquired to its release.
    pub hold: f64,
    /// From a release to the next arrival.
    pub think: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Costs {
    /// Of sections that follow each other at once.
    #[serde(flatten)]
    pub alone: BTreeMap<Kind, Cost>,
    /// Of sections of a mutex that had to be waited for, with one line of data, and behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Cost>,
}

/// From what the command recorded of itself; none if there is nothing.
pub(crate) fn measured(path: &Path) -> Option<Costs> {
    let file = File::open(path).ok()?;
    let mut threads: BTreeMap<u64, Vec<Event>> = BTreeMap::new();
    let header = Header::read(&file).ok()??;
    let mut first = None;
    let each = |chunk: raw::Chunk| {
        first = first.or(Some(chunk.thread));
        let events = threads.entry(chunk.thread).or_default();
        Ok(_ = chunk.events(|event| events.push(*event)))
    };
    raw::chunks(&file, &header, each).ok()?;
    // The thread that is alone comes first.
    let alone = alone(&threads.remove(&first?)?)?;
    let mut waited = Waited::default();
    for events in threads.into_values() {
        waited.see(events);
    }
    Some(Costs { alone, waited: waited.usual() })
}

impl Costs {
    /// No time of the program can contain more than it took. CPUs that a hypervisor moves may have been
    /// farther from each other when the command recorded of itself: then the program's own short times say
    /// more.
    pub(crate) fn fit(&mut self, of_program: &Waited) {
        if let (Some(waited), [Some(hold), Some(think)]) = (&mut self.waited, of_program.both(quartile)) {
            *waited = Cost { hold: waited.hold.min(hold), think: waited.think.min(think) };
        }
    }
}

/// Times of sections of a mutex that had to be waited for, and from their releases to the next arrivals.
#[derive(Default)]
pub(crate) struct Waited {
    holds: Vec<u64>,
    thinks: Vec<u64>,
}

impl Waited {
    /// More say no more.
    const MOST: usize = 1 << 20;

    /// What a thread did, or a part of it.
    pub(crate) fn see(&mut self, events: impl IntoIterator<Item = Event>) {
        let mut has_waited = false;
        for event in events.into_iter().take(Self::MOST.saturating_sub(self.holds.len())) {
            if core::mem::replace(&mut has_waited, event.wait > 0 && event.key.kind() == Kind::Mutex) {
                self.thinks.push(u64::try_from(event.think).unwrap_or(0));
            }
            if has_waited {
                self.holds.push(event.hold);
            }
        }
    }

    /// None of what there is little of: on one CPU nobody waits.
    fn both(&self, of: fn(Vec<u64>) -> Option<f64>) -> [Option<f64>; 2] {
        [&self.holds, &self.thinks].map(|times| of(times.clone()).filter(|_| times.len() >= ENOUGH))
    }

    fn usual(&self) -> Option<Cost> {
        let [hold, think] = self.both(usual);
        Some(Cost { hold: hold?, think: think? })
    }
}

fn quartile(mut times: Vec<u64>) -> Option<f64> {
    times.sort_unstable();
    times.get(times.len() / 4).map(|time| *time as f64)
}

/// None if one kind has no events.
fn alone(events: &[Event]) -> Option<BTreeMap<Kind, Cost>> {
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
        let costs = alone(&events).expect("of each kind");
        assert!((24.0..26.0).contains(&costs[&Kind::Mutex].hold), "{costs:?}");
        assert!((costs[&Kind::Mutex].think - 40.0).abs() < 1e-9, "{costs:?}");
        assert_eq!(costs[&Kind::Read], Cost { hold: 10.0, think: 50.0 });
        assert_eq!(costs[&Kind::Write], Cost { hold: 30.0, think: 0.0 });
        assert_eq!(alone(&events[..1]), None, "nothing of readers");
    }

    #[test]
    fn sections_that_were_waited_for_count_with_what_follows_them() {
        let event = |round: u64| {
            let key = Key::new(4096 << 2 | 1).expect("a lock");
            let waits = round.is_multiple_of(2);
            let (wait, hold, think) = if waits { (90, 70, 50) } else { (0, 30, 110) };
            Event { key, came: 0, think, wait, hold }
        };
        let of = |counts: [u64; 2]| {
            let mut waited = Waited::default();
            for count in counts {
                waited.see((0..count).map(event));
            }
            waited
        };
        let (usual, few) = (of([120, 121]), of([100, 51]));
        assert_eq!(usual.usual(), Some(Cost { hold: 70.0, think: 110.0 }));
        assert_eq!(few.usual(), None);
        let fitted = |of_program| {
            let mut costs = Costs { alone: BTreeMap::new(), waited: Some(Cost { hold: 180.0, think: 80.0 }) };
            costs.fit(of_program);
            costs.waited
        };
        assert_eq!(fitted(&usual), Some(Cost { hold: 70.0, think: 80.0 }), "the program's CPUs were nearer");
        assert_eq!(fitted(&few), Some(Cost { hold: 180.0, think: 80.0 }));
    }

    #[test]
    fn costs_are_read_as_they_were_written() {
        let cost = Cost { hold: 1.5, think: 2.0 };
        let alone = BTreeMap::from([(Kind::Mutex, cost), (Kind::Read, cost)]);
        for waited in [None, Some(cost)] {
            let costs = Costs { alone: alone.clone(), waited };
            let text = serde_json::to_string(&costs).expect("written");
            assert_eq!(serde_json::from_str::<Costs>(&text).expect("read"), costs, "{text}");
        }
    }
}
