//! The result in plain words: who collapses, who holds, and at what cost.
use super::cell::Profile;
use super::contender::Kind;
use super::plan::NO_LOCK;
use super::report::{Cell, Report, State, Uncontended};
use super::units::{format_ns, percent, three_figures};
use core::fmt::Write;

/// Below this part of its one-thread rate a lock has collapsed.
const COLLAPSED: f64 = 0.1;
/// Cells this near the best throughput compete on waits and cost; a lock that does nothing waits for nothing.
pub(crate) const COMPARABLE: f64 = 0.8;

/// All sentences, each a line.
pub(crate) fn sentences(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = uncontended(report).into_iter().collect();
    for profile in report.profiles() {
        lines.extend(broken(report, profile));
        lines.extend(collapses(report, profile));
        lines.extend(ours_against_the_best_peer(report, profile));
    }
    lines
}

/// `2x overcommit (4 threads)` where there is overcommit, else `2 threads`.
pub(crate) fn load(threads: usize, cpus: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    if cpus > 0 && threads > cpus {
        let multiple = three_figures(threads as f64 / cpus as f64);
        let multiple = multiple.strip_suffix(".00").unwrap_or(&multiple).trim_end_matches(".0");
        format!("{multiple}x overcommit ({threads} threads)")
    } else {
        format!("{threads} thread{plural}")
    }
}

fn uncontended(report: &Report) -> Option<String> {
    let fastest = |kind: Kind| {
        let of_kind = report.uncontended.iter().filter(move |row| report.kind(&row.lock) == Some(kind));
        of_kind.filter(|row| row.lock != NO_LOCK).min_by(|a, b| a.ns.min.total_cmp(&b.ns.min))
    };
    let say = |row: &Uncontended| format!("{} with {} ns", row.lock, three_figures(row.ns.min));
    match (fastest(Kind::Stanchion), fastest(Kind::Peer)) {
        (Some(ours), Some(peer)) => Some(format!(
            "uncontended: our fastest is {}, {} times the fastest peer, {}",
            say(ours),
            three_figures(ours.ns.min / peer.ns.min),
            say(peer)
        )),
        (Some(row), None) | (None, Some(row)) => Some(format!("uncontended: the fastest is {}", say(row))),
        (None, None) => None,
    }
}

fn broken(report: &Report, profile: &Profile) -> Vec<String> {
    let of_profile = report.cells.iter().filter(|cell| cell.profile == profile.name);
    of_profile.filter_map(|cell| went_wrong(&profile.name, cell)).collect()
}

/// What must not pass silently about a cell of the section `name`.
pub(crate) fn went_wrong(name: &str, cell: &Cell) -> Option<String> {
    let (lock, threads) = (&cell.lock, cell.threads);
    match &cell.state {
        State::Broken { acquisitions, counter } => Some(format!(
            "{name}: {lock} is BROKEN with {threads} threads: {acquisitions} acquisitions, but the counter it protects says {counter}"
        )),
        State::Torn { of_reads, torn } => Some(format!(
            "{name}: {lock} is BROKEN with {threads} threads: {torn} of {of_reads} reads saw a write half done"
        )),
        State::Failed { reason } => Some(format!("{name}: {lock} failed with {threads} threads: {reason}")),
        _ => None,
    }
}

/// One sentence naming every lock that collapses or stalls, each where it first does.
fn collapses(report: &Report, profile: &Profile) -> Option<String> {
    let cpus = report.setting.cpus.len();
    let mut parts = Vec::new();
    for lock in &report.locks {
        let alone = report.cell(&lock.name, &profile.name, 1).map_or(0.0, Cell::rate);
        for &threads in &report.setting.threads {
            let Some(cell) = report.cell(&lock.name, &profile.name, threads) else { continue };
            if cell.state == State::Stalled {
                parts.push(format!("{} stalls at {}", lock.name, load(threads, cpus)));
                break;
            }
            let share = cell.rate() / alone;
            // Contention costs every lock something; what is asked for here is what overcommit adds.
            let overcommitted = threads > cpus;
            if cell.state == State::Measured && overcommitted && alone > 0.0 && share < COLLAPSED {
                let rate = percent(share);
                parts.push(format!(
                    "{} falls to {rate} of its one-thread rate at {}",
                    lock.name,
                    load(threads, cpus)
                ));
                break;
            }
        }
    }
    (!parts.is_empty()).then(|| format!("{}: {}", profile.name, parts.join("; ")))
}

