//! Reading what the library counted. Nothing in it is trusted: it is of a program that may do anything.
use crate::run::record::codec::Kind;
use core::mem::offset_of;
use serde::Serialize;
use stanchion_wire::Bytes;
use stanchion_wire::stats::{
    self, BUCKETS, FRAMES, File, Header, MAGIC, MODULES, PATH, PROCESSES, RECORDS, VERSION, lower,
};

const PROCESS: usize = size_of::<stats::Process>();
const RECORD: usize = size_of::<stats::Record>();
const MODULE: usize = size_of::<stats::Module>();
const AT_MODULES: usize = offset_of!(File, modules);
const AT_RECORDS: usize = offset_of!(File, records);

/// Why an object was left to libc, in the order of the counters.
const LEFT: [&str; 5] = [
    "robust mutexes",
    "priority-inheriting or -protecting mutexes",
    "process-shared mutexes",
    "process-shared reader-writer locks",
    "process-shared condition variables",
];

const SCHEMA: u32 = 1;

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Times {
    pub timed: u64,
    pub p50_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub max_ns: Option<u64>,
}

/// A lock, or one side of a reader-writer lock.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Lock {
    /// Its index in [`Snapshot::processes`].
    pub process: usize,
    pub address: String,
    pub kind: Kind,
    /// Return addresses of its first use, the innermost first, and the functions that they are in.
    #[serde(skip)]
    pub frames: Vec<u64>,
    pub first_taken: Vec<String>,
    /// How many locks were at the address one after another.
    pub lives: u64,
    pub acquisitions: u64,
    pub contended: u64,
    pub failed: u64,
    pub steals: u64,
    pub parks: u64,
    pub kicks: u64,
    /// What was timed, for all that waited.
    pub waited_ns: f64,
    pub wait: Times,
    pub hold: Times,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Process {
    pub pid: u32,
    pub name: String,
}

/// A piece of a process's address space.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub process: usize,
    pub start: u64,
    pub end: u64,
    /// Of `start` in the file.
    pub offset: u64,
    pub path: Vec<u8>,
}

/// All that was counted up to some moment.
#[derive(Debug, Serialize)]
pub(crate) struct Snapshot {
    schema: u32,
    pub processes: Vec<Process>,
    /// Processes that found no place to be counted in.
    pub processes_left_out: u32,
    #[serde(skip)]
    pub modules: Vec<Module>,
    /// In the order of the time that was spent waiting for them, then of their acquisitions.
    pub locks: Vec<Lock>,
    /// Acquisitions of locks for which there was no room.
    pub other_acquisitions: u64,
    pub left_to_libc: Vec<(&'static str, u64)>,
}

/// A histogram, and the mean of what is in it.
fn times(bytes: &[u8]) -> (Times, f64) {
    use stats::Times as T;
    let bytes = Bytes(bytes);
    let (timed, most) = (bytes.u64(offset_of!(T, number)), bytes.u64(offset_of!(T, most)));
    let bucket = |number| bytes.u32(offset_of!(T, buckets) + 4 * number);
    let buckets: [u32; BUCKETS] = core::array::from_fn(bucket);
    let quantile = |share| Some(quantile(&buckets, share)?.min(most as f64));
    let max_ns = (timed > 0).then_some(most);
    let sum = if timed == 0 { 0 } else { bytes.u64(offset_of!(T, sum)) };
    let times = Times { timed, p50_ns: quantile(0.5), p99_ns: quantile(0.99), max_ns };
    (times, sum as f64 / timed.max(1) as f64)
}

/// The time below which this share lies, to a quarter of a power of two at worst; none if nothing was timed.
fn quantile(buckets: &[u32], share: f64) -> Option<f64> {
    let all: u64 = buckets.iter().copied().map(u64::from).sum();
    let wanted = share * all as f64;
    let mut below = 0.0;
    for (number, &count) in buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
        let count = f64::from(count);
        if below + count >= wanted {
            let (from, to) = (lower(number) as f64, lower(number + 1) as f64);
            return Some(from + (to - from) * (wanted - below) / count);
        }
        below += count;
    }
    None
}

