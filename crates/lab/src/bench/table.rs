//! The result as tables for a terminal of a hundred columns: a section for each profile and mix, with the
//! locks that have a row in it, and those that collapsed.
use super::contender::{Kind, NO_LOCK};
use super::figures::{SORTS, figures};
use super::mix::{Load, Profile};
use super::plan::COSTS;
use super::report::{Cell, Report, State};
use comfy_table::Table;
use core::fmt::Write;
use core::iter::once;
use lab_kit::column::Column;
use lab_kit::export::grid::{self, heading, pieces, wrap};
use lab_kit::stats::Ratio;
use lab_kit::units::{round_ns, three_figures};

pub(crate) fn render(report: &Report) -> String {
    let mut text = uncontended(report);
    for load in report.loads() {
        let _ = writeln!(text, "\n== {} ==\n{}", load.name(), describe(report, load.profile));
        let rows = Rows::of(report, load);
        let table =
            |quantity: &Column<Cell>| format!("\n{}\n{}", quantity.title, pieces(&rows.table(quantity), 1));
        let mut quantities = rows.quantities();
        text.extend(quantities.next().map(table));
        let stall = |cell: &&Cell| cell.state != State::Stalled;
        text.push_str(&notes(report.section(load).filter(stall), report.setting.drain_ms));
        if let Some(line) = rows.collapsed_line() {
            wrap(&mut text, String::new(), &line);
        }
        text.push_str(&rows.ratios());
        text.extend(quantities.map(table));
    }
    text
}

/// Below this part of the best throughput of its column a lock has collapsed.
const COLLAPSED: f64 = 0.1;

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
        if collapsed.len() == report.locks.len() {
            collapsed.clear();
        }
        let has_row = |name: &&str| collapsed.iter().all(|cell| cell.lock != *name);
        let mut rows = Self { report, load, shown: names().filter(has_row).collect(), collapsed };
        let sort = SORTS.iter().find(|(key, _)| *key == report.setting.sort).unwrap_or(&SORTS[0]).1;
        let mut quantities = rows.quantities().filter(|quantity| quantity.name.ends_with(sort));
        let quantity = quantities.next().unwrap_or(&figures(report.setting.rw())[0]);
        let sign = if quantity.more_is_better { -1.0 } else { 1.0 };
        let rank = |name: &str| {
            let sound =
                report.section(load).filter(|cell| cell.lock == name && cell.state == State::Measured);
            let logs: Vec<f64> =
                sound.filter_map(|cell| quantity.number(cell)).map(|value| value.max(1e-9).ln()).collect();
            if logs.is_empty() { f64::INFINITY } else { sign * logs.iter().sum::<f64>() / logs.len() as f64 }
        };
        rows.shown.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        rows
    }

    /// What any lock of the section has. Throughput also where all failed: its table says so.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = &'static Column<Cell>> + use<'a> {
        let (report, load) = (self.report, self.load);
        figures(report.setting.rw()).iter().filter(move |quantity| {
            let has = || report.section(load).any(|cell| quantity.number(cell).is_some());
            !quantity.title.is_empty() && (quantity.name == SORTS[0].1 || has())
        })
    }

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

    pub(crate) fn table(&self, quantity: &Column<Cell>) -> Table {
        self.by_count(&self.shown, "-", |cell| {
            if let Some(word) = cell.state.word() {
                return Some(word.to_owned());
            }
            let column = self.report.column(self.load, self.load.column(cell.threads));
            Some(quantity.text(cell)? + if is_best(&column, cell, quantity) { "*" } else { " " })
        })
    }

    /// Our locks relative to the best peer of each column. A ratio has an interval, or is left out.
    fn ratios(&self) -> String {
        let is_ours = |name: &&&str| self.report.kind(name) == Some(Kind::Stanchion);
        let ours: Vec<&str> = self.shown.iter().filter(is_ours).copied().collect();
        let table = self.by_count(&ours, "- ", |cell| Some(self.report.best_peer(cell)?.1.told()? + " "));
        if table.row_iter().flat_map(|row| row.cell_iter().skip(1)).all(|cell| cell.content() == "- ") {
            return String::new();
        }
        let title = "throughput relative to the best peer of the column (95 % interval over rounds; a..b: of two kinds)";
        format!("\n{title}\n{}", pieces(&table, 1))
    }

    /// A table with a row for each of `locks` and a column for each count of threads or readers.
    fn by_count(&self, locks: &[&str], none: &str, show: impl Fn(&Cell) -> Option<String>) -> Table {
        let setting = &self.report.setting;
        let shown = |lock: &&str, count| self.report.at(lock, self.load, count).and_then(&show);
        let row = |lock: &&str| {
            let cells = setting.threads.iter().map(|&count| shown(lock, count).unwrap_or(none.to_owned()));
            once((*lock).to_owned()).chain(cells).collect::<Vec<_>>()
        };
        let titles = setting.threads.iter().map(|&count| heading(count, setting.cpus.len()) + " ");
        let corner = format!("{} (per CPU)", self.load.counted());
        grid::table(once(corner).chain(titles).collect::<Vec<_>>(), locks.iter().map(row))
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

/// The profile in words, with what the harness adds to it.
pub(crate) fn describe(report: &Report, profile: &Profile) -> String {
    let limit = profile.cpu_limit.map(|cpus| format!(", CPU limit {cpus}")).unwrap_or_default();
    let (section, think) = (round_ns(profile.critical_ns as f64), round_ns(profile.think_ns as f64));
    let yields = if profile.yields { "; the holder yields in between" } else { "" };
    let overhead = report.overhead.iter().find(|overhead| overhead.profile == profile.name);
    let overhead = overhead.map(|overhead| {
        let [bare, timed] = [overhead.throughput_ns, overhead.latency_ns].map(three_figures);
        format!("\nwithout any lock an iteration takes {bare} ns, and {timed} ns in latency passes")
    });
    let overhead = overhead.unwrap_or_default();
    format!("critical section {section}, think time {think}{limit}{yields}{overhead}")
}

/// More equal firsts than this are no news, and get no mark.
const SHARED_FIRSTS: usize = 3;

/// Cells this near the best throughput compete on waits and cost; a lock that does nothing waits for nothing.
const COMPARABLE: f64 = 0.8;

/// Whether a cell has the best figure of its column, among the sound cells that get comparable work done.
fn is_best(column: &[&Cell], cell: &Cell, quantity: &Column<Cell>) -> bool {
    let rate = column.iter().map(|cell| cell.rate()).fold(0.0, f64::max);
    let comparable = |cell: &Cell| cell.rate() >= COMPARABLE * rate;
    let figures: Vec<f64> =
        column.iter().filter(|cell| comparable(cell)).filter_map(|cell| quantity.number(cell)).collect();
    let best = figures.iter().copied().reduce(if quantity.more_is_better { f64::max } else { f64::min });
    let Some(best) = best else { return false };
    let equal = |figure: f64| (figure - best).abs() <= best * 1e-9;
    let firsts = figures.iter().filter(|&&figure| equal(figure)).count();
    comparable(cell)
        && quantity.number(cell).is_some_and(equal)
        && firsts <= SHARED_FIRSTS
        && column.len() > 1
}

/// What the words in a table mean.
pub(crate) fn notes<'a>(cells: impl Iterator<Item = &'a Cell>, drain_ms: u64) -> String {
    let note = |cell: &Cell| {
        let who = format!("{} with {} threads", cell.lock, cell.threads);
        match &cell.state {
            State::Measured | State::Skipped { .. } => String::new(),
            State::Stalled => {
                format!("note: {who}: stalled, not all had got the lock {drain_ms} ms after the stop\n")
            }
            State::Broken { acquisitions, counter } => format!(
                "BROKEN: {who}: {acquisitions} acquisitions, but the protected counter says {counter}\n"
            ),
            State::Torn { of_reads, torn } => {
                format!("BROKEN: {who}: {torn} of {of_reads} reads saw a write half done\n")
            }
            State::Failed { reason } => format!("failed: {who}: {reason}\n"),
        }
    };
    cells.map(note).collect()
}

