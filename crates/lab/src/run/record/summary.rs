//! What a trace has in it, summed up.
use super::codec::{Item, What};
use super::file::{self, Lock, Whole};
use super::raw::Chunk;
use core::cmp::Reverse;
use core::fmt::Write;
use lab_kit::column::Column;
use lab_kit::export::columns::{objects, table};
use lab_kit::export::grid::trimmed;
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

/// Of one thread: its events, how often it slept, the ticks of times that it did so in without those that it
/// waited for locks, and for how many nanoseconds of them it ran.
#[derive(Default)]
struct Own {
    events: u64,
    sleeps: u64,
    off: u64,
    ran: u64,
}

#[derive(Default)]
struct Sums {
    locks: BTreeMap<Lock, Sum>,
    /// By process and thread.
    threads: BTreeMap<(u32, u64), Own>,
    pids: BTreeMap<u32, u32>,
    /// From the first arrival to the last release.
    span: Option<(u64, u64)>,
}

impl Sums {
    /// None if the chunk has something else in it than it says.
    fn add(&mut self, chunk: &Chunk) -> Option<()> {
        let own = self.threads.entry((chunk.process, chunk.thread)).or_default();
        own.events += u64::from(chunk.number);
        self.pids.insert(chunk.process, chunk.pid);
        chunk.items(|item| {
            let event = match item {
                Item::Event(event) => event,
                Item::Mark(_, What::Off { asked, waited, ran, slept: true }) => {
                    own.sleeps += 1;
                    own.off = own.off.saturating_add(asked.saturating_sub(waited));
                    own.ran = own.ran.saturating_add(ran);
                    return;
                }
                Item::Mark(..) => return,
            };
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

type Row<'a> = (&'a Lock, &'a Sum);

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

    fn locks_by_events(&self) -> Vec<Row<'_>> {
        let mut locks: Vec<Row> = self.sums.locks.iter().collect();
        locks.sort_by_key(|(_, sum)| Reverse(sum.events));
        locks
    }

    /// Of locks. Where there are several processes, people read an address with its own.
    fn columns<'a>(&self) -> [Column<Row<'a>>; 8] {
        let (several, per_ns) = (self.sums.pids.len() > 1, self.whole.meta.ticks_per_ns);
        let address = |row: &Row| format!("{:#x}", row.0.1.address());
        let shown =
            move |row: &Row| if several { format!("{}:{}", row.0.0, address(row)) } else { address(row) };
        let time = |name, title, ticks: fn(&Sum) -> u64| {
            Column::new(name, move |row: &Row| ticks(row.1) as f64 / per_ns).titled(title).shown(format_ns)
        };
        [
            Column::new("process", |row: &Row| row.0.0),
            Column::new("address", address).titled("lock").shown_by(move |row| Some(shown(row))),
            Column::called("kind", |row: &Row| row.0.1.kind().name()),
            Column::called("events", |row: &Row| row.1.events),
            time("waited_ns", "waited", |sum| sum.waited),
            time("max_wait_ns", "max", |sum| sum.longest_wait),
            time("held_ns", "held", |sum| sum.held),
            time("max_hold_ns", "max", |sum| sum.longest_hold),
        ]
    }

    pub(crate) fn json(&self) -> String {
        let (Whole { meta, totals, .. }, Sums { threads, pids, .. }) = (&self.whole, &self.sums);
        let columns = self.columns();
        let threads = threads.iter().map(|((process, number), own)| {
            let asleep = (meta.ns(own.off) - own.ran as f64).max(0.0);
            json!({
                "process": process,
                "number": number,
                "events": own.events,
                "sleeps": own.sleeps,
                "asleep_ns": asleep,
            })
        });
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
            "locks": objects(&columns, self.locks_by_events()),
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
        let _ = writeln!(text, "{}", trimmed(&table(&self.columns(), &locks[..locks.len().min(TOP)])));
        if locks.len() > TOP {
            let _ = writeln!(text, "and {} more; --json has all", locks.len() - TOP);
        }
        text
    }
}