fn lock(record: &[u8], processes: usize) -> Option<Lock> {
    use stats::Record as R;
    let bytes = Bytes(record);
    let word = bytes.u32(offset_of!(R, kind));
    let kind = Kind::of(word & 0xffff)?;
    let process = bytes.u32(offset_of!(R, process)) as usize;
    let depth = ((word >> 16) as usize).min(FRAMES);
    let contended = bytes.u64(offset_of!(R, contended));
    let (wait, mean) = times(&record[offset_of!(R, waits)..]);
    Some(Lock {
        process: process.checked_sub(1).filter(|process| *process < processes)?,
        address: format!("{:#x}", bytes.u64(offset_of!(R, address))),
        kind,
        frames: (0..depth).map(|frame| bytes.u64(offset_of!(R, frames) + 8 * frame)).collect(),
        first_taken: Vec::new(),
        lives: bytes.u32(offset_of!(R, lives)).into(),
        acquisitions: bytes.u64(offset_of!(R, acquisitions)),
        contended,
        failed: bytes.u64(offset_of!(R, failed)),
        steals: bytes.u64(offset_of!(R, steals)),
        parks: bytes.u64(offset_of!(R, parks)),
        kicks: bytes.u64(offset_of!(R, kicks)),
        waited_ns: mean * contended as f64,
        wait,
        hold: times(&record[offset_of!(R, holds)..]).0,
    })
}

fn process(bytes: &[u8; PROCESS]) -> Process {
    use stats::Process as P;
    let bytes = Bytes(bytes);
    let name =
        bytes.text(offset_of!(P, name), bytes.u32(offset_of!(P, length)), PROCESS - offset_of!(P, name));
    Process { pid: bytes.u32(offset_of!(P, pid)), name: String::from_utf8_lossy(name).into_owned() }
}

fn module(bytes: &[u8; MODULE]) -> Option<Module> {
    use stats::Module as M;
    let bytes = Bytes(bytes);
    let length = bytes.u32(offset_of!(M, length));
    Some(Module {
        process: (bytes.u32(offset_of!(M, process)) as usize).checked_sub(1).filter(|_| length != 0)?,
        start: bytes.u64(offset_of!(M, start)),
        end: bytes.u64(offset_of!(M, end)),
        offset: bytes.u64(offset_of!(M, offset)),
        path: bytes.text(offset_of!(M, path), length, PATH).to_vec(),
    })
}

impl Snapshot {
    /// From the bytes of the file; the error says what is wrong with them. Functions have no names yet.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != size_of::<File>() || !bytes.starts_with(&MAGIC.to_le_bytes()) {
            return Err("is not what the library of this version writes".to_owned());
        }
        let header = Bytes(bytes);
        let version = header.u32(offset_of!(Header, version));
        // Sizes follow the version.
        let expected = [VERSION, RECORD as u32, RECORDS as u32, PROCESSES as u32, MODULES as u32];
        if !bytes[offset_of!(Header, version)..].starts_with(&expected.map(u32::to_le_bytes).concat()) {
            return Err(format!("is of version {version}; command and library must be of one version"));
        }
        let used = header.u32(offset_of!(Header, processes_used));
        let processes = bytes[offset_of!(File, processes)..AT_MODULES].as_chunks::<PROCESS>().0;
        let processes: Vec<Process> = processes.iter().take(used as usize).map(process).collect();
        let modules = bytes[AT_MODULES..AT_RECORDS].as_chunks::<MODULE>().0;
        let (records, _) = bytes[AT_RECORDS..].as_chunks::<RECORD>();
        let locks = records[1..].iter().filter_map(|record| lock(record, processes.len()));
        let mut locks: Vec<_> = locks.filter(|lock| lock.acquisitions != 0 || lock.failed != 0).collect();
        locks.sort_by(|a, b| {
            b.waited_ns.total_cmp(&a.waited_ns).then_with(|| b.acquisitions.cmp(&a.acquisitions))
        });
        let left = |at: usize| header.u64(offset_of!(Header, left) + 8 * at);
        let left = LEFT.into_iter().enumerate().map(|(at, why)| (why, left(at)));
        Ok(Self {
            schema: SCHEMA,
            processes_left_out: used.saturating_sub(PROCESSES as u32),
            processes,
            modules: modules.iter().filter_map(module).collect(),
            locks,
            other_acquisitions: Bytes(&records[0]).u64(offset_of!(stats::Record, acquisitions)),
            left_to_libc: left.filter(|(_, number)| *number > 0).collect(),
        })
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
