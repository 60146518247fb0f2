//! How long a step of work and a reading of the clock take, measured before anything else.
use super::cell::{Calibration, Profile};
use super::clock;
use super::work::{Steps, spend};
use core::hint::black_box;
use core::time::Duration;
use lab_kit::stats::median;
use std::time::Instant;

/// Long enough for a core to leave its sleep state and reach its working frequency.
const WARM_UP: Duration = Duration::from_millis(50);
/// Odd, so that the median is one of them.
const SAMPLES: usize = 11;
const STEPS: u64 = 1_000_000;
const CLOCK_READS: u32 = 100_000;

/// Calibrates on the CPU it finds itself on. The caller pins the thread.
pub(crate) fn calibrate() -> Calibration {
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        black_box(spend(1, STEPS / 100));
    }
    let ns_per_step = median_of_samples(|| {
        let start = Instant::now();
        black_box(spend(1, black_box(STEPS)));
        start.elapsed().as_nanos() as f64 / STEPS as f64
    });
    let clock_read_ns = median_of_samples(|| {
        let start = Instant::now();
        for _ in 0..CLOCK_READS {
            black_box(clock::ticks());
        }
        start.elapsed().as_nanos() as f64 / f64::from(CLOCK_READS)
    });
    let ticks_per_ns = clock::ticks_per_ns(WARM_UP);
    let clock_step_ns = clock_step() / ticks_per_ns;
    Calibration { ns_per_step, ticks_per_ns, clock_read_ns, clock_step_ns }
}

/// The usual advance between two readings that differ, in ticks.
fn clock_step() -> f64 {
    let mut last = clock::ticks();
    let advance = |_| {
        let now = clock::ticks();
        let step = now.saturating_sub(last);
        last = now;
        step as f64
    };
    let steps: Vec<f64> = (0..CLOCK_READS).map(advance).filter(|&step| step > 0.0).collect();
    median(&steps)
}

fn median_of_samples(sample: impl FnMut() -> f64) -> f64 {
    let samples: Vec<f64> = core::iter::repeat_with(sample).take(SAMPLES).collect();
    median(&samples)
}

impl Calibration {
    /// The steps that take as long as the profile says.
    pub(crate) fn steps(&self, profile: &Profile) -> Steps {
        let steps = |ns: u64| (ns as f64 / self.ns_per_step).round() as u64;
        Steps { critical: steps(profile.critical_ns), think: steps(profile.think_ns), yields: profile.yields }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_the_calibration() {
        let calibration =
            Calibration { ns_per_step: 2.0, ticks_per_ns: 1.0, clock_read_ns: 1.0, clock_step_ns: 1.0 };
        let profile =
            Profile { name: "p".into(), critical_ns: 50, think_ns: 201, yields: false, cpu_limit: None };
        let steps = calibration.steps(&profile);
        assert_eq!((steps.critical, steps.think), (25, 101));
    }

    #[test]
    fn calibration_finds_plausible_figures() {
        let calibration = calibrate();
        assert!((0.1..100.0).contains(&calibration.ns_per_step), "{calibration:?}");
        // A multiplication takes three cycles at the least: less means that the compiler saw through the
        // work.
        assert!(cfg!(debug_assertions) || calibration.ns_per_step > 0.4, "{calibration:?}");
        assert!((0.0..10_000.0).contains(&calibration.clock_read_ns), "{calibration:?}");
    }
}
