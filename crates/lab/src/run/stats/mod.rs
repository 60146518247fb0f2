//! `--stats`: what the library counted at each lock, told when the program has ended and whenever SIGUSR2
//! comes. We read the file in which it counts; the program is not asked, and may have ended in any way.
mod file;
mod symbols;

use core::fmt::Write;
use file::{Lock, Process, Snapshot};
use lab_kit::export::grid::{self, trimmed};
use lab_kit::export::{Exports, Writer};
use lab_kit::units::{format_ns, percent, plural};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Functions of a stack that the table shows, and as much of their names, as templates have long ones.
const SHOWN: usize = 3;
const LONGEST: usize = 60;

/// Functions of the first use of locks, the innermost first, by process and address.
pub(crate) type Places = BTreeMap<(u32, String), Vec<String>>;

pub(crate) struct Stats {
    /// What the library writes.
    pub file: tempfile::TempPath,
    top: usize,
    json: Exports<Snapshot>,
}

impl Stats {
    /// A file for the library to make, by a name that can stand in `STANCHION`.
    pub(crate) fn prepare(top: usize, json: Option<&Path>, force: bool) -> Result<Self, String> {
        let file = tempfile::Builder::new()
            .prefix("stanchion-stats-")
            .tempfile()
            .map_err(|error| format!("--stats: no temporary file can be made: {error}"))?
            .into_temp_path();
        super::library::word_of("stats", &file)?;
        let writer: Writer<Snapshot> = lab_kit::export::json;
        let json = json.map(|path| (path.to_owned(), writer)).into_iter().collect();
        let json = Exports::open(json, force).map_err(|line| format!("--json: {line}"))?;
        Ok(Self { file, top, json })
    }

    /// What was counted up to now; the error is the one line to print.
    fn snapshot(&self) -> Result<Snapshot, String> {
        let bytes =
            fs::read(&self.file).map_err(|error| format!("--stats: {}: {error}", self.file.display()))?;
        if bytes.is_empty() {
            return Err("--stats: the library wrote nothing; the program did not load it".to_owned());
        }
        let mut snapshot = Snapshot::read(&bytes).map_err(|why| format!("--stats: the file {why}"))?;
        symbols::name_places(&mut snapshot);
        Ok(snapshot)
    }

    /// Where each lock was first taken, by process and address; of several sides, the one that waited most.
    pub(crate) fn places(&self) -> Places {
        let Ok(Snapshot { processes, locks, .. }) = self.snapshot() else { return Places::default() };
        let place = |lock: Lock| ((processes[lock.process].pid, lock.address), lock.first_taken);
        // The last one of an address is kept.
        locks.into_iter().rev().map(place).collect()
    }

    /// How things stand, or a line that says why nobody knows.
    pub(crate) fn told(&self) -> String {
        self.text(&self.snapshot())
    }

    fn text(&self, snapshot: &Result<Snapshot, String>) -> String {
        let text = |snapshot| text(snapshot, self.top);
        snapshot.as_ref().map_or_else(|line| format!("stanchion: {line}\n"), text)
    }

    /// The same at the end, when it is written to the file of `--json`, too.
    pub(crate) fn finish(&mut self) -> String {
        let snapshot = self.snapshot();
        let written = snapshot.as_ref().map_or(Ok(()), |snapshot| self.json.write(snapshot));
        let mut told = self.text(&snapshot);
        if let Err(error) = written {
            let _ = writeln!(told, "stanchion: --json: {error}");
        }
        told
    }
}

fn text(snapshot: &Snapshot, top: usize) -> String {
    let Snapshot { locks, other_acquisitions: others, processes_left_out, .. } = snapshot;
    let mut text = match locks.len() {
        0 => "stanchion: --stats: no lock was taken that is counted\n".to_owned(),
        all => format!(
            "stanchion: --stats: {} of {}, by the time spent waiting for them\n{}\n",
            all.min(top),
            plural(all, "lock"),
            table(snapshot, top)
        ),
    };
    text.extend(
        snapshot.left_to_libc.iter().map(|(what, number)| format!("left to libc: {number} {what}\n")),
    );
    if *others > 0 {
        let which = "of further locks, for which there was no room, are not told apart";
        let _ = writeln!(text, "{others} acquisitions {which}");
    }
    if *processes_left_out > 0 {
        let _ = writeln!(text, "{processes_left_out} processes beyond 64 were not counted");
    }
    if !locks.is_empty() {
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

fn cells((number, lock): (usize, &Lock)) -> Vec<String> {
    let share = percent(lock.contended as f64 / lock.acquisitions.max(1) as f64);
    let mut row = vec![number.to_string(), lock.kind.name().to_owned(), lock.acquisitions.to_string()];
    row.extend([share, tight(lock.waited_ns)]);
    for times in [&lock.wait, &lock.hold] {
        let times = [times.p50_ns, times.p99_ns, times.max_ns.map(|time| time as f64)];
        row.extend(times.map(|time| time.map_or_else(|| "-".to_owned(), tight)));
    }
    row
}

fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

fn table(snapshot: &Snapshot, top: usize) -> String {
    let header = ["#", "kind", "acquired", "contended", "waited"];
    let times = ["wait p50", "p99", "max", "hold p50", "p99", "max"];
    let locks = || (1..).zip(snapshot.locks.iter().take(top));
    let table = grid::table(header.into_iter().chain(times), locks().map(cells));
    let mut text = trimmed(&table) + "\nfirst taken in";
    for (number, lock) in locks() {
        let _ = write!(text, "\n{number:>3} ");
        if snapshot.processes.len() > 1 {
            let Process { pid, name } = &snapshot.processes[lock.process];
            let _ = write!(text, "[{name} {pid}] ");
        }
        let shown: Vec<String> = lock.first_taken.iter().take(SHOWN).map(|name| short(name)).collect();
        text.push_str(if shown.is_empty() { "?" } else { "" });
        text.push_str(&shown.join(" < "));
        let counts = [
            (lock.steals, "steals"),
            (lock.parks, "parks"),
            (lock.kicks, "kicks"),
            (lock.failed, "failed tries"),
            (if lock.lives > 1 { lock.lives } else { 0 }, "locks one after another"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        text.extend(counts.map(|(count, what)| format!("; {count} {what}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_library_did_not_write_is_told_in_one_line() {
        let stats = Stats::prepare(10, None, false).expect("a temporary file");
        assert!(stats.snapshot().expect_err("empty").contains("wrote nothing"));
        fs::write(&stats.file, "12345").expect("written");
        assert!(stats.snapshot().expect_err("short").contains("is not what the library"));
    }
}
