//! Going to sleep and being woken: futex calls, hand-overs, yields, the asymmetric barrier, cold caches.
use super::sample::{Figures, What};
use super::threads::{alone, beside, both, each, keep_to, one_way, spin_until, timed};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use rustix::thread::futex::{self, Flags};
use rustix::thread::{MembarrierCommand, membarrier, sched_yield};
use std::time::Instant;

/// Long enough for a woken CPU to become idle again.
const PAUSE: Duration = Duration::from_micros(300);
/// A wake-up that took less than this did not wait for a turn: no scheduler has shorter ones.
const AT_ONCE_NS: f64 = 400_000.0;
/// How long sleepers are left alone to see how long their CPUs still look for work: close together where
/// kernels fall idle, then up to where some still poll.
const NAPS_NS: [u64; 12] = [150, 300, 450, 600, 800, 1_000, 1_300, 1_600, 2_000, 4_000, 8_000, 16_000];
/// So many of each: hypervisors learn from short sleeps to be ready for the next.
const NAPS: u32 = 60;

fn sleep_until(word: &AtomicU32, value: u32) {
    loop {
        let now = word.load(Ordering::Acquire);
        if now == value {
            return;
        }
        // A signal or a change of the word: looked at again.
        let _ = futex::wait(word, Flags::PRIVATE, now, None);
    }
}

/// Stores `value` and wakes who sleeps at the word.
fn give(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    wake(word);
}

fn wake(word: &AtomicU32) {
    // Fails for bad addresses only.
    let _ = futex::wake(word, Flags::PRIVATE, 1);
}

fn spin_for(time: Duration) {
    let start = Instant::now();
    spin_until(|| start.elapsed() >= time);
}

/// Futex calls that neither sleep nor wake.
pub(super) fn calls(cpu: usize, figures: &mut Figures) {
    let word = AtomicU32::new(0);
    alone(cpu, || {
        figures.add(What::HALT, each(2_000, || futex::wait(&word, Flags::PRIVATE, 1, None)));
        figures.add(What::KICK_NOBODY, each(2_000, || wake(&word)));
        figures.add(What::YIELD, each(2_000, sched_yield));
    });
}

/// Wakes a sleeper of another CPU, which it leaves alone for so long, again and again: what each wake took,
/// and how long until the sleeper ran.
fn wakes(cpus: (usize, usize), nap: Duration, rounds: u32) -> Vec<(f64, f64)> {
    let epoch = Instant::now();
    let now = || epoch.elapsed().as_nanos() as u64;
    let (word, awake) = (AtomicU32::new(0), AtomicU64::new(0));
    let sleeper = || {
        for round in 0..rounds {
            sleep_until(&word, round + 1);
            awake.store(now().max(1), Ordering::Release);
        }
    };
    let waker = || {
        let clock = each(1_000, Instant::now);
        let wake_up = |round| {
            spin_for(nap);
            let before = now();
            give(&word, round + 1);
            let after = now();
            spin_until(|| awake.load(Ordering::Acquire) > 0);
            let ran = awake.swap(0, Ordering::Acquire);
            ((after - before) as f64 - clock, ran.saturating_sub(before) as f64 - clock)
        };
        (0..rounds).map(wake_up).collect()
    };
    both(cpus, waker, sleeper)
}

/// Waking a sleeper of another CPU, idle and busy.
pub(super) fn across(cpus: (usize, usize), figures: &mut Figures) {
    for (kick, wake) in wakes(cpus, PAUSE, 20) {
        figures.add(What::KICK_IDLE, kick);
        figures.add(What::WAKE_IDLE, wake);
    }
    for (_, wake) in beside([(cpus.1, spin_loop)], || wakes(cpus, PAUSE, 6)) {
        figures.add(What::PREEMPTS_ON_WAKE, f64::from(u8::from(wake < AT_ONCE_NS)));
    }
}

