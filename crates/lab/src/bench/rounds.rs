//! Puts the rounds of a cell together: medians, sides, waits as one distribution, events.
use super::cell::{Accesses, CellOutcome, Pass, Waits};
use super::mix::Mix;
use super::report::{Cell, EventCount, Fairness, Latency, Side, State};
use core::ops::Range;
use hdrhistogram::Histogram;
use lab_kit::stats::{Summary, median};

/// The outcomes of one pass.
fn of_pass(rounds: &[(Pass, CellOutcome)], pass: Pass) -> impl Iterator<Item = &CellOutcome> {
    rounds.iter().filter(move |(of, _)| *of == pass).map(|(_, outcome)| outcome)
}

impl Cell {
    /// Puts the rounds of a cell together.
    pub(crate) fn of(
        lock: &str,
        (profile, mix, threads): (&str, Option<Mix>, usize),
        state: State,
        rounds: &[(Pass, CellOutcome)],
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
        let all = Side::of(rounds, CellOutcome::both, (!dedicated).then_some(&(0..threads)));
        let readers = mix.map_or(0, |mix| mix.column(threads));
        let (anybody_reads, anybody_writes) = mix.map_or((false, false), Mix::sides);
        let reads = || Side::of(rounds, |outcome| outcome.reads.clone(), dedicated.then_some(&(0..readers)));
        let writes =
            || Side::of(rounds, |outcome| outcome.writes.clone(), dedicated.then_some(&(readers..threads)));
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
    fn of(
        rounds: &[(Pass, CellOutcome)],
        side: fn(&CellOutcome) -> Accesses,
        among: Option<&Range<usize>>,
    ) -> Self {
        let (mut rates, mut fair) = (Vec::new(), Vec::new());
        for outcome in of_pass(rounds, Pass::Throughput) {
            let counts = side(outcome).counts;
            rates.push(outcome.per_second(counts.iter().sum()));
            fair.extend(among.cloned().map(|range| Fairness::of(counts.get(range).unwrap_or_default())));
        }
        let middle = |pick: fn(&Fairness) -> f64| median(&fair.iter().map(pick).collect::<Vec<_>>());
        let waits: Vec<Waits> =
            of_pass(rounds, Pass::Latency).filter_map(|outcome| side(outcome).waits).collect();
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
        let max = acquisitions.iter().copied().max().unwrap_or(0);
        if max == 0 {
            // Nobody got anything, which is bad but not uneven.
            return Self { min_over_max: 1.0, jain: 1.0 };
        }
        let min = acquisitions.iter().copied().min().unwrap_or(0);
        let sum: f64 = acquisitions.iter().map(|&count| count as f64).sum();
        let squares: f64 = acquisitions.iter().map(|&count| (count as f64).powi(2)).sum();
        Self {
            min_over_max: min as f64 / max as f64,
            jain: sum * sum / (acquisitions.len() as f64 * squares),
        }
    }
}

impl Latency {
    /// All rounds as one distribution.
    fn of(rounds: &[Waits]) -> Self {
        // Three digits: the workers' own rounding to one per cent is then the only one that shows.
        let empty = || Histogram::<u64>::new(3).expect("three digits are valid");
        let mut all = empty();
        let mut p999_rounds_ns = Vec::new();
        let (mut worst_ns, mut unfinished_ns) = (0, 0);
        for waits in rounds {
            let mut round = empty();
            for &(ns, count) in &waits.buckets {
                round.record_n(ns, count).expect("the histogram grows as needed");
            }
            p999_rounds_ns.push(round.value_at_quantile(0.999));
            all.add(&round).expect("the histogram grows as needed");
            worst_ns = worst_ns.max(waits.worst_ns);
            unfinished_ns = unfinished_ns.max(waits.unfinished_ns);
        }
        Self {
            samples: all.len(),
            p50_ns: all.value_at_quantile(0.5),
            p99_ns: all.value_at_quantile(0.99),
            p999_ns: all.value_at_quantile(0.999),
            worst_ns,
            unfinished_ns,
            p999_rounds_ns,
        }
    }
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
