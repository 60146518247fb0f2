//! What was counted, as a table and as JSON.
use super::file::{Kind, LEFT, Lock, Process, Snapshot, Times};
use super::symbols::Symbols;
use comfy_table::CellAlignment;
use core::fmt::Write;
use lab_kit::export::grid::{plain_table, trimmed};
use lab_kit::units::{format_ns, percent};
use serde::Serialize;

/// Functions of a stack that the table shows, and as much of their names.
const SHOWN: usize = 3;
const LONGEST: usize = 60;

/// Raised when something in the JSON means something else.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
pub(crate) struct Report {
    schema: u32,
    processes: Vec<Process>,
    /// Processes that found no place to be counted in.
    processes_left_out: u32,
    locks: Vec<Row>,
    /// Acquisitions of locks for which there was no room.
    other_acquisitions: u64,
    /// Initialisations left to libc, by reason.
    left_to_libc: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct Row {
    process: usize,
    address: String,
    kind: Kind,
    /// Where it was first taken, the innermost first.
    first_taken: Vec<String>,
    /// How many locks were at the address one after another.
    lives: u64,
    acquisitions: u64,
    contended: u64,
    failed: u64,
    steals: u64,
    parks: u64,
    kicks: u64,
    /// Extrapolated from those that were timed.
    waited_ns: f64,
    wait: Span,
    hold: Span,
}

#[derive(Serialize)]
struct Span {
    timed: u64,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
    max_ns: Option<u64>,
}

impl Span {
    fn of(times: &Times) -> Self {
        Self {
            timed: times.number,
            p50_ns: times.quantile(0.5),
            p99_ns: times.quantile(0.99),
            max_ns: (times.number > 0).then_some(times.most),
        }
    }

    fn cells(&self) -> [String; 3] {
        let cell = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), tight);
        [cell(self.p50_ns), cell(self.p99_ns), cell(self.max_ns.map(|time| time as f64))]
    }
}

/// A time without a blank, so that a row fits a terminal.
fn tight(ns: f64) -> String {
    format_ns(ns).replace(' ', "")
}

/// A name that is not too long for a line, as templates are.
fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

impl Report {
    /// The locks in the order of the time that was spent waiting for them, then of their acquisitions.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let mut locks: Vec<&Lock> = snapshot.locks.iter().collect();
        locks.sort_by(|a, b| {
            b.waited().total_cmp(&a.waited()).then_with(|| b.acquisitions.cmp(&a.acquisitions))
        });
        let mut symbols = Symbols::default();
        let row = |lock: &Lock| Row {
            process: lock.process,
            address: format!("{:#x}", lock.address),
            kind: lock.kind,
            first_taken: symbols.functions(snapshot, lock.process, &lock.frames),
            lives: lock.lives,
            acquisitions: lock.acquisitions,
            contended: lock.contended,
            failed: lock.failed,
            steals: lock.steals,
            parks: lock.parks,
            kicks: lock.kicks,
            waited_ns: lock.waited(),
            wait: Span::of(&lock.waits),
            hold: Span::of(&lock.holds),
        };
        Self {
            schema: SCHEMA,
            processes: snapshot.processes.clone(),
            processes_left_out: snapshot.processes_left_out,
            locks: locks.into_iter().map(row).collect(),
            other_acquisitions: snapshot.others,
            left_to_libc: LEFT.into_iter().zip(snapshot.left).filter(|(_, number)| *number > 0).collect(),
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string_pretty(self).map_or_else(|error| error.to_string(), |text| text + "\n")
    }

    /// For standard error.
    pub(crate) fn text(&self, top: usize) -> String {
        let mut text = String::new();
        if self.locks.is_empty() {
            text.push_str("stanchion: --stats: no lock was taken that is counted\n");
        } else {
            let _ = writeln!(
                text,
                "stanchion: --stats: {} of {} locks, by the time spent waiting for them",
                self.locks.len().min(top),
                self.locks.len()
            );
            let _ = writeln!(text, "{}", self.table(top));
        }
        for (what, number) in &self.left_to_libc {
            let _ = writeln!(text, "left to libc: {number} {what}");
        }
        if self.other_acquisitions > 0 {
            let _ = writeln!(
                text,
                "{} acquisitions of further locks, for which there was no room, are not told apart",
                self.other_acquisitions
            );
        }
        if self.processes_left_out > 0 {
            let _ = writeln!(text, "{} processes beyond 64 were not counted", self.processes_left_out);
        }
        if !self.locks.is_empty() {
            text.push_str(
                "Counted is every acquisition, but for the last 95 at most of a mutex with more than a thousand. Timed are the\n\
                 first 256 contended ones of a lock, one in 8 after that, and one hold in about 64; a time includes a\n\
                 reading of the clock. What counting costs: stanchion run --compare --lock stanchion,stanchion+stats\n",
            );
        }
        text
    }

    fn table(&self, top: usize) -> String {
        let mut table = plain_table();
        table.set_header([
            "#",
            "kind",
            "acquired",
            "contended",
            "waited",
            "wait p50",
            "p99",
            "max",
            "hold p50",
            "p99",
            "max",
        ]);
        for (number, row) in self.locks.iter().take(top).enumerate() {
            let kind = match row.kind {
                Kind::Mutex => "mutex",
                Kind::Read => "read",
                Kind::Write => "write",
            };
            let mut cells = vec![(number + 1).to_string(), kind.to_owned(), row.acquisitions.to_string()];
            cells.push(percent(row.contended as f64 / row.acquisitions.max(1) as f64));
            cells.push(tight(row.waited_ns));
            cells.extend(row.wait.cells());
            cells.extend(row.hold.cells());
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut text = trimmed(&table);
        text.push_str("\nfirst taken in\n");
        for (number, row) in self.locks.iter().take(top).enumerate() {
            let _ = write!(text, "{:>3} ", number + 1);
            if self.processes.len() > 1
                && let Some(Process { pid, name }) = self.processes.get(row.process)
            {
                let _ = write!(text, "[{name} {pid}] ");
            }
            let shown: Vec<String> = row.first_taken.iter().take(SHOWN).map(|name| short(name)).collect();
            let _ = write!(text, "{}", if shown.is_empty() { "?".to_owned() } else { shown.join(" < ") });
            let counts = [
                (row.steals, "steals"),
                (row.parks, "parks"),
                (row.kicks, "kicks"),
                (row.failed, "failed tries"),
                (if row.lives > 1 { row.lives } else { 0 }, "locks one after another"),
            ];
            for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
                let _ = write!(text, "; {count} {what}");
            }
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text
    }
}
