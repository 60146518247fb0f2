//! The result as tables for a terminal of a hundred columns: a section for each profile and mix.
use super::cell::Profile;
use super::contender::Kind;
use super::mix::Load;
use super::plan::{COSTS, NO_LOCK};
use super::report::{Cell, Latency, Report, Side, State};
use super::stats::{Ratio, Summary};
use super::units::{format_ns, round_ns, three_figures, without_zeros};
use crate::export::grid::{WIDTH, align_right, heading, plain_table, trimmed};
use core::fmt::Write;

/// One quantity of a cell: how it is shown, and how it is compared.
pub(crate) struct Quantity {
    /// What `--sort` calls it.
    pub key: &'static str,
    pub title: &'static str,
    /// The figure, if the cell has one.
    pub value: fn(&Cell) -> Option<f64>,
    pub show: fn(&Cell, f64) -> String,
    /// Whether more is better; otherwise less is.
    pub more_is_better: bool,
    /// Figures at an axis; none if it is not drawn.
    pub tick: Option<fn(f64) -> String>,
}

/// What tables can be sorted by.
pub(crate) const SORTS: [&str; 5] = ["throughput", "latency", "wait", "cpu", "fairness"];

/// What is shown of a section, in this order. What a section does not have is left out.
pub(crate) static QUANTITIES: &[Quantity] = &[
    rate(
        "throughput",
        "throughput, million acquisitions/s (median, ± half the range of rounds)",
        |cell| Some(cell.rate()),
        |cell, value| with_spread(value, cell.throughput.as_ref()),
    ),
    rate(
        "reads",
        "reads, million/s",
        |cell| Some(cell.reads.as_ref()?.throughput.as_ref()?.median),
        |cell, value| with_spread(value, cell.reads.as_ref().and_then(|side| side.throughput.as_ref())),
    ),
    rate(
        "writes",
        "writes, million/s",
        |cell| Some(cell.writes.as_ref()?.throughput.as_ref()?.median),
        |cell, value| with_spread(value, cell.writes.as_ref().and_then(|side| side.throughput.as_ref())),
    ),
    wait("latency", "acquire latency p99.9", |cell| p999(alone(cell)?)),
    wait("wait", "worst wait, the unfinished ones counted", |cell| worst(alone(cell)?)),
    wait("latency", "read latency p99.9", |cell| p999(of(&cell.reads)?)),
    wait("wait", "longest wait to read, the unfinished ones counted", |cell| worst(of(&cell.reads)?)),
    wait("latency", "write latency p99.9", |cell| p999(of(&cell.writes)?)),
    wait("wait", "longest wait to write, the unfinished ones counted", |cell| worst(of(&cell.writes)?)),
    Quantity {
        key: "cpu",
        title: "CPU seconds per million acquisitions",
        value: |cell| cell.cpu_s_per_million,
        show: |_, value| three_figures(value),
        more_is_better: false,
        tick: Some(plain_tick),
    },
    Quantity {
        key: "switches",
        title: "context switches per thousand acquisitions",
        value: |cell| {
            let switches = cell.voluntary_switches_per_s? + cell.involuntary_switches_per_s?;
            (cell.mix.is_some() && cell.rate() > 0.0).then(|| switches / cell.rate() * 1e3)
        },
        show: |_, value| three_figures(value),
        more_is_better: false,
        tick: None,
    },
    Quantity {
        key: "fairness",
        title: "fairness: slowest thread / fastest thread (of those that read, of those that write)",
        value: fairness,
        show: |cell, value| match cell.sides().filter_map(|(_, side)| side.fairness).collect::<Vec<_>>()[..] {
            [reads, writes] => format!("{:.2}, {:.2}", reads.min_over_max, writes.min_over_max),
            _ => format!("{value:.2}"),
        },
        more_is_better: true,
        tick: None,
    },
];

/// A rate, for which `per_second` is asked.
const fn rate(
    key: &'static str,
    title: &'static str,
    per_second: fn(&Cell) -> Option<f64>,
    show: fn(&Cell, f64) -> String,
) -> Quantity {
    Quantity { key, title, value: per_second, show, more_is_better: true, tick: Some(million_tick) }
}

const fn wait(key: &'static str, title: &'static str, value: fn(&Cell) -> Option<f64>) -> Quantity {
    let show = |_: &Cell, value: f64| format_ns(value);
    Quantity { key, title, value, show, more_is_better: false, tick: Some(round_ns) }
}