pub(crate) fn costs(report: &Report) -> Vec<(&'static str, &'static str)> {
    let measured = |name: &str| report.uncontended.iter().any(|row| row.costs.contains_key(name));
    COSTS.iter().map(|&(name, title, ..)| (name, title)).filter(|(name, _)| measured(name)).collect()
}

/// A row for each lock, cheapest first, the bare loop last: costs with ratios to the best peer, and sizes.
pub(crate) fn costs_table(report: &Report) -> Table {
    let costs = costs(report);
    let first = costs.first().map_or("", |(name, _)| name);
    let mut locks: Vec<&str> = report.uncontended.iter().map(|row| row.lock.as_str()).collect();
    let (bare, cost) = (|lock: &str| lock == NO_LOCK, |lock: &str| report.median_cost(lock, first));
    locks.sort_by(|a, b| bare(a).cmp(&bare(b)).then(cost(a).total_cmp(&cost(b))));
    let bytes = |lock: &str| {
        let info = report.info(lock)?;
        let more = if info.memory.description().is_empty() { " " } else { "+" };
        Some(format!("{}{more}", info.bytes))
    };
    let row = |lock: &&str| {
        let figures = costs.iter().flat_map(|(name, _)| {
            let (own, peer) = (report.cost(lock, name), report.cheapest(name, |kind| kind == Kind::Peer));
            let both = own.zip(peer.and_then(|peer| report.cost(&peer.name, name)));
            let ratio = both.and_then(|(own, best)| Ratio::of(&[(&own.rounds, &best.rounds)])?.told());
            [own.map(|own| own.middle(|ns| format!("{ns:.2}"))), ratio]
        });
        let figures = figures.chain([bytes(lock)]).map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        let name = if bare(lock) { "(bare loop)" } else { lock };
        once(name.to_owned()).chain(figures).collect::<Vec<_>>()
    };
    let titles = costs.iter().flat_map(|(_, title)| [*title, "/ best peer"]);
    grid::table(once("lock").chain(titles).chain(["bytes"]), locks.iter().map(row))
}

pub(crate) const ABOUT_COSTS: &str = "acquire + release by one thread, loop included (median of the rounds; ratios \
    with 95 %\nintervals; a..b: of two kinds); after: the same of a lock for which two threads contended before";

fn uncontended(report: &Report) -> String {
    if report.uncontended.is_empty() {
        return String::new();
    }
    let mut text = format!("uncontended {ABOUT_COSTS}\n{}", pieces(&costs_table(report), 1));
    for lock in report.locks.iter().filter(|lock| !lock.memory.description().is_empty()) {
        let _ = writeln!(text, "+ {}: {}", lock.name, lock.memory.description());
    }
    text
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
