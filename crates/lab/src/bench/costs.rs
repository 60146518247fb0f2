//! What a lock costs one thread that nobody contends with: rows for the terminal and the page.
use super::contender::Kind;
use super::plan::{COSTS, NO_LOCK};
use super::report::Report;
use core::fmt::Write;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::stats::Ratio;

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

/// The table of uncontended costs, for a terminal.
pub(crate) fn uncontended(report: &Report) -> String {
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