fn with_spread(per_second: f64, rounds: Option<&Summary>) -> String {
    format!("{} ±{:.0}%", three_figures(per_second / 1e6), rounds.map_or(0.0, Summary::spread) * 100.0)
}

/// The waits for a lock with one kind of access.
fn alone(cell: &Cell) -> Option<&Latency> {
    cell.latency.as_ref().filter(|_| cell.mix.is_none())
}

fn of(side: &Option<Side>) -> Option<&Latency> {
    side.as_ref()?.latency.as_ref()
}

fn p999(waits: &Latency) -> Option<f64> {
    (waits.samples > 0).then_some(waits.p999_ns as f64)
}

fn worst(waits: &Latency) -> Option<f64> {
    (waits.samples > 0 || waits.worst_ns > 0).then_some(waits.worst_ns as f64)
}

/// Among threads that do the same; the worse of readers and writers if there are both.
pub(crate) fn fairness(cell: &Cell) -> Option<f64> {
    let sides = cell.sides().filter_map(|(_, side)| side.fairness);
    cell.fairness.into_iter().chain(sides).map(|fairness| fairness.min_over_max).reduce(f64::min)
}

/// A number at a tick.
fn plain_tick(value: f64) -> String {
    without_zeros(&three_figures(value)).to_owned()
}

fn million_tick(per_second: f64) -> String {
    plain_tick(per_second / 1e6)
}

/// Everything, for the terminal. `bold` marks the best cells for the eye as well.
pub(crate) fn render(report: &Report, bold: bool) -> String {
    let mut text = uncontended(report);
    for load in report.loads() {
        let _ = writeln!(text, "\n== {} ==\n{}", load.name(), describe(report, load.profile));
        let rows = Rows::of(report, load);
        for (index, quantity) in rows.quantities().enumerate() {
            let table = matrix(report, load, &rows.shown, quantity);
            text.push_str(&if bold { emboldened(&table) } else { table });
            if index == 0 {
                let stall = |cell: &&Cell| cell.state != State::Stalled;
                text.push_str(&notes(report.section(load).filter(stall), report.setting.drain_ms));
                text.push_str(&rows.collapsed_line().map(|line| wrapped(&line)).unwrap_or_default());
                text.push_str(&ratios(report, load, &rows.shown));
            }
        }
    }
    text
}

/// Below this part of the best throughput of its column a lock has collapsed.
pub(crate) const COLLAPSED: f64 = 0.1;

/// The locks of a section: those with a row, best first, and those that collapsed.
pub(crate) struct Rows<'a> {
    report: &'a Report,
    load: Load<'a>,
    pub shown: Vec<&'a str>,
    /// Each with its cell where it first does.
    pub collapsed: Vec<&'a Cell>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(report: &'a Report, load: Load<'a>) -> Self {
        let names = || report.locks.iter().map(|lock| lock.name.as_str());
        let mut collapsed: Vec<&Cell> = names().filter_map(|lock| collapse(report, load, lock)).collect();
        let has_row = |collapsed: &[&Cell], name: &str| collapsed.iter().all(|cell| cell.lock != name);
        if !names().any(|name| has_row(&collapsed, name)) {
            collapsed.clear();
        }
        let mut rows = Self { report, load, shown: Vec::new(), collapsed };
        let of_key = |quantity: &&Quantity| quantity.key == report.setting.sort;
        let quantity = rows.quantities().find(of_key).unwrap_or(&QUANTITIES[0]);
        let sign = if quantity.more_is_better { -1.0 } else { 1.0 };
        let rank = |name: &str| {
            let cells = report.setting.threads.iter().filter_map(|&column| report.at(name, load, column));
            let sound = cells.filter(|cell| cell.state == State::Measured);
            let logs: Vec<f64> = sound.filter_map(quantity.value).map(|value| value.max(1e-9).ln()).collect();
            if logs.is_empty() { f64::INFINITY } else { sign * logs.iter().sum::<f64>() / logs.len() as f64 }
        };
        let mut shown: Vec<&str> = names().filter(|name| has_row(&rows.collapsed, name)).collect();
        shown.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        rows.shown = shown;
        rows
    }

    /// What any lock of the section has.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = &'static Quantity> + use<'a> {
        let (report, load) = (self.report, self.load);
        QUANTITIES
            .iter()
            .filter(move |quantity| report.section(load).any(|cell| (quantity.value)(cell).is_some()))
    }

    /// Those that collapsed, in one sentence.
    pub(crate) fn collapsed_line(&self) -> Option<String> {
        let say = |cell: &&Cell| {
            let column = self.load.column(cell.threads);
            let how = match cell.state {
                State::Stalled => "stalled".to_owned(),
                _ => format!("{} M/s", three_figures(cell.rate() / 1e6)),
            };
            format!("{} from {column} {} ({how})", cell.lock, self.load.counted())
        };
        let all: Vec<String> = self.collapsed.iter().map(say).collect();
        (!all.is_empty()).then(|| format!("collapsed below a tenth of the best: {}", all.join(", ")))
    }
}

