//! The clock of latency passes: the time stamp counter where there is one, else the monotonic clock.
//!
//! Reading it does not wait for earlier instructions to finish, so a single wait is good to about ten
//! nanoseconds. Counters of different CPUs are taken as synchronous, which holds where the kernel itself
//! keeps time by them; `Warning::UnstableClock` speaks up elsewhere.
#![expect(unsafe_code, reason = "reading the time stamp counter is an intrinsic")]
use core::time::Duration;
use std::time::Instant;

/// The present time, in ticks.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The present time, in ticks of a nanosecond.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn ticks() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Ticks per nanosecond, measured against the monotonic clock for about `time`.
pub(crate) fn ticks_per_ns(time: Duration) -> f64 {
    let (start, first) = (Instant::now(), ticks());
    std::thread::sleep(time);
    let (elapsed, last) = (start.elapsed(), ticks());
    last.saturating_sub(first) as f64 / elapsed.as_nanos().max(1) as f64
}

/// Whether the counter keeps its rate whatever the frequency and the sleep state of the CPU.
pub(crate) fn is_stable() -> bool {
    if !cfg!(target_arch = "x86_64") {
        return true;
    }
    std::fs::read_to_string("/proc/cpuinfo").map_or(true, |text| {
        text.lines().find(|line| line.starts_with("flags")).is_none_or(|flags| {
            flags.split_whitespace().any(|flag| flag == "constant_tsc")
                && flags.split_whitespace().any(|flag| flag == "nonstop_tsc")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_advance_at_a_steady_rate() {
        let one = ticks_per_ns(Duration::from_millis(5));
        let two = ticks_per_ns(Duration::from_millis(5));
        assert!(one > 0.01 && (one / two - 1.0).abs() < 0.2, "{one} {two}");
    }
}
