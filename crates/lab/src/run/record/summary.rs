//! What a trace has in it, summed up.
use super::codec::{Key, Kind};
use super::file::{Lock, Meta, Totals, Whole};
use super::missing;
use super::raw::Chunk;
use core::fmt::Write;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::units::format_ns;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of the table.
const TOP: usize = 10;

/// Raised when something in the JSON means something else.
const SCHEMA: u32 = 1;

#[derive(Clone, Copy, Default)]
struct Sum {
    events: u64,
    waited: u64,
    held: u64,
    longest_wait: u64,
    longest_hold: u64,
}

/// Sums while the file is read.
#[derive(Default)]
pub(crate) struct Sums {
    locks: BTreeMap<Lock, Sum>,
    /// Events by process and thread.
    threads: BTreeMap<(u32, u64), u64>,
    pids: BTreeMap<u32, u32>,
    span: Option<(u64, u64)>,
}

impl Sums {
    /// None if the chunk has something else in it than it says.
    pub(crate) fn add(&mut self, chunk: &Chunk) -> Option<()> {
        *self.threads.entry((chunk.process, chunk.thread)).or_default() += u64::from(chunk.number);
        self.pids.insert(chunk.process, chunk.pid);
        chunk.events(|event| {
            let sum = self.locks.entry((chunk.process, event.key)).or_default();
            sum.events += 1;
            sum.waited = sum.waited.saturating_add(event.wait);
            sum.held = sum.held.saturating_add(event.hold);
            sum.longest_wait = sum.longest_wait.max(event.wait);
            sum.longest_hold = sum.longest_hold.max(event.hold);
            let end = event.came.saturating_add(event.wait).saturating_add(event.hold);
            let (first, last) = self.span.get_or_insert((event.came, end));
            (*first, *last) = ((*first).min(event.came), (*last).max(end));
        })
    }

    /// None if the file's table has other locks in it than its events.
    pub(crate) fn finish(self, whole: Whole) -> Option<Summary> {
        let known: BTreeSet<&Lock> = whole.locks.iter().collect();
        if known.len() != whole.locks.len() || !known.into_iter().eq(self.locks.keys()) {
            return None;
        }
        let Whole { meta, totals, .. } = whole;
        let ns = |ticks: u64| ticks as f64 / meta.ticks_per_ns;
        let row = |((process, key), sum): ((u32, Key), Sum)| Row {
            process,
            address: format!("{:#x}", key.address()),
            kind: key.kind(),
            events: sum.events,
            waited_ns: ns(sum.waited),
            held_ns: ns(sum.held),
            max_wait_ns: ns(sum.longest_wait),
            max_hold_ns: ns(sum.longest_hold),
        };
        let mut locks: Vec<Row> = self.locks.into_iter().map(row).collect();
        locks.sort_by_key(|row| core::cmp::Reverse(row.events));
        let thread = |((process, number), events)| Thread { process, number, events };
        Some(Summary {
            schema: SCHEMA,
            span_ns: self.span.map_or(0.0, |(first, last)| ns(last - first)),
            totals,
            processes: self.pids.into_iter().map(|(number, pid)| Process { number, pid }).collect(),
            threads: self.threads.into_iter().map(thread).collect(),
            locks,
            meta,
        })
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    schema: u32,
    /// From the first arrival to the last release.
    span_ns: f64,
    #[serde(flatten)]
    totals: Totals,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    /// By events.
    locks: Vec<Row>,
    meta: Meta,
}

#[derive(Debug, Serialize)]
struct Process {
    number: u32,
    pid: u32,
}

#[derive(Debug, Serialize)]
struct Thread {
    process: u32,
    number: u64,
    events: u64,
}

#[derive(Debug, Serialize)]
struct Row {
    process: u32,
    address: String,
    kind: Kind,
    events: u64,
    waited_ns: f64,
    held_ns: f64,
    max_wait_ns: f64,
    max_hold_ns: f64,
}

fn plural(count: usize, what: &str, more: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { more })
}

impl Summary {
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}, {}\n", self.meta.program.join(" "), self.meta.provenance.date);
        let _ = writeln!(
            text,
            "{} events of {} and {} in {} over {}",
            self.totals.events,
            plural(self.locks.len(), "lock", "s"),
            plural(self.threads.len(), "thread", "s"),
            plural(self.processes.len(), "process", "es"),
            format_ns(self.span_ns)
        );
        if let Some(line) = missing(&self.totals) {
            let _ = writeln!(text, "{line}");
        }
        if self.locks.is_empty() {
            return text;
        }
        let mut table = plain_table();
        table.set_header(["lock", "kind", "events", "waited", "max", "held", "max"]);
        for row in self.locks.iter().take(TOP) {
            let process = if self.processes.len() > 1 { format!("{}:", row.process) } else { String::new() };
            let mut cells = vec![process + &row.address, row.kind.name().to_owned(), row.events.to_string()];
            cells.extend([row.waited_ns, row.max_wait_ns, row.held_ns, row.max_hold_ns].map(format_ns));
            table.add_row(cells);
        }
        align_right(&mut table);
        let _ = writeln!(text, "{}", trimmed(&table));
        if self.locks.len() > TOP {
            let _ = writeln!(text, "and {} more; --json has all", self.locks.len() - TOP);
        }
        text
    }
}
