//! Moments on clocks, as numbers: nothing here asks for the time.

/// The clock that a deadline is read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time since some moment; nobody sets it.
    Monotonic,
    /// The time of day; it may be set while somebody waits.
    Realtime,
}

/// A moment on a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    pub(crate) clock: Clock,
    pub(crate) secs: i64,
    pub(crate) nanos: u32,
}

/// Nanoseconds.
pub(crate) const SECOND: u32 = 1_000_000_000;

impl Deadline {
    /// A moment that is long over.
    pub const EPOCH: Self = Self { clock: Clock::Realtime, secs: 0, nanos: 0 };

    /// The moment at which `clock` shows `secs` seconds and `nanos` nanoseconds; `None` if `nanos` make a
    /// second or more.
    pub fn at(clock: Clock, secs: i64, nanos: i64) -> Option<Self> {
        let nanos = u32::try_from(nanos).ok().filter(|&nanos| nanos < SECOND)?;
        Some(Self { clock, secs, nanos })
    }

    /// The clock that it is read on.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Seconds and nanoseconds since its clock's epoch.
    pub(crate) fn since_epoch(&self) -> (i64, u32) {
        (self.secs, self.nanos)
    }
}
