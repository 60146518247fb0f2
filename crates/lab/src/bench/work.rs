//! What measuring loops are made of: the work inside and outside of critical sections, cheap randomness, how
//! long a step of work and a reading of the clock take, what the process uses, and how waits are recorded.
//!
//! The clock of latency passes is the processor's counter. Reading it does not wait for earlier instructions
//! to finish, so a single wait is good to about ten nanoseconds. Counters of different CPUs are taken as
//! synchronous, which holds where the kernel itself keeps time by them; `Warning::UnstableClock` speaks up
//! elsewhere.
use super::cell::{Accesses, Calibration, CellOutcome};
use super::machine::rusage;
use super::mix::Profile;
use core::hint::black_box;
use core::time::Duration;
use fastrand::Rng;
use hdrhistogram::Histogram;
use lab_kit::stats::median;
use rustix::time::{ClockId, clock_gettime};
use stanchion::native::ticks;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// Spends `steps` steps on the CPU, going on from `state`, and returns where the chain has got to.
///
/// A thread hands one state from critical section to think time and back. With a chain for each, the core
/// would start on the next while the last is under way, and 250 ns of work would take 210. Never inlined:
/// where the loop happens to lie can change its speed by 5 %, so all locks share one copy.
#[inline(never)]
#[must_use]
pub(crate) fn spend(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        // A step cannot start before the last one has its product, so its cost is a latency (about five
        // cycles) and hardly depends on what else the core does. The shift is there because compilers fold
        // several steps of a mere multiplication and addition into one.
        state = (state ^ (state >> 29)).wrapping_mul(0x5851_F42D_4C95_7F2D);
    }
    state
}

/// The stream `stream` of random numbers of a seed. Neighbouring streams start far apart.
pub(crate) fn random(seed: u64, stream: u64) -> Rng {
    Rng::with_seed(seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub critical: u64,
    pub think: u64,
    /// Whether the holder gives up its slice in the middle of the section.
    pub yields: bool,
}

impl Steps {
    #[inline]
    pub(crate) fn section(self, state: u64) -> u64 {
        if !self.yields {
            return spend(state, self.critical);
        }
        let state = spend(state, self.critical / 2);
        std::thread::yield_now();
        spend(state, self.critical - self.critical / 2)
    }

    /// Spends a think time uniform in [0.5, 1.5] of the mean, so that threads do not fall into step.
    #[inline]
    pub(crate) fn think(self, random: &mut Rng, state: u64) -> u64 {
        if self.think == 0 {
            return state;
        }
        spend(state, self.think / 2 + random.u64(..=self.think))
    }
}

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
            black_box(ticks::now());
        }
        start.elapsed().as_nanos() as f64 / f64::from(CLOCK_READS)
    });
    let ticks_per_ns = ticks_per_ns(WARM_UP);
    // The usual advance between two readings that differ.
    let readings: Vec<u64> = (0..CLOCK_READS).map(|_| ticks::now()).collect();
    let steps = readings.windows(2).filter(|pair| pair[0] < pair[1]).map(|pair| (pair[1] - pair[0]) as f64);
    let clock_step_ns = median(&steps.collect::<Vec<_>>()) / ticks_per_ns;
    Calibration { ns_per_step, ticks_per_ns, clock_read_ns, clock_step_ns }
}

fn median_of_samples(sample: impl FnMut() -> f64) -> f64 {
    median(&core::iter::repeat_with(sample).take(SAMPLES).collect::<Vec<_>>())
}

/// Ticks per nanosecond, measured against the monotonic clock for about `time`.
fn ticks_per_ns(time: Duration) -> f64 {
    let (start, first) = (Instant::now(), ticks::now());
    std::thread::sleep(time);
    let (elapsed, last) = (start.elapsed(), ticks::now());
    last.saturating_sub(first) as f64 / elapsed.as_nanos().max(1) as f64
}

impl Calibration {
    /// The steps that take as long as the profile says.
    pub(crate) fn steps(&self, profile: &Profile) -> Steps {
        let steps = |ns: u64| (ns as f64 / self.ns_per_step).round() as u64;
        Steps { critical: steps(profile.critical_ns), think: steps(profile.think_ns), yields: profile.yields }
    }
}

