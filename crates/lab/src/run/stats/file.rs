//! Reading what the library counted. The layout is in `crates/preload/src/stats/layout.rs`; a file of another
//! version is refused, and nothing in a file is trusted: it was written by a program that may do anything.
use serde::Serialize;

const MAGIC: &[u8; 8] = b"STANCSTA";
const VERSION: u32 = 1;
const PROCESSES: usize = 64;
const MODULES: usize = 1024;
const RECORDS: usize = 8192;
const RECORD: usize = 1216;
const MODULE: usize = 320;
const FRAMES: usize = 5;
const BUCKETS: usize = 128;
const AT_MODULES: usize = 8192;
const AT_RECORDS: usize = AT_MODULES + MODULES * MODULE;
const LENGTH: usize = AT_RECORDS + RECORDS * RECORD;

/// Why an object was left to libc, in the order of the counters.
pub(crate) const LEFT: [&str; 6] = [
    "robust mutexes",
    "priority-inheriting or -protecting mutexes",
    "process-shared mutexes",
    "process-shared reader-writer locks",
    "process-shared condition variables",
    "process-shared spin locks",
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

/// Little-endian numbers at fixed places of bytes that are long enough.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn u32(&self, at: usize) -> u32 {
        self.0[at..at + 4].iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    /// A text of which one less than `length` bytes were written, in a field of `room`.
    fn text(&self, at: usize, length: u32, room: usize) -> &'a [u8] {
        &self.0[at..at + (length as usize).saturating_sub(1).min(room)]
    }

    fn times(&self, at: usize) -> Times {
        Times {
            number: self.u64(at),
            sum: self.u64(at + 8),
            most: self.u64(at + 16),
            buckets: (0..BUCKETS).map(|number| self.u32(at + 24 + 4 * number)).collect(),
        }
    }

    fn lock(&self, at: usize, processes: usize) -> Option<Lock> {
        let kind = match self.u32(at + 12) & 0xffff {
            1 => Kind::Mutex,
            2 => Kind::Read,
            3 => Kind::Write,
            _ => return None,
        };
        let depth = ((self.u32(at + 12) >> 16) as usize).min(FRAMES);
        Some(Lock {
            process: (self.u32(at + 8) as usize).checked_sub(1).filter(|process| *process < processes)?,
            address: self.u64(at),
            kind,
            frames: (0..depth).map(|frame| self.u64(at + 16 + 8 * frame)).collect(),
            lives: self.u32(at + 56).into(),
            acquisitions: self.u64(at + 64),
            contended: self.u64(at + 72),
            failed: self.u64(at + 96),
            steals: self.u64(at + 104),
            parks: self.u64(at + 112),
            kicks: self.u64(at + 120),
            waits: self.times(at + 128),
            holds: self.times(at + 128 + 24 + 4 * BUCKETS),
        })
    }
}

impl Snapshot {
    /// From the bytes of the file; the error says what is wrong with them.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != LENGTH || !bytes.starts_with(MAGIC) {
            return Err("is not what the library of this version writes".to_owned());
        }
        let bytes = Bytes(bytes);
        let expected = [VERSION, RECORD as u32, RECORDS as u32, PROCESSES as u32, MODULES as u32];
        if (0..5).any(|field| bytes.u32(8 + 4 * field) != expected[field]) {
            let version = bytes.u32(8);
            return Err(format!("is of version {version}; command and library must be of one version"));
        }
        let used = bytes.u32(28);
        let processes: Vec<Process> = (0..PROCESSES.min(used as usize))
            .map(|number| 4096 + 64 * number)
            .map(|at| Process {
                pid: bytes.u32(at),
                name: String::from_utf8_lossy(bytes.text(at + 8, bytes.u32(at + 4), 56)).into_owned(),
            })
            .collect();
        let modules = (0..MODULES)
            .map(|number| AT_MODULES + MODULE * number)
            .filter(|&at| bytes.u32(at + 4) != 0)
            .filter_map(|at| {
                Some(Module {
                    process: (bytes.u32(at) as usize).checked_sub(1)?,
                    start: bytes.u64(at + 8),
                    end: bytes.u64(at + 16),
                    offset: bytes.u64(at + 24),
                    path: bytes.text(at + 32, bytes.u32(at + 4), MODULE - 32).to_vec(),
                })
            })
            .collect();
        let locks = (1..RECORDS).filter_map(|number| {
            bytes.lock(AT_RECORDS + RECORD * number, processes.len()).filter(Lock::was_used)
        });
        Ok(Self {
            locks: locks.collect(),
            processes_left_out: used.saturating_sub(PROCESSES as u32),
            processes,
            modules,
            others: bytes.u64(AT_RECORDS + 64),
            left: core::array::from_fn(|why| bytes.u64(40 + 8 * why)),
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
                let (from, to) = (lower(number), lower(number + 1));
                return Some(
                    (from + (to - from) * (wanted - below) / f64::from(count)).min(self.most as f64),
                );
            }
            below = next;
        }
        None
    }
}

/// The least time of a bucket: four for each power of two from 16 up, and those below by quarters.
fn lower(bucket: usize) -> f64 {
    if bucket < 4 {
        return bucket as f64 * 4.0;
    }
    let power = bucket / 4 + 3;
    (power as f64).exp2() * (1.0 + (bucket % 4) as f64 / 4.0)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
