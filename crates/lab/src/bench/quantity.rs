//! What is known of a cell, as columns. Tables, plots and `--sort`, which goes by their names, follow.
use super::report::{Cell, Latency};
use lab_kit::stats::Summary;
use lab_kit::units::{format_ns, plain, round_ns, three_figures};
use stanchion_cells::column::{Better, Column};
use std::sync::LazyLock;

type Waits = fn(&Cell) -> Option<&Latency>;

/// What tables can be sorted by.
pub(crate) const SORTS: [&str; 5] = ["throughput", "latency", "wait", "cpu", "fairness"];

/// Whose waits: of all, if the lock has one kind of access.
const ALONE: Waits = |cell| cell.latency.as_ref().filter(|_| cell.mix.is_none());
const READS: Waits = |cell| cell.reads.as_ref()?.latency.as_ref();
const WRITES: Waits = |cell| cell.writes.as_ref()?.latency.as_ref();
const P999: fn(&Latency) -> u64 = |waits| waits.p999_ns;
const WORST: fn(&Latency) -> u64 = |waits| waits.worst_ns;

/// What is shown of a section, in this order. What a section does not have is left out.
pub(crate) static QUANTITIES: LazyLock<[Column<Cell>; 12]> = LazyLock::new(|| {
    [
        rate(
            "throughput",
            "throughput, million acquisitions/s (median, ± half the range of rounds)",
            |cell| cell.throughput.as_ref(),
        ),
        rate("reads", "reads, million/s", |cell| cell.reads.as_ref()?.throughput.as_ref()),
        rate("writes", "writes, million/s", |cell| cell.writes.as_ref()?.throughput.as_ref()),
        wait("latency", "acquire latency p99.9", ALONE, P999),
        wait("wait", "worst wait, the unfinished ones counted", ALONE, WORST),
        wait("latency", "read latency p99.9", READS, P999),
        wait("wait", "longest wait to read, the unfinished ones counted", READS, WORST),
        wait("latency", "write latency p99.9", WRITES, P999),
        wait("wait", "longest wait to write, the unfinished ones counted", WRITES, WORST),
        cost("cpu", "CPU seconds per million acquisitions", |cell| cell.cpu_s_per_million).ticked(plain),
        cost("switches", "context switches per thousand acquisitions", switches),
        Column::new("fairness", fairness)
            .titled("fairness: slowest thread / fastest thread (of those that read, of those that write)")
            .better(Better::More)
            .shown_by(|cell| {
                match cell.sides().filter_map(|(_, side)| side.fairness).collect::<Vec<_>>()[..] {
                    [reads, writes] => Some(format!("{:.2}, {:.2}", reads.min_over_max, writes.min_over_max)),
                    _ => fairness(cell).map(|value| format!("{value:.2}")),
                }
            }),
    ]
});

/// Acquisitions per second by round, told in millions.
fn rate(key: &str, title: &'static str, rates: fn(&Cell) -> Option<&Summary>) -> Column<Cell> {
    let show =
        |rates: &Summary| format!("{} ±{:.0}%", three_figures(rates.median / 1e6), rates.spread() * 100.0);
    Column::new(key, move |cell: &Cell| Some(rates(cell)?.median))
        .titled(title)
        .better(Better::More)
        .shown_by(move |cell| rates(cell).map(show))
        .ticked(|per_second| plain(per_second / 1e6))
}

/// One of the waits, in nanoseconds.
fn wait(key: &str, title: &'static str, waits: Waits, of: fn(&Latency) -> u64) -> Column<Cell> {
    // Where no wait ended, those that went on count.
    let ns = move |cell: &Cell| waits(cell).filter(|waits| waits.samples > 0 || of(waits) > 0).map(of);
    Column::new(key, ns).titled(title).better(Better::Less).shown(format_ns).ticked(round_ns)
}

fn cost(key: &str, title: &'static str, of: fn(&Cell) -> Option<f64>) -> Column<Cell> {
    Column::new(key, of).titled(title).better(Better::Less).shown(three_figures)
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
