//! Puts the rounds of a cell together: medians, sides, waits as one distribution, events.
use super::cell::{Accesses, CellOutcome, Pass, READ, WRITE};
use super::mix::Mix;
use super::report::{Cell, EventCount, Fairness, Latency, Side, State};
use core::ops::Range;
use hdrhistogram::Histogram;
use lab_kit::stats::{Summary, jain, median};

type Rounds = [(Pass, CellOutcome)];

pub(crate) fn of_pass(rounds: &Rounds, pass: Pass) -> impl Iterator<Item = &CellOutcome> {
    rounds.iter().filter(move |(of, _)| *of == pass).map(|(_, outcome)| outcome)
}

impl Cell {
    pub(crate) fn of(
        lock: &str,
        (profile, mix, threads): (&str, Option<Mix>, usize),
        state: State,
        rounds: &Rounds,
    ) -> Self {
        let throughput: Vec<&CellOutcome> = of_pass(rounds, Pass::Throughput).collect();
        let per_second = |count: fn(&CellOutcome) -> u64| {
            let rates = throughput.iter().map(|outcome| outcome.per_second(count(outcome)));
            (!throughput.is_empty()).then(|| median(&rates.collect::<Vec<_>>()))
        };
        // Nanoseconds per acquisition are milliseconds per million; a thousandth of that is seconds.
        let cpu = |outcome: &&CellOutcome| {
            (outcome.total() > 0).then(|| outcome.cpu_ns as f64 / outcome.total() as f64 / 1e3)
        };
        let some_cpu: Vec<f64> = throughput.iter().filter_map(cpu).collect();
        let dedicated = matches!(mix, Some(Mix::Dedicated { .. }));
        let readers = threads.saturating_sub(mix.map_or(0, Mix::writers));
        let (anybody_reads, anybody_writes) = mix.map_or((false, false), Mix::sides);
        let reads = || Side::of(rounds, (READ, READ), dedicated.then_some(&(0..readers)));
        let writes = || Side::of(rounds, (WRITE, WRITE), dedicated.then_some(&(readers..threads)));
        let all = Side::of(rounds, (READ, WRITE), (!dedicated).then_some(&(0..threads)));
        Self {
            lock: lock.to_owned(),
            profile: profile.to_owned(),
            threads,
            state,
            mix,
            reads: anybody_reads.then(reads),
            writes: anybody_writes.then(writes),
            throughput: all.throughput,
            fairness: all.fairness,
            cpu_s_per_million: (!some_cpu.is_empty()).then(|| median(&some_cpu)),
            cpu_rounds: if some_cpu.len() == throughput.len() { some_cpu } else { Vec::new() },
            voluntary_switches_per_s: per_second(|outcome| outcome.voluntary_switches),
            involuntary_switches_per_s: per_second(|outcome| outcome.involuntary_switches),
            latency: all.latency,
            events: of_pass(rounds, Pass::Events).flat_map(events).collect(),
        }
    }
}

impl Side {
    /// Puts the rounds of one side, or of both, together; `among` are the threads that all do the same.
    fn of(rounds: &Rounds, (first, last): (usize, usize), among: Option<&Range<usize>>) -> Self {
        let (mut rates, mut fair) = (Vec::new(), Vec::new());
        for outcome in of_pass(rounds, Pass::Throughput) {
            let sides = &outcome.sides[first..=last];
            let of_thread = |thread: usize| sides.iter().filter_map(|side| side.counts.get(thread)).sum();
            rates.push(outcome.per_second(sides.iter().flat_map(|side| &side.counts).sum()));
            let among = among.cloned().map(|threads| threads.map(of_thread).collect::<Vec<u64>>());
            fair.extend(among.map(|counts| Fairness::of(&counts)));
        }
        let middle = |pick: fn(&Fairness) -> f64| median(&fair.iter().map(pick).collect::<Vec<_>>());
        let waits = of_pass(rounds, Pass::Latency).map(|outcome| &outcome.sides[first..=last]);
        let waits: Vec<&[Accesses]> = waits.collect();
        Self {
            latency: (!waits.is_empty()).then(|| Latency::of(&waits)),
            fairness: (!fair.is_empty()).then(|| Fairness {
                min_over_max: middle(|fairness| fairness.min_over_max),
                jain: middle(|fairness| fairness.jain),
            }),
            throughput: (!rates.is_empty()).then(|| Summary::of(rates)),
        }
    }
}

fn events(outcome: &CellOutcome) -> Vec<EventCount> {
    let acquisitions = outcome.total().max(1) as f64;
    let count = |(name, count): &(String, u64)| EventCount {
        name: name.clone(),
        count: *count,
        per_acquisition: *count as f64 / acquisitions,
    };
    outcome.events.iter().filter(|(_, count)| *count > 0).map(count).collect()
}

impl Fairness {
    pub(crate) fn of(acquisitions: &[u64]) -> Self {
        let (min, max) = (acquisitions.iter().min(), acquisitions.iter().max());
        // That nobody got anything is bad but not uneven.
        let range = min.zip(max).filter(|(_, max)| **max > 0);
        let min_over_max = range.map_or(1.0, |(&min, &max)| min as f64 / max as f64);
        Self { min_over_max, jain: jain(acquisitions) }
    }
}

impl Latency {
    fn of(rounds: &[&[Accesses]]) -> Self {
        // Three digits: the workers' own rounding to one per cent is then the only one that shows.
        let empty = || Histogram::<u64>::new(3).expect("three digits are valid");
        let (mut all, mut p999_rounds_ns, mut worst_rounds_ns) = (empty(), Vec::new(), Vec::new());
        for sides in rounds {
            let mut round = empty();
            for &(ns, count) in sides.iter().flat_map(|side| &side.waits) {
                round.record_n(ns, count).expect("the histogram grows as needed");
            }
            p999_rounds_ns.push(round.value_at_quantile(0.999));
            worst_rounds_ns.push(sides.iter().map(|side| side.worst_ns).max().unwrap_or(0));
            all.add(&round).expect("the histogram grows as needed");
        }
        let longest = |of: fn(&Accesses) -> u64| rounds.iter().copied().flatten().map(of).max().unwrap_or(0);
        Self {
            samples: all.len(),
            p50_ns: all.value_at_quantile(0.5),
            p99_ns: all.value_at_quantile(0.99),
            p999_ns: all.value_at_quantile(0.999),
            worst_ns: longest(|side| side.worst_ns),
            unfinished_ns: longest(|side| side.unfinished_ns),
            p999_rounds_ns,
            worst_rounds_ns,
        }
    }
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
