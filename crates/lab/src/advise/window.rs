//! Which part of a recording is replayed: a server that is started before its clients hardly takes anything
//! at first, and at last.
use crate::run::record::codec::{Event, Item};
use crate::run::record::raw::Chunk;
use std::collections::BTreeMap;

/// An end of the recording is left out if it has less than this part of all acquisitions ...
const FEW: f64 = 0.01;
/// ... in more than this part of the time: less than a tenth of the usual rate.
const LONG: f64 = 0.1;
/// Acquisitions are counted in steps of so many ticks, as a power of two: less than a millisecond.
const STEP: u32 = 20;

/// In ticks; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    pub from: u64,
    pub until: u64,
    /// At the beginning and at the end, to the step.
    pub left_out: [u64; 2],
}

impl Window {
    /// None if a chunk is damaged.
    pub(super) fn of<'a>(chunks: impl Iterator<Item = &'a Chunk>) -> Option<Self> {
        let mut steps: BTreeMap<u64, u64> = BTreeMap::new();
        for chunk in chunks {
            chunk.events(|event| *steps.entry(event.came >> STEP).or_default() += 1)?;
        }
        let all: u64 = steps.values().sum();
        let mut window = Self { from: 0, until: u64::MAX, left_out: [0; 2] };
        let (Some((&first, _)), Some((&last, _))) = (steps.first_key_value(), steps.last_key_value()) else {
            return Some(window);
        };
        let few = all as f64 * FEW;
        let (from, until) = (busy(steps.iter(), few)?, busy(steps.iter().rev(), few)?);
        let long = ((last - first) as f64 * LONG) as u64;
        let left_out = [from - first, last - until].map(|end| if end > long { end } else { 0 });
        if left_out[0] > 0 {
            window.from = from << STEP;
        }
        if left_out[1] > 0 {
            window.until = (until << STEP) + ((1 << STEP) - 1);
        }
        Some(Self { left_out: left_out.map(|steps| steps << STEP), ..window })
    }

    pub(super) fn is_whole(self) -> bool {
        self.left_out == [0; 2]
    }

    /// Calls `each` with what a chunk says of this time: holds that begin in it, and marks. None if it is
    /// damaged.
    pub(super) fn items(self, chunk: &Chunk, mut each: impl FnMut(Item)) -> Option<()> {
        chunk.items(|item| {
            let (Item::Event(Event { came: at, .. }) | Item::Mark(at, _)) = item;
            if (self.from..=self.until).contains(&at) {
                each(item);
            }
        })
    }
}

/// The first step up to which there were more than few.
fn busy<'s>(mut steps: impl Iterator<Item = (&'s u64, &'s u64)>, few: f64) -> Option<u64> {
    let mut seen = 0;
    let found = steps.find(|(_, count)| {
        seen += **count;
        seen as f64 > few
    });
    Some(*found?.0)
}
