//! Going to sleep and being woken: futex calls, hand-overs on one CPU, yields, the asymmetric barrier, cold
//! caches.
use super::sample::{Figures, What};
use super::threads::{alone, both, each, keep_to, nanos};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use rustix::thread::futex::{self, Flags};
use rustix::thread::{MembarrierCommand, membarrier};
use std::time::Instant;

/// Long enough for a woken CPU to become idle again.
const PAUSE: Duration = Duration::from_micros(300);
/// A wake-up that took less than this did not wait for a turn: no scheduler has shorter ones.
const AT_ONCE_NS: f64 = 400_000.0;

/// Sleeps as long as the word says `value`.
fn sleep_while(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) == value {
        // A signal or a change of the word: looked at again.
        let _ = futex::wait(word, Flags::PRIVATE, value, None);
    }
}

fn wake(word: &AtomicU32) {
    // Fails for bad addresses only.
    let _ = futex::wake(word, Flags::PRIVATE, 1);
}

fn spin_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        spin_loop();
    }
}

/// Futex calls that neither sleep nor wake.
pub(super) fn calls(cpu: usize, figures: &mut Figures) {
    let word = AtomicU32::new(0);
    alone(cpu, || {
        figures.add(
            What::Halt,
            each(2_000, || {
                let _ = futex::wait(&word, Flags::PRIVATE, 1, None);
            }),
        );
        figures.add(What::KickNobody, each(2_000, || wake(&word)));
        figures.add(What::Yield, each(2_000, rustix::thread::sched_yield));
    });
}

/// A sleeper that writes down when it came to itself.
struct Sleeper {
    epoch: Instant,
    word: AtomicU32,
    awake: AtomicU64,
    rounds: u32,
}

impl Sleeper {
    fn new(rounds: u32) -> Self {
        Self { epoch: Instant::now(), word: AtomicU32::new(0), awake: AtomicU64::new(0), rounds }
    }

    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    fn sleeps(&self) {
        for round in 0..self.rounds {
            sleep_while(&self.word, round);
            self.awake.store(self.now().max(1), Ordering::Release);
        }
    }

    /// Wakes it again and again; what each wake took, and how long it was until the sleeper ran.
    fn is_woken(&self, idle: Duration, mut note: impl FnMut(f64, f64)) {
        let clock = each(1_000, || {
            core::hint::black_box(Instant::now());
        });
        for round in 0..self.rounds {
            spin_for(idle);
            let before = self.now();
            self.word.store(round + 1, Ordering::Release);
            wake(&self.word);
            let after = self.now();
            let awake = loop {
                match self.awake.swap(0, Ordering::Acquire) {
                    0 => spin_loop(),
                    at => break at,
                }
            };
            note((after - before) as f64 - clock, awake.saturating_sub(before) as f64 - clock);
        }
    }
}

/// Waking a sleeper of another CPU, idle and busy.
pub(super) fn across(cpus: (usize, usize), figures: &mut Figures) {
    let sleeper = Sleeper::new(20);
    let waker = || {
        let mut taken = Vec::new();
        sleeper.is_woken(PAUSE, |kick, wake| taken.push((kick, wake)));
        taken
    };
    for (kick, wake) in both(cpus, waker, || sleeper.sleeps()) {
        figures.add(What::KickIdle, kick);
        figures.add(What::WakeIdle, wake);
    }

    let sleeper = Sleeper::new(6);
    let over = AtomicBool::new(false);
    let waker = || {
        let mut taken = Vec::new();
        sleeper.is_woken(PAUSE, |kick, wake| taken.push((kick, wake)));
        over.store(true, Ordering::Release);
        taken
    };
    let taken = std::thread::scope(|scope| {
        scope.spawn(|| {
            keep_to(&[cpus.1]);
            while !over.load(Ordering::Acquire) {
                spin_loop();
            }
        });
        both(cpus, waker, || sleeper.sleeps())
    });
    for (kick, wake) in taken {
        figures.add(What::KickBusy, kick);
        figures.add(What::WakeBusy, wake);
        figures.add(What::PreemptsOnWake, f64::from(u8::from(wake < AT_ONCE_NS)));
    }
}

