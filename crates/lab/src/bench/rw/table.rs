//! The result as tables for a terminal of a hundred columns: one section for each profile and mix.
use super::mix::Mix;
use super::report::{RwCell, RwReport, Side};
use crate::bench::cell::Profile;
use crate::bench::contender::Kind;
use crate::bench::plan::NO_LOCK;
use crate::bench::report::Latency;
use crate::bench::stats::Summary;
use crate::bench::table::{Columns, Quantity, describe, emboldened, figure, grid, notes, word};
use crate::bench::units::{format_ns, three_figures};
use crate::export::grid::{align_right, plain_table, trimmed};
use core::fmt::Write;

/// The rate of both sides, which decides who is compared with whom.
pub(crate) const TOTAL: usize = 0;

/// What the terminal shows of each section, in this order.
pub(crate) const QUANTITIES: &[Quantity<RwCell>] = &[
    Quantity {
        title: "both sides, million acquisitions/s (median, ± half the range of rounds)",
        value: |cell| Some(cell.both.rate() / 1e6),
        show: |cell, value| with_spread(value, cell.both.throughput.as_ref()),
        more_is_better: true,
    },
    Quantity {
        title: "reads, million/s",
        value: |cell| Some(cell.reads.rate()? / 1e6),
        show: |cell, value| with_spread(value, cell.reads.throughput.as_ref()),
        more_is_better: true,
    },
    Quantity {
        title: "writes, million/s",
        value: |cell| Some(cell.writes.rate()? / 1e6),
        show: |cell, value| with_spread(value, cell.writes.throughput.as_ref()),
        more_is_better: true,
    },
    Quantity {
        title: "read latency p99.9",
        value: |cell| p999(&cell.reads),
        show: |_, value| format_ns(value),
        more_is_better: false,
    },
    Quantity {
        title: "longest wait to read, the unfinished ones counted",
        value: |cell| worst(&cell.reads),
        show: |_, value| format_ns(value),
        more_is_better: false,
    },
    Quantity {
        title: "write latency p99.9",
        value: |cell| p999(&cell.writes),
        show: |_, value| format_ns(value),
        more_is_better: false,
    },
    Quantity {
        title: "longest wait to write, the unfinished ones counted",
        value: |cell| worst(&cell.writes),
        show: |_, value| format_ns(value),
        more_is_better: false,
    },
    Quantity {
        title: "CPU seconds per million acquisitions",
        value: |cell| cell.both.cpu_s_per_million,
        show: |_, value| three_figures(value),
        more_is_better: false,
    },
    Quantity {
        title: "context switches per thousand acquisitions",
        value: |cell| {
            let switches = cell.both.voluntary_switches_per_s? + cell.both.involuntary_switches_per_s?;
            let rate = cell.both.rate();
            (rate > 0.0).then(|| switches / rate * 1e3)
        },
        show: |_, value| three_figures(value),
        more_is_better: false,
    },
    Quantity {
        title: "fairness: slowest thread / fastest thread (of those that read, of those that write)",
        value: fairness,
        show: |cell, value| match (cell.reads.fairness, cell.writes.fairness) {
            (Some(reads), Some(writes)) => format!("{:.2}, {:.2}", reads.min_over_max, writes.min_over_max),
            _ => format!("{value:.2}"),
        },
        more_is_better: true,
    },
];

fn with_spread(value: f64, rounds: Option<&Summary>) -> String {
    format!("{} ±{:.0}%", three_figures(value), rounds.map_or(0.0, Summary::spread) * 100.0)
}

fn measured(side: &Side) -> Option<&Latency> {
    side.latency.as_ref().filter(|waits| waits.samples > 0)
}

fn p999(side: &Side) -> Option<f64> {
    measured(side).map(|waits| waits.p999_ns as f64)
}

fn worst(side: &Side) -> Option<f64> {
    side.latency.as_ref().filter(|waits| waits.worst_ns > 0).map(|waits| waits.worst_ns as f64)
}

/// Among threads that do the same; the worse of both kinds if there are two.
fn fairness(cell: &RwCell) -> Option<f64> {
    let all = [cell.both.fairness, cell.reads.fairness, cell.writes.fairness];
    all.into_iter().flatten().map(|fairness| fairness.min_over_max).reduce(f64::min)
}

/// Everything, for the terminal. `bold` marks the best cells for the eye as well.
pub(crate) fn render(report: &RwReport, bold: bool) -> String {
    let mut text = uncontended(report);
    for profile in report.profiles() {
        for &mix in &report.setting.mixes {
            if report.section(&profile.name, mix).next().is_some() {
                section(&mut text, report, profile, mix, bold);
            }
        }
    }
    text
}

fn section(text: &mut String, report: &RwReport, profile: &Profile, mix: Mix, bold: bool) {
    let description = describe(report, profile);
    let (name, rest) = description.split_once(": ").unwrap_or((&description, ""));
    let _ = writeln!(text, "\n== {name}, {} ==\n{rest}", mix.name());
    for (index, quantity) in QUANTITIES.iter().enumerate() {
        text.push_str(&matrix(report, profile, mix, quantity, bold));
        if index == TOTAL {
            let cells = report.section(&profile.name, mix).map(|cell| &cell.both);
            text.push_str(&notes(cells, report.setting.drain_ms));
            text.push_str(&ratios(report, profile, mix));
        }
    }
}

/// The columns of a section.
pub(crate) fn columns(report: &RwReport, mix: Mix) -> Columns<'_> {
    let what = match mix {
        Mix::Drawn { .. } => "threads (per CPU)",
        Mix::Dedicated { .. } => "readers (per CPU)",
    };
    Columns { what, counts: &report.setting.threads, cpus: report.setting.cpus.len() }
}