/// The first cell of a lock, threads ascending, in which it collapsed or stalled.
fn collapse<'a>(report: &'a Report, load: Load<'a>, lock: &str) -> Option<&'a Cell> {
    report.setting.threads.iter().find_map(|&column| {
        let cell = report.at(lock, load, column)?;
        let best = report.column(load, column).iter().map(|cell| cell.rate()).fold(0.0, f64::max);
        let slow = cell.state == State::Measured && cell.rate() < COLLAPSED * best;
        (slow || cell.state == State::Stalled).then_some(cell)
    })
}

/// A sentence as lines of a hundred columns.
fn wrapped(line: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for word in line.split(' ') {
        let width = word.chars().count();
        if column + 1 + width > WIDTH {
            text.push_str("\n ");
            column = 1;
        }
        let gap = if column == 0 { "" } else { " " };
        let _ = write!(text, "{gap}{word}");
        column += gap.len() + width;
    }
    text + "\n"
}

/// The profile in words, with what the harness adds to it.
pub(crate) fn describe(report: &Report, profile: &Profile) -> String {
    let limit = match profile.cpu_limit {
        Some(1.0) => ", limited to the time of 1 CPU".to_owned(),
        Some(cpus) => format!(", limited to the time of {cpus} CPUs"),
        None => String::new(),
    };
    let times = format!(
        "critical section {}, think time {}{limit}",
        round_ns(profile.critical_ns as f64),
        round_ns(profile.think_ns as f64)
    );
    let times = if profile.yields { times + "; the holder yields in between" } else { times };
    match report.overhead.iter().find(|overhead| overhead.profile == profile.name) {
        Some(overhead) => format!(
            "{times}\nwithout any lock an iteration takes {} ns, and {} ns in latency passes",
            three_figures(overhead.throughput_ns),
            three_figures(overhead.latency_ns)
        ),
        None => times,
    }
}

/// The word for a cell without a figure, if it has none.
pub(crate) fn word(state: Option<&State>) -> Option<&'static str> {
    match state {
        None => Some("-"),
        Some(State::Measured) => None,
        Some(State::Stalled | State::Skipped { .. }) => Some("stalled"),
        Some(State::Broken { .. } | State::Torn { .. }) => Some("BROKEN"),
        Some(State::Failed { .. }) => Some("failed"),
    }
}

/// More equal firsts than this are no news, and get no mark.
const SHARED_FIRSTS: usize = 3;

/// Cells this near the best throughput compete on waits and cost; a lock that does nothing waits for nothing.
const COMPARABLE: f64 = 0.8;

/// Whether a cell has the best figure of its column, among the sound cells that get comparable work done.
fn is_best(column: &[&Cell], cell: &Cell, quantity: &Quantity) -> bool {
    let rate = column.iter().map(|cell| cell.rate()).fold(0.0, f64::max);
    let comparable = |cell: &Cell| cell.rate() >= COMPARABLE * rate;
    let figures: Vec<f64> =
        column.iter().filter(|cell| comparable(cell)).filter_map(|cell| (quantity.value)(cell)).collect();
    let best = figures.iter().copied().reduce(if quantity.more_is_better { f64::max } else { f64::min });
    let Some(best) = best else { return false };
    let equal = |figure: f64| (figure - best).abs() <= best * 1e-9;
    let firsts = figures.iter().filter(|&&figure| equal(figure)).count();
    comparable(cell)
        && (quantity.value)(cell).is_some_and(equal)
        && firsts <= SHARED_FIRSTS
        && column.len() > 1
}

