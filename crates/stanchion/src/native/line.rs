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
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: `rdtsc` and `lfence` are part of baseline x86-64; they read a counter and order loads. (`rdtscp` would be a
    // fence fewer, but is an extension that some virtual CPUs lack.)
    let stamp = || unsafe {
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    };
    let before = stamp();
    let value = load();
    let after = stamp();
    (value, after.wrapping_sub(before) > MOVED_TICKS)
}

/// Without a clock that is fine enough, every look counts as a change.
#[cfg(not(all(target_arch = "x86_64", not(target_env = "sgx"))))]
#[inline]
pub(super) fn timed<T>(load: impl FnOnce() -> T) -> (T, bool) {
    (load(), true)
}
