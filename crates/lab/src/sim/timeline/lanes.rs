//! Lanes of columns: how much of each column of time went to which cause.
use stanchion_sim::{Cause, Recording, Spell, Time};

/// Heights that a share is rounded to. Few enough that neighbours often look the same.
pub(super) const LEVELS: u32 = 10;

const CAUSES: usize = Cause::ALL.len();

/// One CPU, or one vCPU.
pub(super) struct Lane {
    columns: Vec<[Time; CAUSES]>,
    width: Time,
}

/// Columns that look the same as far as one cause goes: from `first` until before `end`, between two heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub first: usize,
    pub end: usize,
    pub low: u32,
    pub high: u32,
}

/// The lanes of so many CPUs, then those of so many vCPUs.
pub(super) fn lanes(recording: &Recording, cpus: usize, vcpus: usize, columns: usize) -> Vec<Lane> {
    let width = (recording.to - recording.from).div_ceil(columns as Time).max(1);
    let mut lanes: Vec<Lane> =
        (0..cpus + vcpus).map(|_| Lane { columns: vec![[0; CAUSES]; columns], width }).collect();
    let mut of_context: Vec<Vec<Spell>> = vec![Vec::new(); recording.contexts];
    for spell in &recording.spells {
        of_context[spell.context].push(*spell);
        if let Some(lane) = lanes.get_mut(cpus + spell.context) {
            lane.add(spell.cause, spell.from - recording.from, spell.to - recording.from);
        }
    }
    for ran in recording.ran.iter().filter(|ran| ran.cpu < cpus) {
        let spells = &of_context[ran.context];
        let first = spells.partition_point(|spell| spell.to <= ran.from);
        for spell in spells[first..].iter().take_while(|spell| spell.from < ran.to) {
            // A vCPU that leaves its CPU does so at the same moment at which its time begins to go elsewhere.
            if spell.cause.uses_cpu() {
                let (from, to) = (spell.from.max(ran.from), spell.to.min(ran.to));
                lanes[ran.cpu].add(spell.cause, from - recording.from, to - recording.from);
            }
        }
    }
    lanes
}

impl Lane {
    fn add(&mut self, cause: Cause, from: Time, to: Time) {
        let mut at = from;
        while at < to {
            let column = (at / self.width) as usize;
            let end = to.min((column as Time + 1) * self.width);
            if let Some(times) = self.columns.get_mut(column) {
                times[cause as usize] += end - at;
            }
            at = end;
        }
    }

    pub(super) fn total(&self, cause: Cause) -> Time {
        self.columns.iter().map(|times| times[cause as usize]).sum()
    }

    /// Where the colour of a cause goes: causes stand on each other in their order.
    pub(super) fn blocks(&self, cause: Cause) -> Vec<Block> {
        let level = |time: Time| ((2 * time * Time::from(LEVELS) + self.width) / (2 * self.width)) as u32;
        let block = |(first, times): (usize, &[Time; CAUSES])| {
            let below: Time = times[..cause as usize].iter().sum();
            let (low, high) = (level(below), level(below + times[cause as usize]));
            Block { first, end: first + 1, low, high }
        };
        let columns: Vec<Block> = self.columns.iter().enumerate().map(block).collect();
        let alike = columns.chunk_by(|one, next| (one.low, one.high) == (next.low, next.high));
        let blocks = alike.map(|those| Block { end: those[0].first + those.len(), ..those[0] });
        blocks.filter(|block| block.low < block.high).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_sim::Ran;

    fn spell(context: usize, cause: Cause, from: Time, to: Time) -> Spell {
        Spell { context, cause, from, to }
    }

    /// Two vCPUs take turns on one CPU, one in the first half and one in the second.
    fn recording() -> Recording {
        Recording {
            from: 1000,
            to: 2000,
            contexts: 2,
            ran: vec![
                Ran { cpu: 0, context: 0, from: 1000, to: 1500 },
                Ran { cpu: 0, context: 1, from: 1500, to: 2000 },
            ],
            spells: vec![
                spell(0, Cause::Computing, 1000, 1250),
                spell(0, Cause::Spinning, 1250, 1500),
                spell(1, Cause::Preempted, 1000, 1500),
                spell(0, Cause::Preempted, 1500, 2000),
                spell(1, Cause::Computing, 1500, 2000),
            ],
            handovers: Vec::new(),
            kicks: Vec::new(),
        }
    }

    #[test]
    fn a_cpu_shows_what_whoever_runs_does() {
        let lanes = lanes(&recording(), 1, 2, 10);
        let totals =
            |lane: usize| [Cause::Computing, Cause::Spinning, Cause::Preempted].map(|c| lanes[lane].total(c));
        assert_eq!(totals(0), [750, 250, 0]);
        assert_eq!(totals(1), [250, 250, 500]);
        assert_eq!(totals(2), [500, 0, 500]);
    }

    #[test]
    fn equal_neighbours_are_one_block_and_shares_stand_on_each_other() {
        let lanes = lanes(&recording(), 1, 2, 10);
        let whole = |first, end| Block { first, end, low: 0, high: LEVELS };
        // The third column is half computing, half spinning.
        let half = Block { first: 2, end: 3, low: 0, high: LEVELS / 2 };
        assert_eq!(lanes[0].blocks(Cause::Computing), [whole(0, 2), half, whole(5, 10)]);
        let above = Block { first: 2, end: 3, low: LEVELS / 2, high: LEVELS };
        assert_eq!(lanes[0].blocks(Cause::Spinning), [above, whole(3, 5)]);
        assert_eq!(lanes[0].blocks(Cause::Halted), []);
    }
}