/// Our best lock beside the best peer, where the load is highest.
fn ours_against_the_best_peer(report: &Report, profile: &Profile) -> Option<String> {
    let cpus = report.setting.cpus.len();
    let sound = |&&threads: &&usize| report.sound(&profile.name, threads).next().is_some();
    let &threads = report.setting.threads.iter().rev().find(sound)?;
    let fastest = |kind: Kind| {
        report
            .sound(&profile.name, threads)
            .filter(|cell| report.kind(&cell.lock) == Some(kind))
            .max_by(|a, b| a.rate().total_cmp(&b.rate()))
    };
    let say = |cell: &Cell| format!("{} with {} M/s", cell.lock, three_figures(cell.rate() / 1e6));
    let at = load(threads, cpus);
    match (fastest(Kind::Stanchion), fastest(Kind::Peer)) {
        (Some(ours), Some(peer)) => {
            let mut line = format!(
                "{}: at {at} our fastest is {}, {} of the best peer, {}",
                profile.name,
                say(ours),
                percent(ours.rate() / peer.rate()),
                say(peer)
            );
            if let (Some(cost), Some(other)) = (ours.cpu_s_per_million, peer.cpu_s_per_million) {
                let share = percent(cost / other);
                let _ = write!(line, "; it uses {share} of that peer's CPU time per acquisition");
            }
            if let (Some(wait), Some(other)) = (&ours.latency, &peer.latency) {
                let times = [wait.worst_ns, other.worst_ns].map(|ns| format_ns(ns as f64));
                let _ = write!(line, "; worst wait {} against {}", times[0], times[1]);
            }
            Some(line)
        }
        (Some(only), None) | (None, Some(only)) => {
            Some(format!("{}: at {at} the fastest is {}", profile.name, say(only)))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cell::Pass;
    use crate::bench::testing;

    /// A report with one cell for each `(lock, threads, acquisitions per thread and millisecond)`.
    fn report(cells: &[(&str, usize, u64)]) -> Report {
        let mut report = testing::report(&["ticket", "peer"]);
        let groups =
            crate::bench::plan::groups(&report.setting, &report.locks, testing::calibration(), false);
        let spec = &groups[2].cells[0];
        for &(lock, threads, per_thread) in cells {
            let spec = crate::bench::cell::CellSpec { threads, pass: Pass::Latency, ..spec.clone() };
            let outcome = testing::outcome(&spec, per_thread);
            let rounds = [(Pass::Throughput, outcome.clone()), (Pass::Latency, outcome)];
            report.cells.push(Cell::of(lock, "short", threads, State::Measured, &rounds));
        }
        report
    }

    #[test]
    fn a_collapse_is_said_where_it_first_happens() {
        let lines = sentences(&report(&[("ticket", 1, 4_000), ("ticket", 2, 2_000), ("ticket", 4, 4)]));
        assert_eq!(
            lines[0], "short: ticket falls to 0.4 % of its one-thread rate at 2x overcommit (4 threads)",
            "{lines:?}"
        );
    }

    #[test]
    fn a_stall_is_said_too() {
        let mut report = report(&[("ticket", 1, 4_000), ("ticket", 4, 1)]);
        report.cells[1].state = State::Stalled;
        assert_eq!(sentences(&report)[0], "short: ticket stalls at 2x overcommit (4 threads)");
    }

    #[test]
    fn ours_is_set_beside_the_best_peer() {
        let lines = sentences(&report(&[("ticket", 4, 980), ("peer", 4, 1_000)]));
        assert_eq!(
            lines,
            [
                "short: at 2x overcommit (4 threads) our fastest is ticket with 3.92 M/s, 98 % of the best peer, peer \
              with 4.00 M/s; it uses 102 % of that peer's CPU time per acquisition; worst wait 50.0 µs against 50.0 µs"
            ]
        );
    }

    #[test]
    fn a_broken_lock_is_named_loudly() {
        let mut report = report(&[("ticket", 2, 10)]);
        report.cells[0].state = State::Broken { acquisitions: 10, counter: 9 };
        assert!(sentences(&report)[0].contains("ticket is BROKEN with 2 threads"));
    }
}
