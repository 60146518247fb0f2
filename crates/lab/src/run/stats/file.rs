//! Reading what the library counted. A file of another version is refused, and nothing in a file is trusted:
//! it was written by a program that may do anything.
use core::mem::offset_of;
use serde::Serialize;
use stanchion_wire::Bytes;
use stanchion_wire::stats::{
    self, BUCKETS, FRAMES, File, Header, MAGIC, MODULES, PATH, PROCESSES, RECORDS, VERSION, lower,
};

const RECORD: usize = size_of::<stats::Record>();
const MODULE: usize = size_of::<stats::Module>();
const AT_MODULES: usize = offset_of!(File, modules);
const AT_RECORDS: usize = offset_of!(File, records);

/// Why an object was left to libc, in the order of the counters.
pub(crate) const LEFT: [&str; 5] = [
    "robust mutexes",
    "priority-inheriting or -protecting mutexes",
    "process-shared mutexes",
    "process-shared reader-writer locks",
    "process-shared condition variables",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Mutex,
    Read,
    Write,
}

/// Times in nanoseconds, as a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub number: u64,
    pub sum: u64,
    pub most: u64,
    pub buckets: Vec<u32>,
}

/// A lock, or one side of a reader-writer lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    /// Its index in [`Snapshot::processes`].
    pub process: usize,
    pub address: u64,
    pub kind: Kind,
    /// Return addresses of its first use, the innermost first.
    pub frames: Vec<u64>,
    pub lives: u64,
    pub acquisitions: u64,
    pub contended: u64,
    pub failed: u64,
    pub steals: u64,
    pub parks: u64,
    pub kicks: u64,
    pub waits: Times,
    pub holds: Times,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Process {
    pub pid: u32,
    pub name: String,
}

/// A piece of a process's address space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub process: usize,
    pub start: u64,
    pub end: u64,
    /// Of `start` in the file.
    pub offset: u64,
    pub path: Vec<u8>,
}

/// All that was counted up to some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub processes: Vec<Process>,
    pub processes_left_out: u32,
    pub modules: Vec<Module>,
    pub locks: Vec<Lock>,
    /// Acquisitions of locks for which there was no room.
    pub others: u64,
    pub left: [u64; LEFT.len()],
}

fn times(bytes: &Bytes, at: usize) -> Times {
    use stats::Times as T;
    Times {
        number: bytes.u64(at + offset_of!(T, number)),
        sum: bytes.u64(at + offset_of!(T, sum)),
        most: bytes.u64(at + offset_of!(T, most)),
        buckets: (0..BUCKETS).map(|bucket| bytes.u32(at + offset_of!(T, buckets) + 4 * bucket)).collect(),
    }
}

fn lock(bytes: &Bytes, at: usize, processes: usize) -> Option<Lock> {
    use stats::Record as R;
    let word = bytes.u32(at + offset_of!(R, kind));
    let kind = match word & 0xffff {
        1 => Kind::Mutex,
        2 => Kind::Read,
        3 => Kind::Write,
        _ => return None,
    };
    let process = bytes.u32(at + offset_of!(R, process)) as usize;
    let depth = ((word >> 16) as usize).min(FRAMES);
    Some(Lock {
        process: process.checked_sub(1).filter(|process| *process < processes)?,
        address: bytes.u64(at + offset_of!(R, address)),
        kind,
        frames: (0..depth).map(|frame| bytes.u64(at + offset_of!(R, frames) + 8 * frame)).collect(),
        lives: bytes.u32(at + offset_of!(R, lives)).into(),
        acquisitions: bytes.u64(at + offset_of!(R, acquisitions)),
        contended: bytes.u64(at + offset_of!(R, contended)),
        failed: bytes.u64(at + offset_of!(R, failed)),
        steals: bytes.u64(at + offset_of!(R, steals)),
        parks: bytes.u64(at + offset_of!(R, parks)),
        kicks: bytes.u64(at + offset_of!(R, kicks)),
        waits: times(bytes, at + offset_of!(R, waits)),
        holds: times(bytes, at + offset_of!(R, holds)),
    })
}