fn matrix(report: &RwReport, profile: &Profile, mix: Mix, quantity: &Quantity<RwCell>, bold: bool) -> String {
    // A quantity that nothing has (nobody writes, or no latency pass was asked for) needs no table.
    if !report.section(&profile.name, mix).any(|cell| (quantity.value)(cell).is_some()) {
        return String::new();
    }
    let rows: Vec<&str> = report.locks.iter().map(|lock| lock.name.as_str()).collect();
    let text = grid(&columns(report, mix), quantity.title, &rows, |lock, column| {
        let sound = report.column(&profile.name, mix, column);
        figure(report.at(lock, &profile.name, mix, column), &sound, quantity)
    });
    if bold { emboldened(&text) } else { text }
}

/// The rate of a cell relative to that of the best peer of its column, if it is sound.
pub(crate) fn ratio(report: &RwReport, cell: &RwCell) -> Option<f64> {
    let column = cell.mix.column(cell.both.threads);
    let peer = report.fastest(Kind::Peer, &cell.both.profile, cell.mix, column)?.both.rate();
    (word(Some(&cell.both.state)).is_none() && peer > 0.0).then(|| cell.both.rate() / peer)
}

/// Our locks relative to the best peer of each column.
fn ratios(report: &RwReport, profile: &Profile, mix: Mix) -> String {
    let ours = report.locks.iter().filter(|lock| lock.kind == Kind::Stanchion);
    let ours: Vec<&str> = ours.map(|lock| lock.name.as_str()).collect();
    if ours.is_empty() || !report.locks.iter().any(|lock| lock.kind == Kind::Peer) {
        return String::new();
    }
    let title = "both sides, relative to the best peer of the column";
    grid(&columns(report, mix), title, &ours, |lock, column| {
        let cell = report.at(lock, &profile.name, mix, column);
        match word(cell.map(|cell| &cell.both.state)) {
            Some(word) => word.to_owned(),
            None => cell
                .and_then(|cell| ratio(report, cell))
                .map_or("-".to_owned(), |ratio| format!("{ratio:.2} ")),
        }
    })
}

fn uncontended(report: &RwReport) -> String {
    if report.uncontended.is_empty() {
        return String::new();
    }
    let peers = || report.uncontended.iter().filter(|row| report.kind(&row.lock) == Some(Kind::Peer));
    let best_read = peers().map(|row| row.read_ns.min).reduce(f64::min);
    let best_write = peers().map(|row| row.write_ns.min).reduce(f64::min);
    let mut table = plain_table();
    let titles = ["lock", "read ns", "median", "/ best peer", "write ns", "median", "/ best peer", "bytes"];
    table.set_header(titles);
    let ratio = |ns: f64, of: Option<f64>| of.map_or("-".to_owned(), |of| format!("{:.2}", ns / of));
    for row in &report.uncontended {
        let info = report.locks.iter().find(|lock| lock.name == row.lock);
        let more =
            info.is_some_and(|info| info.memory.is_some_and(|memory| !memory.description().is_empty()));
        let bytes = info.map(|info| format!("{}{}", info.bytes, if more { "+" } else { " " }));
        table.add_row([
            if row.lock == NO_LOCK { "(bare loop)".to_owned() } else { row.lock.clone() },
            format!("{:.2}", row.read_ns.min),
            format!("{:.2}", row.read_ns.median),
            ratio(row.read_ns.min, best_read),
            format!("{:.2}", row.write_ns.min),
            format!("{:.2}", row.write_ns.median),
            ratio(row.write_ns.min, best_write),
            bytes.unwrap_or_else(|| "- ".to_owned()),
        ]);
    }
    align_right(&mut table);
    let title = "uncontended lock + unlock by one thread, loop included (ns: best round; ratios of those)";
    let mut text = format!("{title}\n{}\n", trimmed(&table));
    for lock in &report.locks {
        let description = lock.memory.map(super::Memory::description).unwrap_or_default();
        if !description.is_empty() {
            let _ = writeln!(text, "+ {}: {description}", lock.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::State;
    use crate::bench::rw::testing::{HALF, full};

    #[test]
    fn each_section_tells_of_both_sides() {
        let text = render(&full(), false);
        let section = text.split("== short, 50 % reads ==").nth(1).expect("a section");
        for quantity in QUANTITIES {
            assert!(section.contains(quantity.title), "{}", quantity.title);
        }
        assert!(text.contains("== empty, 99 % reads ==") && text.contains("+ a: 64 B a thread"));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn ours_are_set_in_relation_to_the_best_peer() {
        let mut report = full();
        let stalled = report.cells.iter_mut().find(|cell| cell.both.threads == 4 && cell.mix == HALF);
        stalled.expect("a cell").both.state = State::Stalled;
        let text = render(&report, false);
        let table = text.split("== empty, 50 % reads ==").nth(1).expect("a section");
        assert!(table.contains("note: a stalled with 4 threads"), "{table}");
        let table = table.split("relative to the best peer").nth(1).expect("a table of ratios");
        let row = table.lines().find(|line| line.starts_with(" a ")).expect("a row");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["a", "2.00", "2.00", "stalled"]);
    }

    #[test]
    fn nothing_is_told_of_a_side_that_nobody_takes() {
        let mut report = full();
        for cell in &mut report.cells {
            cell.writes = Side::default();
        }
        let text = render(&report, false);
        assert!(text.contains("reads, million/s") && !text.contains("writes, million/s"));
    }
}
