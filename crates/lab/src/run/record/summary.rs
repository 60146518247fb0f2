//! What a trace has in it, summed up.
use super::file::{self, Lock, Whole};
use super::raw::Chunk;
use core::cmp::Reverse;
use core::fmt::Write;
use lab_kit::export::grid::{table, trimmed};
use lab_kit::units::{format_ns, plural};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

const TOP: usize = 10;

const SCHEMA: u32 = 1;

/// Of one lock, in ticks.
#[derive(Default)]
struct Sum {
    events: u64,
    waited: u64,
    held: u64,
    longest_wait: u64,
    longest_hold: u64,
}

#[derive(Default)]
struct Sums {
    locks: BTreeMap<Lock, Sum>,
    /// Events by process and thread.
    threads: BTreeMap<(u32, u64), u64>,
    pids: BTreeMap<u32, u32>,
    /// From the first arrival to the last release.
    span: Option<(u64, u64)>,
}

impl Sums {
    /// None if the chunk has something else in it than it says.
    fn add(&mut self, chunk: &Chunk) -> Option<()> {
        *self.threads.entry((chunk.process, chunk.thread)).or_default() += u64::from(chunk.number);
        self.pids.insert(chunk.process, chunk.pid);
        chunk.events(|event| {
            let sum = self.locks.entry((chunk.process, event.key)).or_default();
            sum.events += 1;
            sum.waited = sum.waited.saturating_add(event.wait);
            sum.held = sum.held.saturating_add(event.hold);
            sum.longest_wait = sum.longest_wait.max(event.wait);
            sum.longest_hold = sum.longest_hold.max(event.hold);
            let (first, last) = self.span.unwrap_or((event.came, 0));
            self.span = Some((first.min(event.came), last.max(event.released())));
        })
    }
}

pub(crate) struct Summary {
    whole: Whole,
    sums: Sums,
}

impl Summary {
    pub(crate) fn of(trace: &Path) -> Result<Self, String> {
        let mut sums = Sums::default();
        let mut whole = file::read_path(trace, |chunk| sums.add(chunk))?;
        // The table of locks must have those of the events, each once, in any order.
        whole.locks.sort_unstable();
        if !whole.locks.iter().eq(sums.locks.keys()) {
            return Err("is damaged".to_owned());
        }
        Ok(Self { whole, sums })
    }

    fn span_ns(&self) -> f64 {
        self.sums.span.map_or(0.0, |(first, last)| self.whole.meta.ns(last - first))
    }

    fn locks_by_events(&self) -> Vec<(&Lock, &Sum)> {
        let mut locks: Vec<(&Lock, &Sum)> = self.sums.locks.iter().collect();
        locks.sort_by_key(|(_, sum)| Reverse(sum.events));
        locks
    }

    pub(crate) fn json(&self) -> String {
        let (Whole { meta, totals, .. }, Sums { threads, pids, .. }) = (&self.whole, &self.sums);
        let lock = |((process, key), sum): (&Lock, &Sum)| {
            json!({
                "process": process,
                "address": format!("{:#x}", key.address()),
                "kind": key.kind(),
                "events": sum.events,
                "waited_ns": meta.ns(sum.waited),
                "held_ns": meta.ns(sum.held),
                "max_wait_ns": meta.ns(sum.longest_wait),
                "max_hold_ns": meta.ns(sum.longest_hold),
            })
        };
        let threads = threads.iter().map(
            |((process, number), events)| json!({ "process": process, "number": number, "events": events }),
        );
        let processes = pids.iter().map(|(number, pid)| json!({ "number": number, "pid": pid }));
        lab_kit::export::json(&json!({
            "schema": SCHEMA,
            "span_ns": self.span_ns(),
            "events": totals.events,
            "dropped": totals.dropped,
            "full": totals.is_full,
            "destroyed_pieces": totals.damaged,
            "processes": processes.collect::<Vec<_>>(),
            "threads": threads.collect::<Vec<_>>(),
            "locks": self.locks_by_events().into_iter().map(lock).collect::<Vec<_>>(),
            "meta": meta,
        }))
    }

    pub(crate) fn text(&self) -> String {
        let (Whole { meta, totals, .. }, Sums { threads, pids, .. }) = (&self.whole, &self.sums);
        let locks = self.locks_by_events();
        let (program, date, events) = (meta.program.join(" "), &meta.provenance.date, totals.events);
        let of = format!("{} and {}", plural(locks.len(), "lock"), plural(threads.len(), "thread"));
        let (processes, es) = (pids.len(), if pids.len() == 1 { "" } else { "es" });
        let span = format_ns(self.span_ns());
        let mut text =
            format!("{program}, {date}\n{events} events of {of} in {processes} process{es} over {span}\n");
        if let Some(line) = totals.missing() {
            let _ = writeln!(text, "{line}");
        }
        if locks.is_empty() {
            return text;
        }
        let row = |((process, key), sum): &(&Lock, &Sum)| {
            let process = if pids.len() > 1 { format!("{process}:") } else { String::new() };
            let lock = format!("{process}{:#x}", key.address());
            let times = [sum.waited, sum.longest_wait, sum.held, sum.longest_hold];
            let times = times.map(|ticks| format_ns(meta.ns(ticks)));
            [lock, key.kind().name().to_owned(), sum.events.to_string()].into_iter().chain(times)
        };
        let header = ["lock", "kind", "events", "waited", "max", "held", "max"];
        let _ = writeln!(text, "{}", trimmed(&table(header, locks.iter().take(TOP).map(row))));
        if locks.len() > TOP {
            let _ = writeln!(text, "and {} more; --json has all", locks.len() - TOP);
        }
        text
    }
}
