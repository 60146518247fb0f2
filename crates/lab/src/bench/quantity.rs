//! What is known of a cell: title, unit, and whether more is better. Tables, plots and `--sort` follow.
use super::report::{Cell, Latency};
use Figure::{Cost, Fairness, Number, Rate, Wait};
use lab_kit::stats::Summary;
use lab_kit::units::{format_ns, round_ns, three_figures, without_zeros};

pub(crate) struct Quantity {
    /// What `--sort` calls it.
    pub key: &'static str,
    pub title: &'static str,
    figure: Figure,
}

/// Where the figure comes from, and what it is.
enum Figure {
    /// Acquisitions per second by round, told in millions.
    Rate(fn(&Cell) -> Option<&Summary>),
    /// One of the waits, in nanoseconds.
    Wait(Waits, fn(&Latency) -> u64),
    /// A number that is plotted.
    Cost(fn(&Cell) -> Option<f64>),
    /// A number that is not.
    Number(fn(&Cell) -> Option<f64>),
    Fairness,
}

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
pub(crate) static QUANTITIES: &[Quantity] = &[
    quantity(
        "throughput",
        "throughput, million acquisitions/s (median, ± half the range of rounds)",
        Rate(|cell| cell.throughput.as_ref()),
    ),
    quantity("reads", "reads, million/s", Rate(|cell| cell.reads.as_ref()?.throughput.as_ref())),
    quantity("writes", "writes, million/s", Rate(|cell| cell.writes.as_ref()?.throughput.as_ref())),
    quantity("latency", "acquire latency p99.9", Wait(ALONE, P999)),
    quantity("wait", "worst wait, the unfinished ones counted", Wait(ALONE, WORST)),
    quantity("latency", "read latency p99.9", Wait(READS, P999)),
    quantity("wait", "longest wait to read, the unfinished ones counted", Wait(READS, WORST)),
    quantity("latency", "write latency p99.9", Wait(WRITES, P999)),
    quantity("wait", "longest wait to write, the unfinished ones counted", Wait(WRITES, WORST)),
    quantity("cpu", "CPU seconds per million acquisitions", Cost(|cell| cell.cpu_s_per_million)),
    quantity("switches", "context switches per thousand acquisitions", Number(switches)),
    quantity(
        "fairness",
        "fairness: slowest thread / fastest thread (of those that read, of those that write)",
        Fairness,
    ),
];

const fn quantity(key: &'static str, title: &'static str, figure: Figure) -> Quantity {
    Quantity { key, title, figure }
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

impl Quantity {
    pub(crate) fn value(&self, cell: &Cell) -> Option<f64> {
        match self.figure {
            Rate(rates) => Some(rates(cell)?.median),
            Wait(waits, of) => {
                let waits = waits(cell)?;
                // Where no wait ended, those that went on count.
                (waits.samples > 0 || of(waits) > 0).then(|| of(waits) as f64)
            }
            Cost(of) | Number(of) => of(cell),
            Fairness => fairness(cell),
        }
    }

    /// The figure of a cell as people read it.
    pub(crate) fn show(&self, cell: &Cell) -> Option<String> {
        let value = self.value(cell)?;
        Some(match self.figure {
            Rate(rates) => {
                format!("{} ±{:.0}%", three_figures(value / 1e6), rates(cell)?.spread() * 100.0)
            }
            Wait(..) => format_ns(value),
            Cost(_) | Number(_) => three_figures(value),
            Fairness => match cell.sides().filter_map(|(_, side)| side.fairness).collect::<Vec<_>>()[..] {
                [reads, writes] => format!("{:.2}, {:.2}", reads.min_over_max, writes.min_over_max),
                _ => format!("{value:.2}"),
            },
        })
    }

    /// Otherwise less is.
    pub(crate) fn more_is_better(&self) -> bool {
        matches!(self.figure, Rate(_) | Fairness)
    }

    /// Figures at an axis; none if it is not plotted.
    pub(crate) fn tick(&self) -> Option<fn(f64) -> String> {
        match self.figure {
            Rate(_) => Some(|per_second| plain(per_second / 1e6)),
            Wait(..) => Some(round_ns),
            Cost(_) => Some(plain),
            Number(_) | Fairness => None,
        }
    }
}

fn plain(value: f64) -> String {
    without_zeros(&three_figures(value)).to_owned()
}
