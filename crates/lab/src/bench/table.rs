//! The result as tables for a terminal of a hundred columns.
use super::cell::Profile;
use super::contender::Kind;
use super::plan::NO_LOCK;
use super::report::{Cell, Report, State};
use super::summary::COMPARABLE;
use super::units::{format_ns, round_ns, three_figures};
use crate::export::grid::{WIDTH, align_right, heading, plain_table, trimmed};
use core::fmt::Write;

/// One quantity of a cell: how it is shown, and how it is compared.
pub(crate) struct Quantity<C = Cell> {
    pub title: &'static str,
    /// The figure, if the cell has one.
    pub value: fn(&C) -> Option<f64>,
    pub show: fn(&C, f64) -> String,
    /// Whether more is better; otherwise less is.
    pub more_is_better: bool,
}

/// What the terminal shows, in this order.
pub(crate) const QUANTITIES: &[Quantity] = &[
    Quantity {
        title: "throughput, million acquisitions/s (median, ± half the range of rounds)",
        value: |cell| Some(cell.rate() / 1e6),
        show: |cell, value| {
            let spread = cell.throughput.as_ref().map_or(0.0, super::stats::Summary::spread);
            format!("{} ±{:.0}%", three_figures(value), spread * 100.0)
        },
        more_is_better: true,
    },
    Quantity {
        title: "acquire latency p99.9",
        value: |cell| {
            cell.latency.as_ref().filter(|waits| waits.samples > 0).map(|waits| waits.p999_ns as f64)
        },
        show: |_, value| format_ns(value),
        more_is_better: false,
    },
    Quantity {
        title: "worst wait, the unfinished ones counted",
        value: |cell| cell.latency.as_ref().map(|latency| latency.worst_ns as f64),
        show: |_, value| format_ns(value),
        more_is_better: false,
    },
    Quantity {
        title: "CPU seconds per million acquisitions",
        value: |cell| cell.cpu_s_per_million,
        show: |_, value| three_figures(value),
        more_is_better: false,
    },
    Quantity {
        title: "fairness: slowest thread / fastest thread (Jain's index)",
        value: |cell| cell.fairness.map(|fairness| fairness.min_over_max),
        show: |cell, value| {
            format!("{value:.2} ({:.2})", cell.fairness.map_or(0.0, |fairness| fairness.jain))
        },
        more_is_better: true,
    },
];

/// Everything, for the terminal. `bold` marks the best cells for the eye as well.
pub(crate) fn render(report: &Report, bold: bool) -> String {
    let mut text = String::new();
    text.push_str(&uncontended(report));
    for profile in report.profiles() {
        if !report.cells.iter().any(|cell| cell.profile == profile.name) {
            continue;
        }
        let description = describe(report, profile);
        let (name, rest) = description.split_once(": ").unwrap_or((&description, ""));
        let _ = writeln!(text, "\n== {name} ==\n{rest}");
        for (index, quantity) in QUANTITIES.iter().enumerate() {
            text.push_str(&matrix(report, profile, quantity, bold));
            if index == 0 {
                let cells = report.cells.iter().filter(|cell| cell.profile == profile.name);
                text.push_str(&notes(cells, report.setting.drain_ms));
                text.push_str(&ratios(report, profile));
            }
        }
    }
    text
}

