//! What was measured of a lock, and how it is to the base: tables of ratios, for terminals or in Markdown.
use super::rules::{self, BASE};
use core::fmt::Write;
use core::iter;
use lab_kit::export::grid::{pieces, table};
use lab_kit::sample::Sample;
use lab_kit::stats::{MARKS, Ratio, Sides};
use lab_kit::units::format_ns;
use stanchion_cells::scenes::once;

/// A cell of a lock, and that of the base under the same load with as many threads.
type Pair<'a> = (&'a Sample, &'a Sample);

/// Of cells, which are by seed or by round.
type Show = fn(&[Pair]) -> Option<String>;

/// What stands above each table, and its cells.
const QUANTITIES: [(&str, Show); 3] = [
    ("throughput (95 % interval)", |pairs| Some(ratio(pairs, |cell| &cell.rates)?.to_string())),
    ("worst wait (95 % interval), the longest", |pairs| {
        Some(format!("{}, {}", ratio(pairs, |cell| &cell.worst_ns)?, format_ns(worst_ns(pairs)?)))
    }),
    ("CPU time of an acquisition (95 % interval)", |pairs| Some(ratio(pairs, |cell| &cell.cpu)?.to_string())),
];

/// A lock beside the base under a load, or all, with several threads; none if a cell of it is missing.
fn beside<'a>(samples: &'a [Sample], lock: &str, load: Option<&str>) -> Option<Vec<Pair<'a>>> {
    let contended = |lock: &str, sample: &Sample| sample.lock == lock && sample.threads > 1;
    let meant = |base: &&Sample| contended(BASE, base) && load.is_none_or(|load| base.load == load);
    let pairs = samples.iter().filter(meant).map(|base| {
        let same = |cell: &&Sample| cell.load == base.load && cell.threads == base.threads;
        Some((samples.iter().filter(|cell| contended(lock, cell)).find(same)?, base))
    });
    pairs.collect::<Option<Vec<_>>>().filter(|pairs| !pairs.is_empty())
}

fn sides<'a>(pairs: &[Pair<'a>], figure: fn(&Sample) -> &[f64]) -> Vec<Sides<'a>> {
    pairs.iter().map(|(cell, base)| (figure(cell), figure(base))).collect()
}

/// The geometric mean of the ratios of a figure.
fn ratio(pairs: &[Pair], figure: fn(&Sample) -> &[f64]) -> Option<Ratio> {
    Ratio::of(&sides(pairs, figure))
}

fn worst_ns(pairs: &[Pair]) -> Option<f64> {
    pairs.iter().flat_map(|(cell, _)| &cell.worst_ns).copied().reduce(f64::max)
}

/// A table for each quantity that anything has.
pub(crate) fn render(samples: &[Sample], markdown: bool) -> String {
    let mut rows = rules::rows(false);
    rows.extend(rules::rows(true).into_iter().skip(1));
    rows.retain(|(_, lock)| samples.iter().any(|sample| sample.lock == *lock));
    let mut loads: Vec<Option<&str>> = once(samples.iter().map(|sample| Some(sample.load.as_str())));
    if loads.len() > 1 {
        loads.push(None);
    }
    let mut text = String::new();
    for (title, show) in QUANTITIES {
        let cell = |lock: &str, load| beside(samples, lock, load).and_then(|pairs| show(&pairs));
        let header = iter::once("").chain(loads.iter().map(|load| load.unwrap_or("all")));
        let header: Vec<String> = header.map(str::to_owned).collect();
        let row = |(label, lock): &(String, String)| {
            iter::once(label.clone())
                .chain(loads.iter().map(|&load| cell(lock, load).unwrap_or("-".to_owned())))
                .collect()
        };
        let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
        if rows.iter().flat_map(|row| &row[1..]).any(|cell| cell != "-") {
            let _ = write!(text, "\n{title} relative to {BASE}, geometric mean over thread counts\n\n");
            text += &if markdown { in_markdown(&header, &rows) } else { pieces(&table(header, rows), 1) };
        }
    }
    let _ = writeln!(text, "\n{MARKS}");
    text
}

