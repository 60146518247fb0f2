//! The clock of latency passes: the processor's counter.
//!
//! Reading it does not wait for earlier instructions to finish, so a single wait is good to about ten
//! nanoseconds. Counters of different CPUs are taken as synchronous, which holds where the kernel itself
//! keeps time by them; `Warning::UnstableClock` speaks up elsewhere.
use core::time::Duration;
pub(crate) use stanchion::native::ticks::now as ticks;
use std::time::Instant;

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
        return true; // the architecture says so
    }
    std::fs::read_to_string("/proc/cpuinfo").map_or(true, |text| {
        let flags = text.lines().find(|line| line.starts_with("flags"));
        let has = |flags: &str, wanted| flags.split_whitespace().any(|flag| flag == wanted);
        flags.is_none_or(|flags| has(flags, "constant_tsc") && has(flags, "nonstop_tsc"))
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