/// The figure of a lock in one column as a table shows it, with a mark if it is the best there.
pub(crate) fn figure(report: &Report, load: Load, lock: &str, column: usize, quantity: &Quantity) -> String {
    let cell = report.at(lock, load, column);
    if let Some(word) = word(cell.map(|cell| &cell.state)) {
        return word.to_owned();
    }
    let Some((cell, value)) = cell.and_then(|cell| Some((cell, (quantity.value)(cell)?))) else {
        return "-".to_owned();
    };
    let text = (quantity.show)(cell, value);
    if is_best(&report.column(load, column), cell, quantity) { text + "*" } else { text + " " }
}

fn matrix(report: &Report, load: Load, rows: &[&str], quantity: &Quantity) -> String {
    grid(&Columns::of(report, load), quantity.title, rows, |lock, column| {
        figure(report, load, lock, column, quantity)
    })
}

/// The figures with a mark in bold. Done to the finished text, because a table would count the escape codes
/// as width.
pub(crate) fn emboldened(text: &str) -> String {
    let mut bold = String::new();
    for line in text.split_inclusive('\n') {
        for part in line.split_inclusive('*') {
            // Columns are at least two blanks apart, and no figure has two in it.
            let start = part.rfind("  ").map_or(0, |blanks| blanks + 2);
            if part.ends_with('*') {
                let _ = write!(bold, "{}\u{1b}[1m{}\u{1b}[0m", &part[..start], &part[start..]);
            } else {
                bold.push_str(part);
            }
        }
    }
    bold
}

/// What stands above a table.
pub(crate) struct Columns<'a> {
    /// Above the names of the locks: what is counted.
    pub what: &'a str,
    pub counts: &'a [usize],
    pub cpus: usize,
}

impl<'a> Columns<'a> {
    /// Those of a section.
    pub(crate) fn of(report: &'a Report, load: Load) -> Self {
        let what = if load.counted() == "readers" { "readers (per CPU)" } else { "threads (per CPU)" };
        Self { what, counts: &report.setting.threads, cpus: report.setting.cpus.len() }
    }
}

/// A table with a row for each lock and a column for each count, in as many pieces as needed.
pub(crate) fn grid(
    columns: &Columns,
    title: &str,
    rows: &[&str],
    show: impl Fn(&str, usize) -> String,
) -> String {
    let most = columns.counts.len().max(1);
    let pieces = |width| {
        let counts = columns.counts.chunks(width);
        counts.map(|counts| piece(&Columns { counts, ..*columns }, rows, &show)).collect::<String>()
    };
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= WIDTH);
    let text = (1..=most).rev().map(pieces).find(fits).unwrap_or_else(|| pieces(1));
    format!("\n{title}\n{text}")
}

fn piece(columns: &Columns, rows: &[&str], show: impl Fn(&str, usize) -> String) -> String {
    let mut table = plain_table();
    let headings = columns.counts.iter().map(|&count| heading(count, columns.cpus) + " ");
    table.set_header(core::iter::once(columns.what.to_owned()).chain(headings));
    for row in rows {
        let cells = columns.counts.iter().map(|&count| show(row, count));
        table.add_row(core::iter::once((*row).to_owned()).chain(cells));
    }
    align_right(&mut table);
    trimmed(&table) + "\n"
}

/// Our locks relative to the best peer of each column. A ratio has an interval, or is left out.
fn ratios(report: &Report, load: Load, rows: &[&str]) -> String {
    let of = |kind| move |name: &&&str| report.kind(name) == Some(kind);
    let ours: Vec<&str> = rows.iter().filter(of(Kind::Stanchion)).copied().collect();
    let told = |lock: &str, column| {
        let cell = report.at(lock, load, column)?;
        report.to_best_peer(cell).as_ref().and_then(Ratio::told)
    };
    if ours.iter().all(|lock| report.setting.threads.iter().all(|&column| told(lock, column).is_none())) {
        return String::new();
    }
    let title = "throughput relative to the best peer of the column (95 % interval over paired rounds)";
    grid(&Columns::of(report, load), title, &ours, |lock, column| {
        told(lock, column).unwrap_or_else(|| "-".to_owned()) + " "
    })
}

