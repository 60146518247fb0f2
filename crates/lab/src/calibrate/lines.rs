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

/// Latencies between two CPUs, by phases that take turns. A read-modify-write of an owned line takes `rmw`,
/// a store behind it `store`.
pub(super) fn between(reach: Reach, cpus: (usize, usize), (rmw, store): (f64, f64), figures: &mut Figures) {
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
    add(What::SNOOP_READ, window(beside_reader(cpus), rmw + store, transfer));
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
    let snoop = 1.0 - occupancy + window(adds, rmw, transfer);
    (occupancy, snoop.min(1.0))
}

/// The share of a transfer in which an owner does something `times` times that takes it `each` nanoseconds.
/// The last time begins within it and ends behind it: on average, half of one is too much.
fn window(times: f64, each: f64, transfer: f64) -> f64 {
    ((times - 0.5) * each / transfer).clamp(0.0, 1.0)
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
    use stanchion_core::order::{AcqRel, Relaxed};
    use stanchion_core::{Atomic as _, Machine};
    use stanchion_sim::Sim;
    use stanchion_sim::contexts::run_contexts;
    use std::sync::Arc;

    fn near(is: f64, expected: f64) -> bool {
        (is - expected).abs() < 1e-9
    }

    #[test]
    fn a_turn_and_its_additions_say_how_long_a_line_is_busy_and_hits() {
        let both_near = |(one, two), expected: (f64, f64)| near(one, expected.0) && near(two, expected.1);
        // 28.5 ns of additions: until 8.5 ns into the transfer that begins 80 ns after the one before.
        assert!(both_near(shares((80.0, 10.0), 3.0, 100.0), (0.8, 0.485)));
        assert!(both_near(shares((130.0, 15.0), 3.0, 100.0), (1.0, 0.435)), "no longer than a transfer");
        assert!(both_near(shares((100.0, 100.0), 3.0, 100.0), (1.0, 1.0)));
    }

    #[test]
    fn whatever_was_begun_in_a_window_says_how_long_it_is() {
        assert!(near(window(5.0, 11.0, 110.0), 0.45), "four whole ones, and one that ends behind it");
        assert!(near(window(0.5, 11.0, 110.0), 0.0) && near(window(50.0, 11.0, 110.0), 1.0));
        assert!(beside_reader((0, 1)) >= 0.5, "the reader sees each value at most");
    }

    type Word = <Sim as Machine>::U32;

    /// How often one of two simulated contexts adds to a word, 8 ns each, before the other has it. Of a
    /// transfer of 60 ns the old owner has `percent`.
    fn times_simulated(field: &str, percent: u32, first: fn(&Word) -> u32, second: fn(&Word) -> u32) -> f64 {
        let fixed =
            ["rmw=8", "group-dirty=60", "migratory=true", "jitter-percent=0", "occupancy-percent=100"];
        let window = format!("{field}={percent}");
        let mut sets: Vec<String> =
            fixed.iter().chain([&&*window]).map(|it| format!("memory.{it}")).collect();
        sets.push("host.scheduler=pinned".to_owned());
        let machine = stanchion_sim::machine::load_with("small-vm", &sets).expect("readable").machine;
        let (word, changes) = (Arc::new(Word::new(0)), Arc::new(AtomicU32::new(0)));
        let bodies = [first, second].map(|body| {
            let (word, changes) = (Arc::clone(&word), Arc::clone(&changes));
            let body = move || {
                Sim::doze(100_000); // both begin at the same time
                changes.fetch_add(body(&word), Ordering::SeqCst);
            };
            Box::new(body) as Box<dyn FnOnce() + Send>
        });
        run_contexts(&machine, 1, bodies.into()).expect("both end");
        f64::from(ADDS) / f64::from(changes.load(Ordering::SeqCst))
    }

    #[test]
    fn a_simulated_owner_does_as_much_in_a_window_as_was_measured() {
        let adds: fn(&Word) -> u32 = |word| {
            let (mut next, mut own) = (u32::MAX, 0);
            loop {
                let now = word.fetch_add(1, AcqRel);
                if now >= ADDS {
                    return own;
                }
                own += u32::from(now != next);
                next = now + 1;
            }
        };
        let reads: fn(&Word) -> u32 = |word| {
            let (mut seen, mut last) = (0, 0);
            while last < ADDS {
                let now = word.load(Relaxed);
                seen += u32::from(now != last);
                last = now;
                Sim::relax(5);
            }
            seen
        };
        let only_adds: fn(&Word) -> u32 = |word| {
            (0..ADDS).for_each(|_| _ = word.fetch_add(1, AcqRel));
            0
        };
        for percent in [22, 36, 47, 62] {
            for (field, first, second) in
                [("snoop-percent", adds, adds), ("snoop-read-percent", only_adds, reads)]
            {
                let measured = window(times_simulated(field, percent, first, second), 8.0, 60.0);
                let off = (measured - f64::from(percent) / 100.0).abs();
                assert!(off < 4.0 / 60.0, "half of one at most: {field} of {percent} % is {measured:.3}");
            }
        }
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
