//! Virtual time.

/// Virtual time and its spans: picoseconds since the machine was switched on. 2^64 of them are 213 days.
pub type Time = u64;

/// Picoseconds in a nanosecond.
pub const NS: Time = 1_000;
/// Picoseconds in a microsecond.
pub const US: Time = 1_000_000;
/// Picoseconds in a millisecond.
pub const MS: Time = 1_000_000_000;

/// `part` per cent of `time`.
#[inline]
pub(crate) fn percent(time: Time, part: u32) -> Time {
    time * Time::from(part) / 100
}
