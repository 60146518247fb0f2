//! What a lock costs one thread that nobody contends with: a table for the terminal and the page.
use super::contender::Kind;
use super::plan::{COSTS, NO_LOCK};
use super::report::Report;
use core::fmt::Write;
use lab_kit::export::grid::{Column, in_pieces};
use lab_kit::stats::Ratio;

/// The costs that were measured, by name and title.
pub(crate) fn costs(report: &Report) -> Vec<(&'static str, &'static str)> {
    let measured = |name: &str| report.uncontended.iter().any(|row| row.costs.contains_key(name));
    COSTS.iter().map(|&(name, title, ..)| (name, title)).filter(|(name, _)| measured(name)).collect()
}

/// The locks, the cheapest first and the bare loop last.
fn locks(report: &Report) -> Vec<&str> {
    let name = costs(report).first().map_or("", |(name, _)| name);
    let mut locks: Vec<&str> = report.uncontended.iter().map(|row| row.lock.as_str()).collect();
    let (bare, cost) = (|lock: &str| lock == NO_LOCK, |lock: &str| report.median_cost(lock, name));
    locks.sort_by(|a, b| bare(a).cmp(&bare(b)).then(cost(a).total_cmp(&cost(b))));
    locks
}

/// The rows of the table, and its columns: each cost with its ratio to the best peer, then sizes.
pub(crate) fn table(report: &Report) -> (Vec<&str>, Vec<Column>) {
    let locks = locks(report);
    let mut columns = Vec::new();
    for (name, title) in costs(report) {
        let peers = report.locks.iter().filter(|lock| lock.kind == Kind::Peer).map(|lock| lock.name.as_str());
        let cost = |lock: &str| report.median_cost(lock, name);
        let best = peers.min_by(|a, b| cost(a).total_cmp(&cost(b))).and_then(|peer| report.cost(peer, name));
        let figure = |lock: &&str| report.cost(lock, name).map(|own| format!("{:.2}", own.median));
        let ratio = |lock: &&str| {
            let (own, best) = (report.cost(lock, name)?, best?);
            Ratio::of(&[(&own.rounds, &best.rounds)])?.told()
        };
        columns.push(column(title, locks.iter().map(figure)));
        columns.push(column("/ best peer", locks.iter().map(ratio)));
    }
    let bytes = |lock: &&str| {
        let info = report.info(lock)?;
        let more = if info.memory.description().is_empty() { " " } else { "+" };
        Some(format!("{}{more}", info.bytes))
    };
    columns.push(column("bytes", locks.iter().map(bytes)));
    (locks.into_iter().map(|lock| if lock == NO_LOCK { "(bare loop)" } else { lock }).collect(), columns)
}

fn column(title: &str, cells: impl Iterator<Item = Option<String>>) -> Column {
    let cells = cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned())).collect();
    Column { title: title.to_owned(), cells }
}

/// What the figures are.
pub(crate) const ABOUT: &str = "acquire + release by one thread, loop included (median of the rounds; ratios \
    with 95 %\nintervals); after: the same of a lock for which two threads contended before";

/// The table of uncontended costs, for a terminal.
pub(crate) fn uncontended(report: &Report) -> String {
    if report.uncontended.is_empty() {
        return String::new();
    }
    let (rows, columns) = table(report);
    let mut text = format!("uncontended {ABOUT}\n{}", in_pieces("lock", &rows, &columns));
    for lock in report.locks.iter().filter(|lock| !lock.memory.description().is_empty()) {
        let _ = writeln!(text, "+ {}: {}", lock.name, lock.memory.description());
    }
    text
}
