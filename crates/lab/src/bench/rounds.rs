//! Puts the rounds of a cell together: medians, sides, waits as one distribution, events.
use super::cell::{CellOutcome, Pass, Waits};
use super::fairness::Fairness;
use super::mix::Mix;
use super::report::{Cell, EventCount, Latency, Side, State};
use hdrhistogram::Histogram;
use lab_kit::stats::{Summary, median};

impl Cell {
    /// Puts the rounds of a cell together.
    pub(crate) fn of(
        lock: &str,
        (profile, mix, threads): (&str, Option<Mix>, usize),
        state: State,
        rounds: &[(Pass, CellOutcome)],
    ) -> Self {
        let of_pass = |pass| rounds.iter().filter(move |(of, _)| *of == pass).map(|(_, outcome)| outcome);
        let throughput: Vec<&CellOutcome> = of_pass(Pass::Throughput).collect();
        let middle = |value: &dyn Fn(&CellOutcome) -> f64| {
            let values: Vec<f64> = throughput.iter().map(|outcome| value(outcome)).collect();
            (!values.is_empty()).then(|| median(&values))
        };
        // Nanoseconds per acquisition are milliseconds per million; a thousandth of that is seconds.
        let cpu = |outcome: &&CellOutcome| {
            (outcome.total() > 0).then(|| outcome.cpu_ns as f64 / outcome.total() as f64 / 1e3)
        };
        let some_cpu: Vec<f64> = throughput.iter().filter_map(cpu).collect();
        let all = side(
            &of_pass,
            |outcome| Some(outcome.acquisitions.clone()),
            |outcome| outcome.waits.as_ref(),
            (!matches!(mix, Some(Mix::Dedicated { .. }))).then_some(0..threads),
        );
        let one_side = |anybody: bool, writes: bool| {
            let mix = mix?;
            let readers = mix.column(threads);
            let among = if writes { readers..threads } else { 0..readers };
            anybody.then(|| {
                side(
                    &of_pass,
                    |outcome| {
                        let sides = outcome.sides.as_ref()?;
                        Some(if writes { sides.writes.clone() } else { sides.reads(&outcome.acquisitions) })
                    },
                    |outcome| {
                        let sides = outcome.sides.as_ref()?;
                        if writes { sides.write_waits.as_ref() } else { sides.read_waits.as_ref() }
                    },
                    matches!(mix, Mix::Dedicated { .. }).then_some(among),
                )
            })
        };
        let (anybody_reads, anybody_writes) = mix.map_or((false, false), Mix::sides);
        Self {
            lock: lock.to_owned(),
            profile: profile.to_owned(),
            threads,
            state,
            mix,
            reads: one_side(anybody_reads, false),
            writes: one_side(anybody_writes, true),
            throughput: all.throughput,
            fairness: all.fairness,
            cpu_s_per_million: (!some_cpu.is_empty()).then(|| median(&some_cpu)),
            cpu_rounds: if some_cpu.len() == throughput.len() { some_cpu } else { Vec::new() },
            voluntary_switches_per_s: middle(&|outcome| outcome.per_second(outcome.voluntary_switches)),
            involuntary_switches_per_s: middle(&|outcome| outcome.per_second(outcome.involuntary_switches)),
            latency: all.latency,
            events: of_pass(Pass::Events).flat_map(events).collect(),
        }
    }
}

/// Puts the rounds of one side, or of both, together; `among` are the threads that all do the same.
fn side<'a, I: Iterator<Item = &'a CellOutcome>>(
    of_pass: &impl Fn(Pass) -> I,
    counts: impl Fn(&CellOutcome) -> Option<Vec<u64>>,
    waits: impl Fn(&'a CellOutcome) -> Option<&'a Waits>,
    among: Option<core::ops::Range<usize>>,
) -> Side {
    let rounds: Vec<(f64, Vec<u64>)> = of_pass(Pass::Throughput)
        .filter_map(|outcome| {
            let counts = counts(outcome)?;
            Some((outcome.per_second(counts.iter().sum()), counts))
        })
        .collect();
    let fairness = |range: core::ops::Range<usize>| {
        let of_round =
            |(_, counts): &(f64, Vec<u64>)| Fairness::of(counts.get(range.clone()).unwrap_or_default());
        let rounds: Vec<Fairness> = rounds.iter().map(of_round).collect();
        let middle = |pick: fn(&Fairness) -> f64| median(&rounds.iter().map(pick).collect::<Vec<_>>());
        (!rounds.is_empty()).then(|| Fairness {
            min_over_max: middle(|fairness| fairness.min_over_max),
            jain: middle(|fairness| fairness.jain),
        })
    };
    let fairness = among.and_then(fairness);
    let rates: Vec<f64> = rounds.iter().map(|(rate, _)| *rate).collect();
    let waits: Vec<&Waits> = of_pass(Pass::Latency).filter_map(waits).collect();
    Side {
        throughput: (!rates.is_empty()).then(|| Summary::of(rates)),
        latency: (!waits.is_empty()).then(|| Latency::of(waits.into_iter())),
        fairness,
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

impl Latency {
    /// All rounds as one distribution.
    pub(crate) fn of<'a>(rounds: impl Iterator<Item = &'a Waits>) -> Self {
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
