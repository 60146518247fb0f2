//! The result in plain words: what is broken or stalls, and our best lock beside the best peer.
use super::mix::Mix;
use super::report::{RwCell, RwReport, RwUncontended};
use crate::bench::cell::Profile;
use crate::bench::contender::Kind;
use crate::bench::report::State;
use crate::bench::summary::{load, went_wrong};
use crate::bench::units::{format_ns, percent, three_figures};
use core::fmt::Write;

/// All sentences, each a line.
pub(crate) fn sentences(report: &RwReport) -> Vec<String> {
    let alone = [
        uncontended(report, "read", |row| row.read_ns.min),
        uncontended(report, "write", |row| row.write_ns.min),
    ];
    let mut lines: Vec<String> = alone.into_iter().flatten().collect();
    for profile in report.profiles() {
        for &mix in &report.setting.mixes {
            let section = || report.section(&profile.name, mix);
            let name = format!("{}, {}", profile.name, mix.name());
            lines.extend(section().filter_map(|cell| went_wrong(&name, &cell.both)));
            lines.extend(stalls(report, &name, section()));
            lines.extend(ours_against_the_best_peer(report, profile, mix, &name));
        }
    }
    lines
}

fn uncontended(report: &RwReport, what: &str, ns: fn(&RwUncontended) -> f64) -> Option<String> {
    let fastest = |kind: Kind| {
        let of_kind = report.uncontended.iter().filter(move |row| report.kind(&row.lock) == Some(kind));
        of_kind.min_by(|a, b| ns(a).total_cmp(&ns(b)))
    };
    let say = |row: &RwUncontended| format!("{} with {} ns", row.lock, three_figures(ns(row)));
    match (fastest(Kind::Stanchion), fastest(Kind::Peer)) {
        (Some(ours), Some(peer)) => Some(format!(
            "uncontended {what}: our fastest is {}, {} times the fastest peer, {}",
            say(ours),
            three_figures(ns(ours) / ns(peer)),
            say(peer)
        )),
        (Some(row), None) | (None, Some(row)) => {
            Some(format!("uncontended {what}: the fastest is {}", say(row)))
        }
        (None, None) => None,
    }
}

/// One sentence naming every lock that stalls, each where it first does.
fn stalls<'a>(report: &RwReport, name: &str, cells: impl Iterator<Item = &'a RwCell>) -> Option<String> {
    let cpus = report.setting.cpus.len();
    let stalled = cells.filter(|cell| cell.both.state == State::Stalled);
    let say = |cell: &RwCell| format!("{} stalls at {}", cell.both.lock, load(cell.both.threads, cpus));
    let parts: Vec<String> = stalled.map(say).collect();
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join("; ")))
}

/// Our best lock beside the best peer, where the load is highest.
fn ours_against_the_best_peer(report: &RwReport, profile: &Profile, mix: Mix, name: &str) -> Option<String> {
    let sound = |column: &&usize| !report.column(&profile.name, mix, **column).is_empty();
    let &column = report.setting.threads.iter().rev().find(sound)?;
    let at = load(mix.threads(column), report.setting.cpus.len());
    let fastest = |kind| report.fastest(kind, &profile.name, mix, column);
    let say =
        |cell: &RwCell| format!("{} with {} M/s", cell.both.lock, three_figures(cell.both.rate() / 1e6));
    match (fastest(Kind::Stanchion), fastest(Kind::Peer)) {
        (Some(ours), Some(peer)) => {
            let mut line = format!(
                "{name}: at {at} our fastest is {}, {} of the best peer, {}",
                say(ours),
                percent(ours.both.rate() / peer.both.rate()),
                say(peer)
            );
            for ((what, side), (_, other)) in ours.sides().into_iter().zip(peer.sides()) {
                if let (Some(wait), Some(other)) = (&side.latency, &other.latency) {
                    let times = [wait.worst_ns, other.worst_ns].map(|ns| format_ns(ns as f64));
                    let _ = write!(line, "; longest wait of its {what} {} against {}", times[0], times[1]);
                }
            }
            Some(line)
        }
        (Some(only), None) | (None, Some(only)) => {
            Some(format!("{name}: at {at} the fastest is {}", say(only)))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rw::testing::{HALF, full};

    #[test]
    fn ours_is_set_beside_the_best_peer() {
        let lines = sentences(&full());
        assert!(
            lines.contains(
                &"short, 50 % reads: at 2x overcommit (4 threads) our fastest is a with 8.00 M/s, 200 % of the best peer, \
                  peer with 4.00 M/s; longest wait of its reads 200 ns against 200 ns; longest wait of its writes 2.00 µs \
                  against 2.00 µs"
                    .to_owned()
            ),
            "{lines:?}"
        );
        assert!(lines[0].starts_with("uncontended read: our fastest is a with"));
    }

    #[test]
    fn broken_locks_and_stalls_are_named_loudly() {
        let mut report = full();
        let mut cells = report.cells.iter_mut().filter(|cell| cell.mix == HALF && cell.both.threads == 2);
        cells.next().expect("a cell").both.state = State::Torn { of_reads: 10, torn: 3 };
        cells.next().expect("a cell").both.state = State::Stalled;
        let text = sentences(&report).join("\n");
        assert!(text.contains("empty, 50 % reads: a is BROKEN with 2 threads: 3 of 10 reads"), "{text}");
        assert!(text.contains("empty, 50 % reads: peer stalls at 2 threads"), "{text}");
    }
}
