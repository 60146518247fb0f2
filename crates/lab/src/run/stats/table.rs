//! What was counted, for standard error.
use super::file::{Process, Snapshot, Times};
use core::fmt::Write;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::units::{format_ns, percent};

/// Functions of a stack that the table shows, and as much of their names.
const SHOWN: usize = 3;
const LONGEST: usize = 60;

const COLUMNS: [&str; 11] =
    ["#", "kind", "acquired", "contended", "waited", "wait p50", "p99", "max", "hold p50", "p99", "max"];

pub(crate) fn text(snapshot: &Snapshot, top: usize) -> String {
    let mut text = String::new();
    let locks = snapshot.locks.len();
    if locks == 0 {
        text.push_str("stanchion: --stats: no lock was taken that is counted\n");
    } else {
        let _ = writeln!(
            text,
            "stanchion: --stats: {} of {locks} locks, by the time spent waiting for them\n{}",
            locks.min(top),
            table(snapshot, top)
        );
    }
    for (what, number) in &snapshot.left_to_libc {
        let _ = writeln!(text, "left to libc: {number} {what}");
    }
    if snapshot.other_acquisitions > 0 {
        let _ = writeln!(
            text,
            "{} acquisitions of further locks, for which there was no room, are not told apart",
            snapshot.other_acquisitions
        );
    }
    if snapshot.processes_left_out > 0 {
        let _ = writeln!(text, "{} processes beyond 64 were not counted", snapshot.processes_left_out);
    }
    if locks > 0 {
        text.push_str(
            "Counted is every acquisition, but for the last 95 at most of a mutex with more than a thousand. Timed are the\n\
             first 256 contended ones of a lock, one in 8 after that, and one hold in about 64; a time includes a\n\
             reading of the clock. What counting costs: stanchion run --compare --lock stanchion,stanchion+stats\n",
        );
    }
    text
}

/// A time without a blank, so that a row fits a terminal.
fn tight(ns: f64) -> String {
    format_ns(ns).replace(' ', "")
}

fn cells(times: &Times) -> [String; 3] {
    let max = times.max_ns.map(|time| time as f64);
    [times.p50_ns, times.p99_ns, max].map(|time| time.map_or_else(|| "-".to_owned(), tight))
}

/// A name that is not too long for a line, as templates are.
fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

fn table(snapshot: &Snapshot, top: usize) -> String {
    let mut table = plain_table();
    table.set_header(COLUMNS);
    let mut places = String::new();
    for (number, lock) in (1..).zip(snapshot.locks.iter().take(top)) {
        let share = percent(lock.contended as f64 / lock.acquisitions.max(1) as f64);
        let mut row = vec![number.to_string(), lock.kind.name().to_owned(), lock.acquisitions.to_string()];
        row.extend([share, tight(lock.waited_ns)]);
        row.extend(cells(&lock.wait).into_iter().chain(cells(&lock.hold)));
        table.add_row(row);
        let _ = write!(places, "\n{number:>3} ");
        if let Process { pid, name } = &snapshot.processes[lock.process]
            && snapshot.processes.len() > 1
        {
            let _ = write!(places, "[{name} {pid}] ");
        }
        let shown: Vec<String> = lock.first_taken.iter().take(SHOWN).map(|name| short(name)).collect();
        places.push_str(if shown.is_empty() { "?" } else { "" });
        places.push_str(&shown.join(" < "));
        let counts = [
            (lock.steals, "steals"),
            (lock.parks, "parks"),
            (lock.kicks, "kicks"),
            (lock.failed, "failed tries"),
            (if lock.lives > 1 { lock.lives } else { 0 }, "locks one after another"),
        ];
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            let _ = write!(places, "; {count} {what}");
        }
    }
    align_right(&mut table);
    format!("{}\nfirst taken in{places}", trimmed(&table))
}