/// What the words in a table mean.
pub(crate) fn notes<'a>(cells: impl Iterator<Item = &'a Cell>, drain_ms: u64) -> String {
    let mut text = String::new();
    for cell in cells {
        let who = format!("{} with {} threads", cell.lock, cell.threads);
        let _ = match &cell.state {
            State::Stalled => writeln!(
                text,
                "note: {} stalled with {} threads: not all had got the lock {drain_ms} ms after the stop",
                cell.lock, cell.threads
            ),
            State::Broken { acquisitions, counter } => writeln!(
                text,
                "BROKEN: {who}: {acquisitions} acquisitions, but the protected counter says {counter}"
            ),
            State::Torn { of_reads, torn } => {
                writeln!(text, "BROKEN: {who}: {torn} of {of_reads} reads saw a write half done")
            }
            State::Failed { reason } => writeln!(text, "failed: {who}: {reason}"),
            State::Measured | State::Skipped { .. } => Ok(()),
        };
    }
    text
}

/// What the figures of [`COSTS`] are called in a table.
const COST_TITLES: [&str; 4] = ["ns", "after ns", "read ns", "write ns"];

/// The costs that were measured, by name and title.
pub(crate) fn costs(report: &Report) -> Vec<(&'static str, &'static str)> {
    let measured = |name: &str| report.uncontended.iter().any(|row| row.costs.contains_key(name));
    let costs = COSTS.iter().map(|(name, ..)| *name).zip(COST_TITLES);
    costs.filter(|(name, _)| measured(name)).collect()
}

/// The rows of uncontended costs, the cheapest first and the bare loop last: the lock as it is called, and
/// for each of [`costs`] the figure and its ratio to the best peer.
pub(crate) fn cost_rows(report: &Report) -> Vec<(&str, Vec<(String, String)>)> {
    let costs = costs(report);
    let median = |lock: &str, name: &str| report.cost(lock, name).map_or(f64::INFINITY, |cost| cost.median);
    let peers = || report.locks.iter().filter(|lock| lock.kind == Kind::Peer).map(|lock| lock.name.as_str());
    let best = |name: &str| peers().min_by(|a, b| median(a, name).total_cmp(&median(b, name)));
    let mut locks: Vec<&str> = report.uncontended.iter().map(|row| row.lock.as_str()).collect();
    let rank = |lock: &str| (lock == NO_LOCK, costs.first().map_or(0.0, |(name, _)| median(lock, name)));
    locks.sort_by(|a, b| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1)));
    let cell = |lock: &str, name: &str| {
        let own = report.cost(lock, name);
        let peer = best(name).and_then(|peer| report.cost(peer, name));
        let ratio = own.zip(peer).and_then(|(own, peer)| Ratio::of(&[(&own.rounds, &peer.rounds)]));
        let ratio = ratio.as_ref().and_then(Ratio::told);
        let figure = own.map_or("-".to_owned(), |own| format!("{:.2}", own.median));
        (figure, ratio.unwrap_or_else(|| "-".to_owned()))
    };
    let row = |lock: &&str| costs.iter().map(|(name, _)| cell(lock, name)).collect();
    locks.iter().map(|lock| (*lock, row(lock))).collect()
}

/// A lock of the uncontended costs, as people read it.
pub(crate) fn called(lock: &str) -> &str {
    if lock == NO_LOCK { "(bare loop)" } else { lock }
}

