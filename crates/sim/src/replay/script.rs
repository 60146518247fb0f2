//! What one thread did, in a few bytes a step, read in place by all contexts that do it.
//!
//! A step is a number in groups of seven bits (its kind in the lowest three bits, above them what it is
//! about), and the nanoseconds of computing before it as another one. A wait has a third number.

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Acquires a lock alone.
    Acquire(u32),
    /// Acquires a lock together with other readers.
    AcquireRead(u32),
    /// Releases what [`Step::Acquire`] took.
    Release(u32),
    /// Releases what [`Step::AcquireRead`] took.
    ReleaseRead(u32),
    /// Acquires and later releases a lock that no other thread takes.
    Private,
    /// Is off its CPU by its own wish for so many nanoseconds.
    Sleep(u64),
    /// Goes on when a thread has notified so often, counted from its beginning.
    Wait {
        /// Which thread.
        thread: u32,
        /// How often.
        notices: u64,
    },
    /// Notifies who waits for that.
    Notify,
}

impl Step {
    fn code(self) -> (u64, u64) {
        match self {
            Self::Acquire(lock) => (0, lock.into()),
            Self::AcquireRead(lock) => (1, lock.into()),
            Self::Release(lock) => (2, lock.into()),
            Self::ReleaseRead(lock) => (3, lock.into()),
            Self::Private => (4, 0),
            Self::Sleep(nanos) => (5, nanos.min(u64::MAX >> 3)),
            Self::Wait { thread, .. } => (6, thread.into()),
            Self::Notify => (7, 0),
        }
    }
}

/// A step at which the thread holds nothing: play may begin there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// When that was, in nanoseconds of the recording.
    pub(super) at: u64,
    /// Where it stands.
    pub(super) byte: usize,
    /// How often the thread had notified.
    pub(super) notices: u64,
}

/// What one thread did.
#[derive(Debug, Default)]
pub struct Script {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    ends: u64,
    notices: u64,
    acquisitions: u64,
}

impl Script {
    /// From when to when the thread was seen, in nanoseconds of the recording.
    pub fn span(&self) -> (u64, u64) {
        (self.marks.first().map_or(0, |mark| mark.at), self.ends)
    }

    /// How often it acquires something.
    pub fn acquisitions(&self) -> u64 {
        self.acquisitions
    }

    /// How often it notifies.
    pub(super) fn notices(&self) -> u64 {
        self.notices
    }

    /// Where it begins.
    pub(super) fn first(&self) -> Mark {
        self.marks.first().copied().unwrap_or(Mark { at: 0, byte: 0, notices: 0 })
    }

    /// The last mark that is not after `at`, or the first one.
    pub(super) fn mark(&self, at: u64) -> Mark {
        let behind = self.marks.partition_point(|mark| mark.at <= at);
        self.marks.get(behind.saturating_sub(1)).copied().unwrap_or(self.first())
    }

    /// The step at `byte`, with the nanoseconds of computing before it; `byte` moves on. None at the end.
    #[inline]
    pub(super) fn step(&self, byte: &mut usize) -> Option<(u64, Step)> {
        let word = self.number(byte)?;
        let computes = self.number(byte)?;
        let about = word >> 3;
        let step = match word & 7 {
            0 => Step::Acquire(about as u32),
            1 => Step::AcquireRead(about as u32),
            2 => Step::Release(about as u32),
            3 => Step::ReleaseRead(about as u32),
            4 => Step::Private,
            5 => Step::Sleep(about),
            6 => Step::Wait { thread: about as u32, notices: self.number(byte)? },
            _ => Step::Notify,
        };
        Some((computes, step))
    }

    #[inline]
    fn number(&self, byte: &mut usize) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let next = *self.bytes.get(*byte)?;
            *byte += 1;
            value |= u64::from(next & 0x7f) << shift;
            if next & 0x80 == 0 {
                break;
            }
        }
        Some(value)
    }
}

/// Steps between two marks at least.
const BETWEEN_MARKS: u32 = 64;

/// Writes a script, step by step.
#[derive(Debug)]
pub struct Writer {
    script: Script,
    at: f64,
    /// Computing that no step has taken yet, with what rounding left.
    computes: f64,
    held: u32,
    since_mark: u32,
}

impl Writer {
    /// Of a thread that was first seen at `begins` nanoseconds of the recording.
    pub fn new(begins: u64) -> Self {
        let mark = Mark { at: begins, byte: 0, notices: 0 };
        let script = Script { marks: vec![mark], ..Script::default() };
        Self { script, at: begins as f64, computes: 0.0, held: 0, since_mark: 0 }
    }

    /// The thread computes for so long.
    pub fn compute(&mut self, nanos: f64) {
        self.computes += nanos.max(0.0);
    }

    /// It does something, at this moment of the recording.
    pub fn step(&mut self, at: f64, step: Step) {
        self.at = self.at.max(at);
        let whole = self.computes.floor();
        self.computes -= whole;
        let (code, about) = step.code();
        self.number(about << 3 | code);
        self.number(whole as u64);
        let script = &mut self.script;
        script.ends = self.at as u64;
        self.since_mark += 1;
        match step {
            Step::Acquire(_) | Step::AcquireRead(_) => {
                self.held += 1;
                script.acquisitions += 1;
            }
            Step::Release(_) | Step::ReleaseRead(_) => self.held = self.held.saturating_sub(1),
            Step::Private => script.acquisitions += 1,
            Step::Notify => script.notices += 1,
            Step::Wait { notices, .. } => self.number(notices),
            Step::Sleep(_) => {}
        }
        if self.held == 0 && self.since_mark >= BETWEEN_MARKS {
            self.since_mark = 0;
            let script = &mut self.script;
            let mark = Mark { at: script.ends, byte: script.bytes.len(), notices: script.notices };
            script.marks.push(mark);
        }
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.script.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.script.bytes.push(value as u8);
    }

    /// How often it has notified so far.
    pub fn notices(&self) -> u64 {
        self.script.notices
    }

    /// The whole script.
    pub fn finish(mut self) -> Script {
        self.script.bytes.shrink_to_fit();
        self.script.marks.shrink_to_fit();
        self.script
    }
}