/// Two threads of one CPU that wake each other by turns, and two that yield to each other.
pub(super) fn on_one(cpu: usize, figures: &mut Figures) {
    const ROUNDS: u32 = 1_500;
    let words = [AtomicU32::new(0), AtomicU32::new(0)];
    let passes = |mine: &AtomicU32, other: &AtomicU32, first: bool| {
        for round in 0..ROUNDS {
            if first {
                other.store(round + 1, Ordering::Release);
                wake(other);
            }
            sleep_while(mine, round);
            if !first {
                other.store(round + 1, Ordering::Release);
                wake(other);
            }
        }
    };
    let one_way = both(
        (cpu, cpu),
        || {
            let start = Instant::now();
            passes(&words[0], &words[1], true);
            nanos(start.elapsed()) / f64::from(2 * ROUNDS)
        },
        || passes(&words[1], &words[0], false),
    );
    figures.add(What::HandOver, one_way);

    let over = AtomicBool::new(false);
    let others = AtomicU64::new(0);
    let yielded = both(
        (cpu, cpu),
        || {
            spin_for(Duration::from_micros(50));
            while others.load(Ordering::Acquire) == 0 {
                rustix::thread::sched_yield();
            }
            let (start, before) = (Instant::now(), others.load(Ordering::Acquire));
            let own = 1_500;
            for _ in 0..own {
                rustix::thread::sched_yield();
            }
            let time = nanos(start.elapsed());
            over.store(true, Ordering::Release);
            time / (own + others.load(Ordering::Acquire) - before) as f64
        },
        || {
            while !over.load(Ordering::Acquire) {
                others.fetch_add(1, Ordering::AcqRel);
                rustix::thread::sched_yield();
            }
        },
    );
    figures.add(What::YieldSwitch, yielded);
}

fn barrier() {
    let _ = membarrier(MembarrierCommand::PrivateExpedited);
}

/// The heavy side of an asymmetric fence; nothing where the kernel has none.
pub(super) fn barriers(cpus: &[usize], figures: &mut Figures) {
    // While this process has few threads, or it takes milliseconds.
    if membarrier(MembarrierCommand::RegisterPrivateExpedited).is_err() {
        return;
    }
    let (Some(&first), Some(&last)) = (cpus.first(), cpus.last()) else { return };
    figures.add(What::BarrierAlone, alone(first, || each(200, barrier)));
    if first == last {
        return;
    }
    for (what, others) in [(What::BarrierPair, 1), (What::BarrierMany, cpus.len() * 4)] {
        let over = AtomicBool::new(false);
        let time = std::thread::scope(|scope| {
            for other in 0..others {
                let over = &over;
                scope.spawn(move || {
                    keep_to(&[cpus[cpus.len() - 1 - other % (cpus.len() - 1)]]);
                    while !over.load(Ordering::Acquire) {
                        spin_loop();
                    }
                });
            }
            // The others have begun by then.
            std::thread::sleep(Duration::from_millis(1));
            let time = alone(first, || each(200, barrier));
            over.store(true, Ordering::Release);
            time
        });
        figures.add(what, time);
    }
}

/// What it costs to have one's data in another CPU's caches: 16 KiB that were written there.
pub(super) fn moves(cpus: (usize, usize), figures: &mut Figures) {
    let data: Vec<AtomicU64> = core::iter::repeat_with(AtomicU64::default).take(16 * 1024 / 8).collect();
    let walk = || {
        let start = Instant::now();
        data.iter()
            .step_by(8)
            .for_each(|word| word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
        nanos(start.elapsed())
    };
    let extra = alone(cpus.0, || {
        walk();
        let warm = walk();
        keep_to(&[cpus.1]);
        walk() - warm
    });
    figures.add(What::Migrate, extra.max(0.0));
}
