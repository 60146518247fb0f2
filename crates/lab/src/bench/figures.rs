//! What is known of a cell, as columns. Tables, plots, CSV and `--sort` follow.
use super::report::{Cell, Latency, Side};
use lab_kit::column::Column;
use lab_kit::stats::Summary;
use lab_kit::units::{format_ns, plain, round_ns, three_figures};
use std::sync::LazyLock;

/// What tables can be sorted by, and how the names of such figures end.
pub(crate) const SORTS: [(&str, &str); 5] = [
    ("throughput", "acquisitions_per_s"),
    ("latency", "wait_p999_ns"),
    ("wait", "wait_worst_ns"),
    ("cpu", "cpu_s_per_million"),
    ("fairness", "min_over_max"),
];

/// Readers, or writers; none for all threads.
type Whose = Option<Sided>;
type Sided = fn(&Cell) -> Option<&Side>;
const READERS: Whose = Some(|cell| cell.reads.as_ref());
const WRITERS: Whose = Some(|cell| cell.writes.as_ref());

fn rates_of(cell: &Cell, whose: Whose) -> Option<&Summary> {
    whose.map_or(cell.throughput.as_ref(), |side| side(cell)?.throughput.as_ref())
}

fn waits_of(cell: &Cell, whose: Whose) -> Option<&Latency> {
    whose.map_or(cell.latency.as_ref(), |side| side(cell)?.latency.as_ref())
}

/// Those of mutexes, or of reader-writer locks, in the order of tables and files. Tables have those with
/// titles, and leave out what a section does not have. The first is the throughput.
pub(crate) fn figures(rw: bool) -> &'static [Column<Cell>] {
    static FIGURES: LazyLock<[Vec<Column<Cell>>; 2]> = LazyLock::new(|| [false, true].map(list));
    &FIGURES[usize::from(rw)]
}

fn list(rw: bool) -> Vec<Column<Cell>> {
    let title = "throughput, million acquisitions/s (median, ± half the range of rounds; a..b: of two kinds)";
    let mut list = rates("acquisitions", title, None);
    if rw {
        list.extend(rates("reads", "reads, million/s", READERS));
        list.extend(rates("writes", "writes, million/s", WRITERS));
        let titles = ["read latency p99.9", "longest wait to read, the unfinished ones counted"];
        list.extend(waits("reads_", titles, READERS));
        let titles = ["write latency p99.9", "longest wait to write, the unfinished ones counted"];
        list.extend(waits("writes_", titles, WRITERS));
    } else {
        let titles = ["acquire latency p99.9", "worst wait, the unfinished ones counted"];
        list.extend(waits("", titles, None));
    }
    list.extend([
        Column::new("cpu_s_per_million", |cell: &Cell| cell.cpu_s_per_million)
            .titled("CPU seconds per million acquisitions")
            .shown(three_figures)
            .ticked(plain),
        Column::new("voluntary_switches_per_s", |cell: &Cell| cell.voluntary_switches_per_s),
        Column::new("involuntary_switches_per_s", |cell: &Cell| cell.involuntary_switches_per_s),
        Column::told("context switches per thousand acquisitions", switches).shown(three_figures),
        Column::new("min_over_max", fairness)
            .titled(if rw {
                "fairness: slowest thread / fastest thread (of those that read, of those that write)"
            } else {
                "fairness: slowest thread / fastest thread"
            })
            .more_is_better()
            .shown_by(|cell| {
                match cell.sides().filter_map(|(_, side)| side.fairness).collect::<Vec<_>>()[..] {
                    [reads, writes] => Some(format!("{:.2}, {:.2}", reads.min_over_max, writes.min_over_max)),
                    _ => fairness(cell).map(|value| format!("{value:.2}")),
                }
            }),
        Column::new("jain", |cell: &Cell| cell.fairness.map(|fairness| fairness.jain)),
        Column::new("events", |cell: &Cell| {
            let events = cell.events.iter().map(|event| format!("{}={}", event.name, event.per_acquisition));
            events.collect::<Vec<_>>().join(" ")
        }),
    ]);
    list
}

/// Acquisitions per second by round, told in millions.
fn rates(what: &str, title: &'static str, whose: Whose) -> Vec<Column<Cell>> {
    let rate = |end, of: fn(&Summary) -> f64| {
        Column::new(format!("{what}_per_s{end}"), move |cell: &Cell| rates_of(cell, whose).map(of))
    };
    let show = |rates: &Summary| rates.told(|rate| three_figures(rate / 1e6));
    let median = rate("", |rates| rates.median).titled(title).more_is_better();
    let mut all = vec![
        median.shown_by(move |cell| rates_of(cell, whose).map(show)).ticked(|rate| plain(rate / 1e6)),
        rate("_min", |rates| rates.min),
        rate("_max", |rates| rates.max),
        rate("_mad", |rates| rates.mad),
    ];
    let rounds = move |cell: &Cell| rates_of(cell, whose).map_or(0, |rates| rates.rounds.len());
    all.push(Column::new(if whose.is_some() { format!("{what}_rounds") } else { "rounds".into() }, rounds));
    let even = |side: Sided| move |cell: &Cell| Some(side(cell)?.fairness?.min_over_max);
    all.extend(whose.map(|side| Column::new(format!("{what}_min_over_max"), even(side))));
    all
}

