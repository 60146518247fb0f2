//! Which part of a recording is replayed: a server that is started before its clients hardly takes anything
//! at its beginning.
use crate::run::record::codec::Item;
use crate::run::record::raw::Chunk;

/// An end of the recording is left out if it has less than one in so many acquisitions, and less than one
/// part in so many of the time that threads wait for locks ...
const FEW: usize = 100;
/// ... and is longer than one part in so many of the recording.
const LONG: u64 = 10;

/// In ticks; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    pub from: u64,
    pub until: u64,
    /// At the beginning and at the end.
    pub left_out: [u64; 2],
}

impl Window {
    /// None if a chunk is damaged.
    pub(super) fn of<'a>(chunks: impl Iterator<Item = &'a Chunk> + Clone) -> Option<Self> {
        let mut came = Vec::new();
        for chunk in chunks.clone() {
            chunk.events(|event| came.push(event.came))?;
        }
        let mut window = Self { from: 0, until: u64::MAX, left_out: [0; 2] };
        let (Some(&first), Some(&last)) = (came.iter().min(), came.iter().max()) else { return Some(window) };
        let few = came.len() / FEW;
        let from = *came.select_nth_unstable(few).1;
        let most = came.len() - 1;
        let until = *came.select_nth_unstable(most - few).1;
        let mut left_out = [from - first, last - until];
        if left_out.iter().all(|end| *end <= (last - first) / LONG) {
            return Some(window);
        }
        // Few may wait for long.
        let (mut waited, mut waited_in_ends) = (0_u64, [0_u64; 2]);
        for chunk in chunks {
            chunk.events(|event| {
                waited = waited.saturating_add(event.wait);
                for (end, is_in) in waited_in_ends.iter_mut().zip([event.came < from, event.came > until]) {
                    *end = end.saturating_add(if is_in { event.wait } else { 0 });
                }
            })?;
        }
        for (end, waits) in left_out.iter_mut().zip(waited_in_ends) {
            if *end <= (last - first) / LONG || waits > waited / FEW as u64 {
                *end = 0;
            }
        }
        if left_out[0] > 0 {
            window.from = from;
        }
        if left_out[1] > 0 {
            window.until = until;
        }
        Some(Self { left_out, ..window })
    }

    /// Calls `each` with what a chunk says of this time: holds that lie in it, and marks. None if it is
    /// damaged.
    pub(super) fn items(self, chunk: &Chunk, mut each: impl FnMut(Item)) -> Option<()> {
        chunk.items(|item| {
            let (begins, ends) = match &item {
                Item::Event(event) => (event.came, event.released()),
                Item::Mark(at, _) => (*at, *at),
            };
            if self.from <= begins && ends <= self.until {
                each(item);
            }
        })
    }
}
