//! Lines that move between CPUs.
use super::sample::{Figures, Reach, What};
use super::threads::{alone, beside, both, each, spin_until, timed};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;

/// Lines that one CPU writes and the other one reads: few enough for a first-level cache. A power of two.
const LINES: usize = 64;
/// Additions of two CPUs to one word: some hundred times the line changes hands, and seldom a tick comes.
const ADDS: u32 = 8_192;
/// So often a word is taken and given back beside a reader.
const TAKES: u32 = 4_096;

/// One line, far enough from the next that no neighbour is fetched along with it.
#[repr(align(256))]
struct Line(AtomicUsize);

/// Lines chained in a random order, so that each access waits for the one before it.
struct Lines(Vec<Line>);

impl Lines {
    fn new() -> Self {
        // One cycle through all of them, in an order that no prefetcher follows.
        Self((0..LINES).map(|index| Line(AtomicUsize::new((index * 37 + 11) % LINES))).collect())
    }

    fn read(&self) -> f64 {
        let mut at = 0;
        each(LINES as u32, || at = self.0[at].0.load(Ordering::Acquire) % LINES)
    }

    fn own(&self) -> f64 {
        let mut at = 0;
        // Adding nothing would be compiled to a fence and a load, and the line would never be owned.
        each(LINES as u32, || at = self.0[at].0.fetch_add(LINES, Ordering::AcqRel) % LINES)
    }
}

/// Latencies between two CPUs, by phases that take turns.
pub(super) fn between(reach: Reach, cpus: (usize, usize), rmw: f64, figures: &mut Figures) {
    let (lines, turn) = (Lines::new(), CachePadded::new(AtomicU32::new(0)));
    let phase = |number, step: fn(&Lines) -> f64| {
        spin_until(|| turn.load(Ordering::SeqCst) == number);
        let time = step(&lines);
        turn.store(number + 1, Ordering::SeqCst);
        time
    };
    let first = || {
        phase(0, Lines::own);
        // The other one has read what we wrote, and may have taken it; once we have read it again both share
        // it.
        phase(2, Lines::read);
        let upgrade = phase(3, Lines::own);
        // The other one has written: all lines are dirty there.
        [phase(5, Lines::read), phase(6, Lines::own), phase(8, Lines::own), upgrade]
    };
    let second = || {
        phase(1, Lines::read);
        phase(4, Lines::own);
        phase(7, Lines::own);
    };
    let [read, own_after_read, own, upgrade] = both(cpus, first, second);
    let mut add = |what: What, value: f64| figures.add(what.at(reach), value.max(0.1));
    add(What::DIRTY_READ, read);
    add(What::DIRTY_OWN, own - rmw);
    add(What::UPGRADE, upgrade - rmw);
    add(What::OWN_AFTER_READ, own_after_read - rmw);
    let transfer = f64::midpoint(read, own - rmw);
    let (occupancy, snoop) = shares(in_turns(cpus), rmw, transfer);
    add(What::OCCUPANCY, occupancy);
    add(What::SNOOP, snoop);
    add(What::SNOOP_READ, share_beside_reader(beside_reader(cpus), rmw, transfer));
}

/// Waits until both have come.
fn meet(ready: &AtomicUsize) {
    ready.fetch_add(1, Ordering::SeqCst);
    spin_until(|| ready.load(Ordering::SeqCst) == 2);
}

/// Two CPUs add to one word: for how long one of them has the line, and how often it adds meanwhile.
fn in_turns(cpus: (usize, usize)) -> (f64, f64) {
    let word = CachePadded::new(AtomicU32::new(0));
    let (ready, turns) = (AtomicUsize::new(0), AtomicU32::new(0));
    let adds = || {
        meet(&ready);
        let (mut next, mut own) = (u32::MAX, 0);
        loop {
            let now = word.fetch_add(1, Ordering::AcqRel);
            if now >= ADDS {
                break;
            }
            own += u32::from(now != next);
            next = now + 1;
        }
        turns.fetch_add(own, Ordering::SeqCst);
    };
    let time = both(cpus, || timed(adds), adds);
    let turns = f64::from(turns.into_inner().max(1));
    (time / turns, f64::from(ADDS) / turns)
}