/// For how long a CPU that falls idle goes on with a woken sleeper as soon as if it had not: `hand_over` is
/// what a wake takes on one CPU, `rested` what it takes if the CPU is at rest.
pub(super) fn falls_idle(cpus: (usize, usize), hand_over: f64, rested: f64, figures: &mut Figures) {
    let limit = (hand_over * rested).sqrt();
    let quick = NAPS_NS.map(|nap| {
        let wakes = wakes(cpus, Duration::from_nanos(nap), NAPS);
        wakes.iter().filter(|(_, wake)| *wake < limit).count() as f64 / wakes.len() as f64
    });
    figures.add(What::IDLE_ENTRY, area(&NAPS_NS, &quick));
}

/// The area below `shares` of `numbers`, each of which stands for all that are nearer to it than to another.
fn area(numbers: &[u64], shares: &[f64]) -> f64 {
    let ends = numbers.iter().zip(numbers.iter().skip(1)).map(|(a, b)| f64::midpoint(*a as f64, *b as f64));
    let ends = ends.chain(numbers.last().map(|last| *last as f64));
    let of_one =
        |begin: &mut f64, (end, share): (f64, &f64)| Some((end - core::mem::replace(begin, end)) * share);
    ends.zip(shares).scan(0.0, of_one).sum()
}

/// Two threads of one CPU that wake each other by turns, and two that yield to each other.
pub(super) fn on_one(cpu: usize, figures: &mut Figures) {
    const ROUNDS: u32 = 1_500;
    let hand_over = |word: &AtomicU32, from, to| {
        sleep_until(word, from);
        give(word, to);
    };
    figures.add(What::HAND_OVER, one_way((cpu, cpu), ROUNDS, hand_over));

    let others = AtomicU64::new(0);
    let yields = || {
        spin_for(Duration::from_micros(50));
        while others.load(Ordering::Acquire) == 0 {
            sched_yield();
        }
        let before = others.load(Ordering::Acquire);
        let time = timed(|| (0..ROUNDS).for_each(|_| sched_yield()));
        time / (u64::from(ROUNDS) + others.load(Ordering::Acquire) - before) as f64
    };
    let other_yields = || {
        others.fetch_add(1, Ordering::AcqRel);
        sched_yield();
    };
    figures.add(What::YIELD_SWITCH, beside([(cpu, other_yields)], || alone(cpu, yields)));
}

/// The heavy side of an asymmetric fence; nothing where the kernel has none.
pub(super) fn barriers(cpus: &[usize], figures: &mut Figures) {
    // While this process has few threads, or it takes milliseconds.
    if membarrier(MembarrierCommand::RegisterPrivateExpedited).is_err() {
        return;
    }
    let barrier = || membarrier(MembarrierCommand::PrivateExpedited);
    let (Some(&first), Some(&last)) = (cpus.first(), cpus.last()) else { return };
    figures.add(What::BARRIER_ALONE, alone(first, || each(200, barrier)));
    if first == last {
        return;
    }
    let time = beside([(last, spin_loop)], || {
        // The other one has begun by then.
        std::thread::sleep(Duration::from_millis(1));
        alone(first, || each(200, barrier))
    });
    figures.add(What::BARRIER_PAIR, time);
}

/// What it costs to have one's data in another CPU's caches: 16 KiB that were written there.
pub(super) fn moves(cpus: (usize, usize), figures: &mut Figures) {
    let data: Vec<AtomicU64> = core::iter::repeat_with(AtomicU64::default).take(16 * 1024 / 8).collect();
    let add = |word: &AtomicU64| word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    let walk = || timed(|| data.iter().step_by(8).for_each(add));
    let extra = alone(cpus.0, || {
        walk();
        let warm = walk();
        keep_to(&[cpus.1]);
        walk() - warm
    });
    figures.add(What::MIGRATE, extra.max(0.0));
}

#[cfg(test)]
#[test]
fn each_number_counts_by_what_lies_nearest_to_it() {
    let of = |shares| area(&[100, 300, 700], shares).round() as u64;
    assert_eq!(of(&[1.0, 1.0, 1.0]), 700);
    assert_eq!([of(&[1.0, 0.0, 0.0]), of(&[0.0, 1.0, 0.0]), of(&[0.0, 0.0, 1.0])], [200, 300, 200]);
    assert_eq!(of(&[0.5, 0.1, 0.0]), 130);
}