/// How long acquisitions waited; with titles of the 99.9th percentile and of the longest one.
fn waits(what: &str, [p999, worst]: [&'static str; 2], whose: Whose) -> [Column<Cell>; 5] {
    let wait = |end, title, of: fn(&Latency) -> u64| {
        // Where no wait ended, those that went on count.
        let known = move |waits: &&Latency| waits.samples > 0 || of(waits) > 0;
        let ns = move |cell: &Cell| waits_of(cell, whose).filter(known).map(of);
        Column::new(format!("{what}wait_{end}"), ns).titled(title).shown(format_ns).ticked(round_ns)
    };
    let samples = move |cell: &Cell| waits_of(cell, whose).map(|waits| waits.samples);
    [
        Column::new(format!("{what}wait_samples"), samples),
        wait("p50_ns", "", |waits| waits.p50_ns),
        wait("p99_ns", "", |waits| waits.p99_ns),
        wait("p999_ns", p999, |waits| waits.p999_ns),
        wait("worst_ns", worst, |waits| waits.worst_ns),
    ]
}

fn switches(cell: &Cell) -> Option<f64> {
    let switches = cell.voluntary_switches_per_s? + cell.involuntary_switches_per_s?;
    (cell.mix.is_some() && cell.rate() > 0.0).then(|| switches / cell.rate() * 1e3)
}

/// Among threads that do the same; the worse of readers and writers if there are both.
pub(crate) fn fairness(cell: &Cell) -> Option<f64> {
    let sides = cell.sides().filter_map(|(_, side)| side.fairness);
    cell.fairness.into_iter().chain(sides).map(|fairness| fairness.min_over_max).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::mix::Mix;
    use crate::bench::report::{Fairness, State};
    use crate::bench::tests::{full, full_rw};
    use lab_kit::column::Value;

    #[test]
    fn names_are_distinct_and_both_kinds_of_locks_have_what_tables_are_sorted_by() {
        for rw in [false, true] {
            let list = figures(rw);
            for (index, figure) in list.iter().enumerate().filter(|(_, figure)| !figure.name.is_empty()) {
                assert!(list[..index].iter().all(|other| other.name != figure.name), "{}", figure.name);
            }
            for (key, name) in SORTS {
                let is_it = |figure: &Column<Cell>| figure.name.ends_with(name) && !figure.title.is_empty();
                assert!(list.iter().any(is_it), "{key}");
            }
            let (first, report) = (&list[0], if rw { full_rw() } else { full() });
            assert_eq!(first.number(&report.cells[0]), Some(report.cells[0].rate()));
            assert!(first.name.ends_with(SORTS[0].1));
        }
    }

    #[test]
    fn rounds_of_two_kinds_are_a_range_as_report_tells_the_same_file() {
        let shown = |rounds: &[f64]| {
            let mut cell = full().cells[0].clone();
            cell.throughput = Some(Summary::of(rounds.to_vec()));
            figures(false)[0].text(&cell).expect("measured")
        };
        assert_eq!(shown(&[1e6, 1.7e6, 3.2e6]), "1.00..3.20");
        assert_eq!(shown(&[1e6, 1.02e6, 1.04e6]), "1.02 ±2.0%");
        assert_eq!(shown(&[1.7e6]), "1.70");
    }

    #[test]
    fn of_readers_and_writers_the_worse_share_counts_and_no_wait_is_none() {
        let dedicated = Some(Mix::Dedicated { writers: 1 });
        let mut cell = Cell::of("a", ("short", dedicated, 3), State::Measured, &[]);
        let side = |min_over_max| Side {
            fairness: Some(Fairness { min_over_max, jain: 1.0 }),
            latency: Some(Latency {
                samples: 0,
                worst_ns: 0,
                ..waits_of(&full().cells[0], None).expect("some").clone()
            }),
            throughput: None,
        };
        (cell.reads, cell.writes) = (Some(side(0.5)), Some(side(0.25)));
        let figure = |name: &str| figures(true).iter().find(|figure| figure.name == name).expect(name);
        assert_eq!(figure("min_over_max").value(&cell), Value::Real(0.25));
        assert_eq!(figure("min_over_max").text(&cell), Some("0.50, 0.25".into()));
        assert_eq!(figure("reads_min_over_max").value(&cell), Value::Real(0.5));
        assert_eq!(figure("reads_wait_samples").value(&cell), Value::Whole(0));
        assert_eq!(figure("reads_wait_worst_ns").value(&cell), Value::Nothing);
    }
}