/// What the process has used beyond `before`; beyond none, the monotonic clock and all that was used so far.
pub(crate) fn used(before: &CellOutcome) -> CellOutcome {
    let time = |clock| Duration::try_from(clock_gettime(clock)).expect("these clocks begin with zero");
    let ns = |clock| time(clock).as_nanos() as u64;
    let cpu_ns = ns(ClockId::ProcessCPUTime).saturating_sub(before.cpu_ns);
    let usage = rusage(libc::RUSAGE_SELF);
    CellOutcome {
        elapsed_ns: ns(ClockId::Monotonic) - before.elapsed_ns,
        cpu_ns,
        voluntary_switches: usage.ru_nvcsw as u64 - before.voluntary_switches,
        involuntary_switches: usage.ru_nivcsw as u64 - before.involuntary_switches,
        ..CellOutcome::default()
    }
}

/// Waits for the threads to end: what those say that did.
pub(crate) fn drain<E>(ends: &Receiver<E>, threads: usize, drain_ms: u64) -> Vec<E> {
    let deadline = Instant::now() + Duration::from_millis(drain_ms);
    let next = || ends.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok();
    core::iter::from_fn(next).take(threads).collect()
}

/// Acquisitions between two looks at the clock in the uncontended pass.
const BATCH: u32 = 1000;

/// One operation over and over: how often, and what that used. Only the loop of a batch is compiled for each.
pub(crate) fn alone(time: Duration, mut operation: impl FnMut()) -> CellOutcome {
    batches(time, &mut || {
        for _ in 0..BATCH {
            operation();
        }
    })
}

fn batches(time: Duration, batch: &mut dyn FnMut()) -> CellOutcome {
    // A second thread, asleep: glibc leaves the atomic instructions out of its mutex while a process has only
    // one, which would flatter it (2.8 ns instead of 10) by a case in which nobody needs a lock.
    let (_keep, asleep) = channel::<()>();
    std::thread::spawn(move || asleep.recv());
    let warm = Instant::now();
    while warm.elapsed() < time / 5 {
        batch();
    }
    let (before, start, mut count) = (used(&CellOutcome::default()), Instant::now(), 0);
    while start.elapsed() < time {
        batch();
        count += u64::from(BATCH);
    }
    let writes = Accesses { counts: vec![count], ..Accesses::default() };
    CellOutcome { sides: [Accesses::default(), writes], ..used(&before) }
}

/// Where waits are recorded: to within one per cent, in ticks, up to a minute.
pub(crate) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_max(600_000_000_000, 2).expect("constant bounds are valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_goes_on_where_it_stopped() {
        assert_eq!(spend(spend(7, 3), 4), spend(7, 7));
        assert_eq!(spend(7, 0), 7);
    }

    #[test]
    fn a_seed_gives_one_stream_and_streams_differ() {
        let numbers = |stream| {
            let mut random = random(7, stream);
            (0..4).map(|_| random.u64(..)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn steps_follow_the_calibration() {
        let calibration =
            Calibration { ns_per_step: 2.0, ticks_per_ns: 1.0, clock_read_ns: 1.0, clock_step_ns: 1.0 };
        let profile =
            Profile { name: "p".into(), critical_ns: 50, think_ns: 201, yields: false, cpu_limit: None };
        let steps = calibration.steps(&profile);
        assert_eq!((steps.critical, steps.think), (25, 101));
    }

    /// What a busy machine disturbs is tried again; what is wrong stays wrong.
    fn assert_at_last<T: core::fmt::Debug>(
        mut measure: impl FnMut() -> T,
        is_plausible: impl Fn(&T) -> bool,
    ) {
        let start = Instant::now();
        loop {
            let measured = measure();
            if is_plausible(&measured) {
                return;
            }
            assert!(start.elapsed() < Duration::from_mins(2), "{measured:?}");
        }
    }

    #[test]
    fn calibration_finds_plausible_figures() {
        // A multiplication takes three cycles at the least: less means that the compiler saw through the
        // work.
        let least = if cfg!(debug_assertions) { 0.1 } else { 0.4 };
        assert_at_last(calibrate, |found| {
            (least..100.0).contains(&found.ns_per_step) && (0.0..10_000.0).contains(&found.clock_read_ns)
        });
    }

    #[test]
    fn ticks_advance_at_a_steady_rate() {
        let rate = || ticks_per_ns(Duration::from_millis(5));
        assert_at_last(|| [rate(), rate()], |[one, two]| *one > 0.01 && (one / two - 1.0).abs() < 0.2);
    }
}
