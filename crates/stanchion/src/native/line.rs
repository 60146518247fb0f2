//! Telling a cache hit from a miss by the processor's time stamp counter.
//!
//! A load that hits the first-level cache takes a few cycles, one that fetches a line from another core a hundred or
//! more. A spinning waiter has the time to look at the clock before and after.

/// Time stamps of a load that came from another core, at the least: about 25 ns at 2–4 GHz, several times what a hit
/// costs together with reading the clock twice, and less than any transfer between two cores. A wrong answer costs a
/// pause that is too long or too short, nothing else.
#[cfg(all(target_arch = "x86_64", not(target_env = "sgx")))]
const MOVED_TICKS: u64 = 90;

/// Runs `load` and tells whether it probably fetched its line from elsewhere.
#[cfg(all(target_arch = "x86_64", not(target_env = "sgx")))]
#[inline]
pub(super) fn timed<T>(load: impl FnOnce() -> T) -> (T, bool) {
    use core::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};
    let mut processor = 0;
    // SAFETY: both instructions only read a counter and are part of every x86-64 processor that Linux runs on; `lfence`
    // keeps the load from starting before the first reading, and `rdtscp` waits for it.
    let before = unsafe {
        let before = _rdtsc();
        _mm_lfence();
        before
    };
    let value = load();
    // SAFETY: as above; `processor` is a valid place for the processor number.
    let after = unsafe { __rdtscp(&raw mut processor) };
    (value, after.wrapping_sub(before) > MOVED_TICKS)
}

/// Without a clock that is fine enough, every look counts as a change.
#[cfg(not(all(target_arch = "x86_64", not(target_env = "sgx"))))]
#[inline]
pub(super) fn timed<T>(load: impl FnOnce() -> T) -> (T, bool) {
    (load(), true)
}
