//! What the scheduler does: ticks, turns, and work for idle CPUs, seen by threads that only read the clock.
use super::sample::{Figure, Figures, What};
use super::threads::{alone, beside, both, keep_to, nanos, spin_until};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::time::Instant;

/// A gap this long is another thread's turn.
const OTHERS_TURN: Duration = Duration::from_micros(500);
/// A gap this long is an interruption; reading the clock takes a twentieth.
const INTERRUPTION: Duration = Duration::from_nanos(700);
/// Tick periods that kernels are built with, shortest first.
const PERIODS_NS: [f64; 4] = [1e6, 10e6 / 3.0, 4e6, 10e6];

/// When a thread did not run, as it sees the clock: start and length of each gap, in nanoseconds.
fn gaps(time: Duration, least: Duration) -> Vec<(f64, f64)> {
    let start = Instant::now();
    let mut last = start;
    let mut gaps = Vec::new();
    loop {
        let now = Instant::now();
        if now - last > least {
            gaps.push((nanos(last - start), nanos(now - last)));
        }
        if now - start > time {
            return gaps;
        }
        last = now;
    }
}

/// How long the turns of two busy threads of one CPU are.
pub(super) fn turns(cpu: usize, time: Duration, figures: &mut Figures) {
    let gaps = both((cpu, cpu), || gaps(time, OTHERS_TURN), || drop(gaps(time, OTHERS_TURN)));
    for pair in gaps.windows(2) {
        figures.add(What::TURN, pair[1].0 - (pair[0].0 + pair[0].1));
    }
}

/// Period and length of the regular interrupt.
pub(super) fn ticks(cpu: usize, time: Duration, figures: &mut Figures) {
    let gaps = alone(cpu, || gaps(time, INTERRUPTION));
    if let Some((period, cost)) = regular(&gaps, nanos(time)) {
        figures.add(What::TICK_PERIOD, period);
        figures.add(What::TICK_COST, cost);
    }
}

/// The shortest period at whose beat most interruptions come (its multiples fit, too); their median length.
fn regular(gaps: &[(f64, f64)], time: f64) -> Option<(f64, f64)> {
    PERIODS_NS.iter().find_map(|&period| {
        // The phase at which most gaps start, found among the gaps themselves.
        let off = |a: f64, b: f64| {
            let apart = (a - b).rem_euclid(period);
            apart.min(period - apart)
        };
        let on_beat = |phase: f64| gaps.iter().filter(move |gap| off(gap.0, phase) < period / 50.0);
        let phase = gaps.iter().map(|gap| gap.0).max_by_key(|&phase| on_beat(phase).count())?;
        // One gap for each beat, not many around one.
        let mut beats: Vec<i64> =
            on_beat(phase).map(|gap| ((gap.0 - phase) / period).round() as i64).collect();
        beats.dedup();
        let lengths: Vec<f64> = on_beat(phase).map(|gap| gap.1).collect();
        let enough = beats.len() as f64 >= 0.7 * (time / period).floor() && beats.len() >= 3;
        enough.then_some((period, Figure::of(&lengths)?.median))
    })
}

/// How long after a CPU becomes idle a thread that waits for another CPU runs on it.
pub(super) fn pull(cpus: (usize, usize), figures: &mut Figures) {
    const GIVE_UP: Duration = Duration::from_millis(40);
    let (settled, ended) = (AtomicBool::new(false), AtomicU64::new(0));
    let (epoch, (a, b)) = (Instant::now(), cpus);
    // One that stays, one that may leave, on one CPU; one that ends, on the other.
    let moves = || {
        keep_to(&[a, b]);
        settled.store(true, Ordering::Release);
        let start = Instant::now();
        loop {
            let end = ended.load(Ordering::Acquire);
            // If it never ended, balancing was faster than it.
            if rustix::thread::sched_getcpu() == b || start.elapsed() > GIVE_UP {
                break (end > 0).then(|| nanos(epoch.elapsed()) - end as f64);
            }
        }
    };
    let ends = || {
        spin_until(|| settled.load(Ordering::Acquire));
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(2) {}
        ended.store(epoch.elapsed().as_nanos() as u64, Ordering::Release);
    };
    // Without a spin hint: a hypervisor may take the CPU of whoever gives one.
    let stays = || ();
    if let Some(time) = beside([(a, stays)], || both(cpus, moves, ends)) {
        figures.add(What::PULL, time.max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interruptions at a beat, with some noise in time and some that do not belong to it.
    fn beat(period: f64, time: f64) -> Vec<(f64, f64)> {
        let count = (time / period) as u32;
        let mut gaps: Vec<(f64, f64)> = (0..count)
            .map(|beat| (123_456.0 + f64::from(beat) * period + f64::from(beat % 3) * 900.0, 2_000.0))
            .collect();
        gaps.push((7_654_321.0, 9_000.0));
        gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
        gaps
    }

    #[test]
    fn the_tick_is_found_at_every_usual_rate() {
        for period in PERIODS_NS {
            let found = regular(&beat(period, 200e6), 200e6).map(|(period, cost)| (period.round(), cost));
            assert_eq!(found, Some((period.round(), 2_000.0)), "{period}");
        }
    }

    #[test]
    fn without_a_beat_there_is_no_tick() {
        let gaps: Vec<(f64, f64)> = (0..40_u32).map(|n| (f64::from(n * n % 197) * 1e6, 1_000.0)).collect();
        assert_eq!(regular(&gaps, 200e6), None);
        assert_eq!(regular(&[], 200e6), None);
    }
}