fn process(bytes: &Bytes, at: usize) -> Process {
    use stats::Process as P;
    let length = bytes.u32(at + offset_of!(P, length));
    let name = bytes.text(at + offset_of!(P, name), length, size_of::<P>() - offset_of!(P, name));
    Process { pid: bytes.u32(at + offset_of!(P, pid)), name: String::from_utf8_lossy(name).into_owned() }
}

fn module(bytes: &Bytes, at: usize) -> Option<Module> {
    use stats::Module as M;
    let length = bytes.u32(at + offset_of!(M, length));
    Some(Module {
        process: (bytes.u32(at + offset_of!(M, process)) as usize).checked_sub(1).filter(|_| length != 0)?,
        start: bytes.u64(at + offset_of!(M, start)),
        end: bytes.u64(at + offset_of!(M, end)),
        offset: bytes.u64(at + offset_of!(M, offset)),
        path: bytes.text(at + offset_of!(M, path), length, PATH).to_vec(),
    })
}

impl Snapshot {
    /// From the bytes of the file; the error says what is wrong with them.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != size_of::<File>() || !bytes.starts_with(&MAGIC.to_le_bytes()) {
            return Err("is not what the library of this version writes".to_owned());
        }
        let bytes = &Bytes(bytes);
        let version = bytes.u32(offset_of!(Header, version));
        let expected = [
            (offset_of!(Header, version), VERSION),
            (offset_of!(Header, record_size), RECORD as u32),
            (offset_of!(Header, records), RECORDS as u32),
            (offset_of!(Header, processes), PROCESSES as u32),
            (offset_of!(Header, modules), MODULES as u32),
        ];
        if expected.iter().any(|&(at, value)| bytes.u32(at) != value) {
            return Err(format!("is of version {version}; command and library must be of one version"));
        }
        let used = bytes.u32(offset_of!(Header, processes_used));
        let processes: Vec<Process> = (0..PROCESSES.min(used as usize))
            .map(|number| process(bytes, offset_of!(File, processes) + size_of::<stats::Process>() * number))
            .collect();
        let modules = (0..MODULES).filter_map(|number| module(bytes, AT_MODULES + MODULE * number));
        let locks =
            (1..RECORDS).filter_map(|number| lock(bytes, AT_RECORDS + RECORD * number, processes.len()));
        Ok(Self {
            locks: locks.filter(Lock::was_used).collect(),
            modules: modules.collect(),
            processes_left_out: used.saturating_sub(PROCESSES as u32),
            others: bytes.u64(AT_RECORDS + offset_of!(stats::Record, acquisitions)),
            left: core::array::from_fn(|why| bytes.u64(offset_of!(Header, left) + 8 * why)),
            processes,
        })
    }
}

impl Lock {
    fn was_used(&self) -> bool {
        self.acquisitions != 0 || self.failed != 0
    }

    /// Time spent waiting, in nanoseconds: what was timed, for all that waited.
    pub(crate) fn waited(&self) -> f64 {
        self.waits.mean() * self.contended as f64
    }
}

impl Times {
    fn mean(&self) -> f64 {
        if self.number == 0 { 0.0 } else { self.sum as f64 / self.number as f64 }
    }

    /// The time below which this share lies, to a quarter of a power of two at worst; none if nothing was
    /// timed.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let all: u64 = self.buckets.iter().copied().map(u64::from).sum();
        let wanted = share * all as f64;
        let mut below = 0.0;
        for (number, &count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            let next = below + f64::from(count);
            if next >= wanted {
                let (from, to) = (lower(number) as f64, lower(number + 1) as f64);
                return Some(
                    (from + (to - from) * (wanted - below) / f64::from(count)).min(self.most as f64),
                );
            }
            below = next;
        }
        None
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
