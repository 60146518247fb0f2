//! `--record`: a trace of the locks, in a file of its own; `--show` says what is in one.
//!
//! The library writes events ([`codec`]) to a file that the program maps ([`raw`]). When the program has
//! ended, in whatever way, that becomes the file that was asked for ([`file`]), with checksums. [`summary`]
//! is what there is to say of it; [`cost`] what recording takes itself.
pub(crate) mod codec;
pub(crate) mod cost;
pub(crate) mod file;
pub(crate) mod raw;
mod summary;

use crate::bench::{Activity, available_cpus};
use core::fmt::Write as _;
use core::time::Duration;
use cost::Costs;
use file::{CpuTime, Meta, Totals};
use lab_kit::export::{Exports, Later, Writer};
use lab_kit::output::quoted;
use lab_kit::output::{no_stream, print};
use lab_kit::provenance::Provenance;
use raw::Header;
use stanchion::native::ticks;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use summary::Summary;

/// The rate of ticks is measured over this at least.
const LONG_ENOUGH: u64 = 50_000_000;
const NOTHING: &str = "nothing was recorded; the program did not load the library, or took no lock";

pub(crate) struct Record {
    path: PathBuf,
    trace: Later,
    /// What the library writes, beside the other: there is room for both on one disk, or there is not.
    pub raw: tempfile::NamedTempFile,
    limit: u64,
    is_quiet: bool,
    /// What recording costs, if that is known.
    pub cost: Option<Costs>,
    cpus: Vec<usize>,
    before: Activity,
    cpu: Option<CpuTime>,
}

impl Record {
    /// Makes both files. A trace that is there already stays until there is another one.
    pub(crate) fn prepare(path: &Path, mib: u64, force: bool, is_quiet: bool) -> Result<Self, String> {
        let message = |error: io::Error| format!("--record {}: {error}", path.display());
        no_stream(path).map_err(|why| format!("--record: {why}"))?;
        // By a path from the root because the program may run elsewhere.
        let path = std::path::absolute(path).map_err(message)?;
        super::library::word_of("record", &path)?;
        let dir = path.parent().unwrap_or(Path::new("/"));
        let raw = tempfile::Builder::new().prefix(".stanchion-record-").tempfile_in(dir).map_err(message)?;
        let limit = mib << 20;
        raw.as_file().set_len(limit).map_err(message)?;
        raw.as_file().write_all_at(&raw::first_page(limit / raw::PAGE), 0).map_err(message)?;
        let trace = Later::open(path.clone(), force).map_err(|why| format!("--record: {why}"))?;
        let cpus = available_cpus();
        let before = Activity::sample(&cpus);
        Ok(Self { path, trace, raw, limit, is_quiet, cost: None, cpus, before, cpu: None })
    }

    /// The program has just ended. Nothing is known of the CPUs where the system does not tell how busy they
    /// are.
    pub(crate) fn note_end(&mut self) {
        let (before, now) = (&self.before, Activity::sample(&self.cpus));
        let cpu = CpuTime {
            wall: (now.at - before.at).as_secs_f64() * 1e9,
            own: (now.own - before.own) * 1e9,
            others: now.others_since(before) * 1e9,
            cpus: u32::try_from(self.cpus.len()).ok(),
        };
        self.cpu = (now.busy > 0.0).then_some(cpu);
    }

    /// Writes the trace of a program that has ended. Returns what there is to tell, or why there is none.
    pub(crate) fn finish(self, program: &[OsString]) -> Result<String, String> {
        let (path, is_quiet) = (quoted(&self.path.display().to_string()), self.is_quiet);
        let totals = self.write(program)?;
        let events =
            format!("{} events in {path}; `stanchion run --show {path}` sums them up", totals.events);
        let mut told = String::new();
        for line in (!is_quiet).then_some(events).iter().chain(&totals.missing()) {
            let _ = writeln!(told, "stanchion: --record: {line}");
        }
        Ok(told)
    }

    fn write(self, program: &[OsString]) -> Result<Totals, String> {
        let raw = self.raw.as_file();
        let Some(header) = Header::read(raw).map_err(|why| format!("the program's file {why}"))? else {
            return Err(NOTHING.to_owned());
        };
        let meta = Meta {
            ticks_per_ns: rate(&header),
            limit: self.limit,
            program: program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            provenance: Provenance::collect(0),
            cost: self.cost,
            cpu: self.cpu,
        };
        let written = self.trace.write(|file| file::convert(raw, &header, &meta, file));
        written.map_err(|error| {
            let kept =
                self.raw.keep().map(|(_, path)| format!("; what the library wrote is in {}", path.display()));
            format!("{}: {error}{}", self.path.display(), kept.unwrap_or_default())
        })
    }
}

/// Ticks per nanosecond since the library began.
fn rate(header: &Header) -> f64 {
    if header.is_nanos {
        return 1.0;
    }
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let since = now().saturating_sub(header.nanos);
    std::thread::sleep(Duration::from_nanos(LONG_ENOUGH.saturating_sub(since)));
    let (ticks, nanos) = (ticks::now().saturating_sub(header.ticks), now().saturating_sub(header.nanos));
    if ticks == 0 || nanos == 0 { 1.0 } else { ticks as f64 / nanos as f64 }
}

/// Sums a trace up, with JSON in a file, or on standard output for `-`. The error is the one line to print.
pub(crate) fn show(trace: &Path, json: Option<&Path>, force: bool) -> Result<ExitCode, String> {
    let summary = Summary::of(trace).map_err(|why| format!("--show {}: {why}", trace.display()))?;
    if json == Some(Path::new("-")) {
        return Ok(print(&summary.json(), ExitCode::SUCCESS));
    }
    if let Some(path) = json {
        let json: Writer<Summary> = Summary::json;
        Exports::open(vec![(path.to_owned(), json)], force)?.write(&summary)?;
    }
    Ok(print(&summary.text(), ExitCode::SUCCESS))
}

#[cfg(test)]
#[path = "record_tests.rs"]
pub(crate) mod tests;