fn in_markdown(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let below = format!("|{}\n", "---|".repeat(header.len()));
    iter::once(line(header)).chain([below]).chain(rows.iter().map(|row| line(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::export::grid::WIDTH;

    fn sample(lock: &str, load: &str, threads: usize, rates: &[f64]) -> Sample {
        Sample {
            lock: lock.to_owned(),
            load: load.to_owned(),
            threads,
            rates: rates.to_vec(),
            worst_ns: vec![1e6 * rates.len() as f64; rates.len()],
            cpu: vec![2.0; rates.len()],
        }
    }

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    fn throughput(pairs: &[Pair]) -> Option<Ratio> {
        ratio(pairs, |cell| &cell.rates)
    }

    fn samples() -> Vec<Sample> {
        let mut samples = Vec::new();
        for (_, lock) in rules::rows(false) {
            for load in ["empty", "short", "medium", "long"] {
                let rate = if lock.ends_with("adapt=0") { 0.5 } else { 1.0 };
                samples.push(sample(&lock, load, 2, &[rate, rate]));
            }
        }
        samples
    }

    #[test]
    fn each_quantity_has_a_table_with_each_row_and_the_mean_of_all_loads() {
        let text = render(&samples(), false);
        assert_eq!(text.matches("relative to stanchion").count(), 3, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let row = text.lines().find(|line| line.contains("without adaptive spins")).expect("a row");
        assert!(row.contains("0.50 (0.50–0.50)"), "{text}");
        assert!(
            text.contains("all")
                && text.contains("1.00 (1.00–1.00), 2.00 ms")
                && !text.contains("without barging = ")
        );
    }

    #[test]
    fn markdown_rows_have_as_many_cells_as_the_header() {
        let text = render(&samples(), true);
        let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table.len(), 3 * (2 + 6));
        assert!(table.iter().all(|line| line.matches('|').count() == 7), "{text}");
        assert!(table[3].starts_with("| without barging | 1.00 (1.00–1.00) |"), "{}", table[3]);
    }

    #[test]
    fn rounds_or_seeds_of_two_kinds_have_a_range() {
        let [base, other] = ["stanchion", "stanchion:turns=0"];
        let of = |lock, threads, rates: &[f64]| Sample {
            cpu: vec![1.0, 1.01],
            ..sample(lock, "a", threads, rates)
        };
        let samples =
            [(base, 2), (base, 4), (other, 4)].map(|(lock, threads)| of(lock, threads, &[1.0, 1.0]));
        let text = render(&[&samples[..], &[of(other, 2, &[1.0, 4.0])]].concat(), false);
        assert!(text.contains(" ~1.41 (") && text.contains("of two kinds"), "{text}");
        assert!(text.contains(" 1.00 (1.00–1.00)\n"), "the CPU time is of one kind: {text}");
    }

    #[test]
    fn a_quantity_that_nothing_has_needs_no_table() {
        let without =
            samples().into_iter().map(|sample| Sample { worst_ns: Vec::new(), ..sample }).collect::<Vec<_>>();
        assert!(!render(&without, false).contains("worst wait"));
    }

    #[test]
    fn the_mean_is_geometric_over_counts_and_its_interval_is_over_rounds() {
        let samples = [
            sample("stanchion", "empty", 1, &[1.0, 1.0]),
            sample("stanchion", "empty", 2, &[1.0, 2.0]),
            sample("stanchion", "empty", 4, &[1.0, 1.0]),
            sample("x", "empty", 1, &[100.0, 100.0]),
            sample("x", "empty", 2, &[2.0, 4.0]),
            sample("x", "empty", 4, &[8.0, 8.0]),
        ];
        let pairs = beside(&samples, "x", None).expect("all there");
        let rates = throughput(&pairs).expect("rates");
        assert!((rates.ratio - 4.0).abs() < 1e-9, "2 and 8: {rates:?}");
        let (low, high) = rates.interval.expect("two rounds");
        assert!((low - 4.0).abs() < 1e-9 && (high - 4.0).abs() < 1e-9, "both rounds say the same: {rates:?}");
        let cpu = ratio(&pairs, |cell| &cell.cpu).map(|ratio| ratio.ratio);
        assert!(near(cpu, 1.0) && near(worst_ns(&pairs), 2e6));
    }

    #[test]
    fn rounds_that_differ_make_an_interval_and_one_round_has_none() {
        let samples = [sample("stanchion", "a", 2, &[1.0, 1.0]), sample("x", "a", 2, &[1.0, 4.0])];
        let ratio = beside(&samples, "x", None).and_then(|pairs| throughput(&pairs)).expect("rates");
        let (low, high) = ratio.interval.expect("two rounds");
        assert!((ratio.ratio - 2.0).abs() < 1e-9 && low < 1.0 && high > 4.0, "{ratio:?}");
        let samples = [sample("stanchion", "a", 2, &[1.0]), sample("x", "a", 2, &[3.0])];
        let ratio = beside(&samples, "x", None).and_then(|pairs| throughput(&pairs)).expect("rates");
        assert_eq!((ratio.interval, ratio.to_string().as_str()), (None, "3.00 (one value)"));
    }

    #[test]
    fn what_was_not_measured_or_did_nothing_has_no_ratio() {
        let samples = [
            sample("stanchion", "a", 2, &[1.0]),
            sample("stanchion", "b", 2, &[1.0]),
            sample("x", "a", 2, &[0.0]),
            sample("y", "a", 2, &[]),
        ];
        assert!(beside(&samples, "x", None).is_none(), "no cell of load b");
        let under_a = |lock| beside(&samples, lock, Some("a")).expect("a cell");
        assert_eq!(throughput(&under_a("x")), None);
        assert_eq!(throughput(&under_a("y")), None);
        assert_eq!(ratio(&under_a("y"), |cell| &cell.worst_ns), None);
        assert_eq!(worst_ns(&under_a("y")), None);
    }
}