/// The profile in words, with what the harness adds to it.
pub(crate) fn describe<C, U>(report: &Report<C, U>, profile: &Profile) -> String {
    let limit = match profile.cpu_limit {
        Some(1.0) => ", limited to the time of 1 CPU".to_owned(),
        Some(cpus) => format!(", limited to the time of {cpus} CPUs"),
        None => String::new(),
    };
    let times = format!(
        "{}: critical section {}, think time {}{limit}",
        profile.name,
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

/// Whether a cell has the best figure of its column, among the sound cells that get comparable work done.
pub(crate) fn is_best<C: AsRef<Cell>>(column: &[&C], cell: &C, quantity: &Quantity<C>) -> bool {
    let rate = column.iter().map(|cell| cell.as_ref().rate()).fold(0.0, f64::max);
    let comparable = |cell: &C| cell.as_ref().rate() >= COMPARABLE * rate;
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

/// A figure of a cell as a table shows it, with a mark if it is the best of its column.
pub(crate) fn figure<C: AsRef<Cell>>(cell: Option<&C>, column: &[&C], quantity: &Quantity<C>) -> String {
    if let Some(word) = word(cell.map(|cell| &cell.as_ref().state)) {
        return word.to_owned();
    }
    let Some((cell, value)) = cell.and_then(|cell| Some((cell, (quantity.value)(cell)?))) else {
        return "-".to_owned();
    };
    let text = (quantity.show)(cell, value);
    if is_best(column, cell, quantity) { text + "*" } else { text + " " }
}

fn matrix(report: &Report, profile: &Profile, quantity: &Quantity, bold: bool) -> String {
    let rows: Vec<&str> = report.locks.iter().map(|lock| lock.name.as_str()).collect();
    let show = |lock: &str, threads: usize| {
        let column: Vec<&Cell> = report.sound(&profile.name, threads).collect();
        figure(report.cell(lock, &profile.name, threads), &column, quantity)
    };
    // A quantity that nothing has (no latency pass was asked for) needs no table.
    let of_profile = |cell: &&Cell| cell.profile == profile.name;
    if !report.cells.iter().filter(of_profile).any(|cell| (quantity.value)(cell).is_some()) {
        return String::new();
    }
    let text = grid(&Columns::threads(report), quantity.title, &rows, show);
    if bold { emboldened(&text) } else { text }
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
    /// One for each thread count.
    pub(crate) fn threads<C, U>(report: &'a Report<C, U>) -> Self {
        Self { what: "threads (per CPU)", counts: &report.setting.threads, cpus: report.setting.cpus.len() }
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

/// Our locks relative to the best peer of each column.
fn ratios(report: &Report, profile: &Profile) -> String {
    let ours: Vec<&str> = report
        .locks
        .iter()
        .filter(|lock| lock.kind == Kind::Stanchion)
        .map(|lock| lock.name.as_str())
        .collect();
    if ours.is_empty() || !report.locks.iter().any(|lock| lock.kind == Kind::Peer) {
        return String::new();
    }
    let title = "throughput relative to the best peer of the column";
    grid(&Columns::threads(report), title, &ours, |lock, threads| {
        let cell = report.cell(lock, &profile.name, threads);
        let peer = report.best_peer(&profile.name, threads).map(Cell::rate);
        match (word(cell.map(|cell| &cell.state)), cell, peer) {
            (Some(word), ..) => word.to_owned(),
            (None, Some(cell), Some(rate)) if rate > 0.0 => format!("{:.2} ", cell.rate() / rate),
            _ => "-".to_owned(),
        }
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

fn uncontended(report: &Report) -> String {
    if report.uncontended.is_empty() {
        return String::new();
    }
    let best_of = |lock: &str| report.uncontended.iter().find(|row| row.lock == lock).map(|row| row.ns.min);
    let peers = report.uncontended.iter().filter(|row| report.kind(&row.lock) == Some(Kind::Peer));
    let best_peer = peers.min_by(|a, b| a.ns.min.total_cmp(&b.ns.min));
    let mut table = plain_table();
    table.set_header(["lock", "ns", "median", "after", "/ best peer", "/ pthread-spin", "bytes"]);
    let ratio = |ns: f64, of: Option<f64>| of.map_or("-".to_owned(), |of| format!("{:.2}", ns / of));
    for row in &report.uncontended {
        let bytes = report.locks.iter().find(|lock| lock.name == row.lock).map(|lock| lock.bytes.to_string());
        table.add_row([
            if row.lock == NO_LOCK { "(bare loop)".to_owned() } else { row.lock.clone() },
            format!("{:.2}", row.ns.min),
            format!("{:.2}", row.ns.median),
            row.after_ns.as_ref().map_or("-".to_owned(), |ns| format!("{:.2}", ns.min)),
            ratio(row.ns.min, best_peer.map(|peer| peer.ns.min)),
            ratio(row.ns.min, best_of("pthread-spin")),
            bytes.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    align_right(&mut table);
    let title = "uncontended acquire + release by one thread, loop included (ns: best round; ratios of those)\n\
         after: the same, best round, of a lock for which two threads contended before";
    format!("{title}\n{}\n", trimmed(&table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cell::Pass;
    use crate::bench::plan;
    use crate::bench::testing;

    /// A full report in which `a` is always twice as fast as `peer`, except where `a` stalls.
    fn report() -> Report {
        let mut report = testing::report(&["a", "peer"]);
        let groups = plan::groups(&report.setting, &report.locks, testing::calibration(), false);
        for spec in groups.iter().flat_map(|group| &group.cells).filter(|spec| spec.pass == Pass::Latency) {
            let state = match (spec.lock.as_str(), spec.threads) {
                ("a", 4) => State::Stalled,
                _ => State::Measured,
            };
            let outcome = testing::outcome(spec, if spec.lock == "a" { 2_000 } else { 1_000 });
            let rounds = [(Pass::Throughput, outcome.clone()), (Pass::Latency, outcome)];
            if spec.threads > 0
                && spec.profile.name != "uncontended"
                && groups[1].cells.iter().all(|cell| cell != spec)
            {
                report.cells.push(Cell::of(&spec.lock, &spec.profile.name, spec.threads, state, &rounds));
            }
        }
        report
    }

    #[test]
    fn the_best_is_marked_and_a_stalled_lock_is_named() {
        let text = render(&report(), false);
        let row = text.lines().find(|line| line.starts_with(" a ")).expect("a row");
        assert!(row.contains("2.00 ±0%*") && row.contains("4.00 ±0%*") && row.ends_with("stalled"), "{row}");
        assert!(text.contains("note: a stalled with 4 threads") && text.contains("2 (1x)"));
        let unbold = render(&report(), true).replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        assert_eq!(unbold, text, "bold changes no width");
        assert!(!text.contains('\u{1b}') && render(&report(), true).contains("\u{1b}[1m2.00 ±0%*\u{1b}[0m"));
    }

    #[test]
    fn ours_are_set_in_relation_to_the_best_peer() {
        let text = render(&report(), false);
        let table = text.split("relative to the best peer").nth(1).expect("a table of ratios");
        let row = table.lines().find(|line| line.starts_with(" a ")).expect("a row");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["a", "2.00", "2.00", "stalled"]);
    }

    #[test]
    fn a_hundred_columns_are_enough_however_many_thread_counts_there_are() {
        let mut report = report();
        report.locks[0].name = "pv-qspin-longest".into();
        report.setting.threads = (0..13).map(|power| 1 << power).collect();
        let text = render(&report, false);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= 100, "{longest}");
    }
}