/// The shares of a transfer in which the line is busy, and in which its old owner still hits. With two CPUs
/// that always want it the line is asked for again as soon as it is not busy. So the first is the time of a
/// turn, and the owner adds from when the line arrives until the second is over, within the next transfer.
fn shares((turn, adds): (f64, f64), rmw: f64, transfer: f64) -> (f64, f64) {
    let occupancy = (turn / transfer).min(1.0);
    let snoop = 1.0 - occupancy + adds * rmw / transfer;
    (occupancy, snoop.min(1.0))
}

/// One CPU takes a word and gives it back, as a lock that nobody else takes, and another reads it as those do
/// who spin: how often it is taken from one value to the next that the reader sees.
fn beside_reader(cpus: (usize, usize)) -> f64 {
    const END: u32 = 2 * TAKES;
    let word = CachePadded::new(AtomicU32::new(0));
    let (ready, changes) = (AtomicUsize::new(0), AtomicU32::new(0));
    let takes = || {
        meet(&ready);
        for free in (0..END).step_by(2) {
            let _ = word.compare_exchange(free, free + 1, Ordering::Acquire, Ordering::Relaxed);
            word.store(free + 2, Ordering::Release);
        }
    };
    let reads = || {
        meet(&ready);
        let (mut seen, mut last) = (0, 0);
        while last != END {
            let now = word.load(Ordering::Relaxed);
            seen += u32::from(now != last);
            last = now;
            spin_loop();
        }
        changes.store(seen, Ordering::SeqCst);
    };
    both(cpus, takes, reads);
    f64::from(TAKES) / f64::from(changes.into_inner().max(1))
}

/// The share of a transfer to a reader in which the old owner still writes. Whoever gets the line back takes
/// the word once in any case.
fn share_beside_reader(takes: f64, rmw: f64, transfer: f64) -> f64 {
    ((takes - 1.0) * rmw / transfer).clamp(0.0, 1.0)
}

/// With three CPUs or more: what each further reader of a line that was written adds to the time until all
/// have it.
pub(super) fn together(cpus: &[usize], figures: &mut Figures) {
    if cpus.len() > 2 {
        let more = storm(cpus) - storm(&cpus[..2]);
        figures.add(What::STORM_READER, (more / (cpus.len() - 2) as f64).max(0.0));
    }
}

/// How long it takes until all readers have seen a write and said so, each in a word of its own.
fn storm(cpus: &[usize]) -> f64 {
    const ROUNDS: u32 = 300;
    let word = CachePadded::new(AtomicU32::new(0));
    let seen: Vec<CachePadded<AtomicU32>> = cpus[1..].iter().map(|_| CachePadded::default()).collect();
    let says = |seen: &AtomicU32| seen.store(word.load(Ordering::Acquire), Ordering::Release);
    let readers = cpus[1..].iter().zip(&seen).map(|(&cpu, seen)| (cpu, || says(seen)));
    let write = || {
        let now = word.fetch_add(1, Ordering::AcqRel) + 1;
        for seen in &seen {
            spin_until(|| seen.load(Ordering::Acquire) == now);
        }
    };
    beside(readers, || alone(cpus[0], || each(ROUNDS, write)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_and_its_additions_say_how_long_a_line_is_busy_and_hits() {
        let near = |(one, two): (f64, f64), expected: (f64, f64)| {
            (one - expected.0).abs() < 1e-9 && (two - expected.1).abs() < 1e-9
        };
        // 30 ns of additions: until 10 ns into the transfer that begins 80 ns after the one before.
        assert!(near(shares((80.0, 10.0), 3.0, 100.0), (0.8, 0.5)));
        assert!(near(shares((130.0, 15.0), 3.0, 100.0), (1.0, 0.45)), "no longer than a transfer");
        assert!(near(shares((100.0, 100.0), 3.0, 100.0), (1.0, 1.0)));
    }

    #[test]
    fn takes_beyond_the_first_say_how_long_a_line_hits_that_is_read() {
        let near = |takes, expected: f64| (share_beside_reader(takes, 11.0, 110.0) - expected).abs() < 1e-9;
        assert!(near(5.0, 0.4) && near(1.0, 0.0) && near(0.5, 0.0) && near(50.0, 1.0));
        assert!(beside_reader((0, 1)) >= 0.5, "the reader sees each value at most");
    }

    #[test]
    fn the_chain_of_lines_comes_back_to_its_start_last() {
        let lines = Lines::new();
        let (mut at, mut steps) = (0, 0);
        loop {
            at = lines.0[at].0.load(Ordering::Relaxed);
            steps += 1;
            if at == 0 || steps > LINES {
                break;
            }
        }
        assert_eq!(steps, LINES);
    }
}