fn uncontended(report: &Report) -> String {
    if report.uncontended.is_empty() {
        return String::new();
    }
    let mut table = plain_table();
    let titles = costs(report).into_iter().flat_map(|(_, title)| [title, "/ best peer"]);
    table.set_header(["lock"].into_iter().chain(titles).chain(["bytes"]));
    for (lock, figures) in cost_rows(report) {
        let info = report.info(lock);
        let bytes = info.map_or("- ".to_owned(), |info| {
            format!("{}{}", info.bytes, if info.memory.description().is_empty() { " " } else { "+" })
        });
        let figures = figures.into_iter().flat_map(|(figure, ratio)| [figure, ratio]);
        table.add_row([called(lock).to_owned()].into_iter().chain(figures).chain([bytes]));
    }
    align_right(&mut table);
    let mut text =
        "uncontended acquire + release by one thread, loop included (median of the rounds; ratios \
         with 95 %\nintervals); after: the same of a lock for which two threads contended before\n"
            .to_owned();
    let _ = writeln!(text, "{}", trimmed(&table));
    for lock in report.locks.iter().filter(|lock| !lock.memory.description().is_empty()) {
        let _ = writeln!(text, "+ {}: {}", lock.name, lock.memory.description());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::mix::Mix;
    use crate::bench::testing::{full, full_rw};

    fn section<'a>(text: &'a str, name: &str) -> &'a str {
        text.split(&format!("== {name} ==")).nth(1).expect("a section")
    }

    #[test]
    fn the_best_is_marked_and_stands_first() {
        let text = render(&full(), false);
        let rows: Vec<&str> = section(&text, "short").lines().filter(|line| line.starts_with(' ')).collect();
        assert!(rows[1].starts_with(" a ") && rows[2].starts_with(" peer "), "{rows:?}");
        assert!(rows[1].contains("2.00 ±0%*") && rows[1].contains("8.00 ±0%*"), "{rows:?}");
        let unbold = render(&full(), true).replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        assert_eq!(unbold, text, "bold changes no width");
        assert!(!text.contains('\u{1b}') && render(&full(), true).contains("\u{1b}[1m2.00 ±0%*\u{1b}[0m"));
    }

    #[test]
    fn rows_are_sorted_by_what_was_asked_for() {
        let mut report = full();
        let first = |report: &Report| Rows::of(report, report.loads()[0]).shown[0].to_owned();
        assert_eq!(first(&report), "a");
        for cell in report.cells.iter_mut().filter(|cell| cell.lock == "a") {
            cell.cpu_s_per_million = Some(9.0);
        }
        report.setting.sort = "cpu".into();
        assert_eq!(first(&report), "peer");
    }

    #[test]
    fn locks_that_collapsed_are_one_line_and_have_no_row() {
        let mut report = full();
        report.locks.push(crate::bench::testing::lock("b"));
        for (index, cell) in report.cells.clone().into_iter().filter(|cell| cell.lock == "a").enumerate() {
            let slow = index == 1;
            let mut cell = Cell { lock: "b".into(), ..cell };
            let throughput = cell.throughput.as_mut().expect("measured");
            throughput.median *= if slow { 0.09 } else { 1.0 };
            report.cells.push(cell);
        }
        report.cells.iter_mut().find(|cell| cell.lock == "a" && cell.threads == 4).expect("a cell").state =
            State::Stalled;
        let text = render(&report, false);
        let empty = section(&text, "empty");
        assert!(
            empty.contains(
                "collapsed below a tenth of the best: a from 4 threads (stalled), b from 2 threads ("
            ),
            "{empty}"
        );
        let rows = |text: &str| text.lines().filter(|line| line.starts_with(" b ")).count();
        assert_eq!(rows(empty.split("== short ==").next().expect("a section")), 0, "{empty}");
        assert!(rows(section(&text, "short")) > 0, "another profile is another story");
    }

    #[test]
    fn ours_are_set_in_relation_to_the_best_peer_with_an_interval() {
        let mut report = full();
        let text = render(&report, false);
        let table = text.split("relative to the best peer").nth(1).expect("a table of ratios");
        let row = table.lines().find(|line| line.starts_with(" a ")).expect("a row");
        assert_eq!(row.matches("2.00 (2.00–2.00)").count(), 3, "{row}");
        for throughput in report.cells.iter_mut().filter_map(|cell| cell.throughput.as_mut()) {
            throughput.rounds.truncate(1);
        }
        assert!(!render(&report, false).contains("relative"), "one round has no interval");
    }

    #[test]
    fn a_hundred_columns_are_enough_however_many_thread_counts_there_are() {
        let mut report = full();
        report.locks[0].name = "pv-qspin-longest".into();
        report.setting.threads = (0..13).map(|power| 1 << power).collect();
        let text = render(&report, false) + &render(&full_rw(), false);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= 100, "{text}");
        let line = wrapped(&"word ".repeat(60));
        assert!(line.lines().all(|line| line.len() <= 100) && line.matches("word").count() == 60);
    }

    #[test]
    fn sections_of_readers_and_writers_tell_of_both_sides() {
        let mut report = full_rw();
        let text = render(&report, false);
        let half = section(&text, "short, 50 % reads");
        for quantity in QUANTITIES.iter().filter(|quantity| !quantity.title.contains("acquire latency")) {
            assert!(quantity.title.starts_with("worst") || half.contains(quantity.title), "{half}");
        }
        assert!(text.contains("== empty, 99 % reads ==") && text.contains("+ a: 64 B a thread"));
        for cell in &mut report.cells {
            cell.writes = None;
        }
        assert!(!render(&report, false).contains("writes, million/s"));
        report.setting.mixes = vec![Mix::Dedicated { writers: 1 }];
        assert!(report.loads().is_empty(), "no cell has that mix");
    }
}
