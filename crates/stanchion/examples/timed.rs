//! What a deadline costs where threads outnumber CPUs: how often an acquisition with one succeeds, how late
//! one that fails returns, and how often its thread was woken meanwhile; this crate's mutex beside libc's.
//!
//! `cargo run --release -p stanchion --example timed [THREADS_A_CPU [SECTION_US [ROUNDS]]]`. The sides take
//! turns, half a second each; a row has the medians of the rounds. A wake-up is a voluntary switch of
//! context (`getrusage`), counted in acquisitions that took over 20 us.
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use stanchion::lock::StanchionLock;
use stanchion::lock_api::{RawMutex, RawMutexTimed};
use stanchion::stanchion_core::RawLock;
use std::thread;
use std::time::Instant;

/// A lock that can be waited for until a deadline.
trait Timed: Sync {
    fn acquire_for(&self, time: Duration) -> bool;
    /// The calling thread holds it.
    fn release(&self);
}

struct Ours(StanchionLock);

impl Timed for Ours {
    fn acquire_for(&self, time: Duration) -> bool {
        self.0.try_lock_for(time).is_some()
    }

    fn release(&self) {
        self.0.inner().release();
    }
}

struct Libcs(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex of POSIX is made for threads that share it.
unsafe impl Sync for Libcs {}

impl Timed for Libcs {
    fn acquire_for(&self, time: Duration) -> bool {
        let mut until = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the mutex was initialised, and lives; the time is there to be written and read.
        unsafe {
            libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut until);
            let nanos = until.tv_nsec + libc::c_long::from(time.subsec_nanos());
            until.tv_sec += time.as_secs().cast_signed() + nanos / 1_000_000_000;
            until.tv_nsec = nanos % 1_000_000_000;
            libc::pthread_mutex_timedlock(self.0.get(), &raw const until) == 0
        }
    }

    fn release(&self) {
        // SAFETY: the caller holds it, as POSIX asks.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}

/// One acquisition, or one that failed.
struct Wait {
    acquired: bool,
    took: Duration,
    wakeups: i64,
}

fn switches() -> i64 {
    let mut used = core::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the record is there to be written, and all-zero is one.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, used.as_mut_ptr());
        used.assume_init().ru_nvcsw
    }
}

fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        core::hint::spin_loop();
    }
}

/// What all threads did in one round.
fn round(lock: &dyn Timed, threads: usize, section: Duration, deadline: Duration) -> Vec<Wait> {
    let stop = AtomicBool::new(false);
    let work = || {
        let mut waits = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let (before, began) = (switches(), Instant::now());
            let acquired = lock.acquire_for(deadline);
            let took = began.elapsed();
            if acquired {
                compute(section);
                lock.release();
            }
            waits.push(Wait { acquired, took, wakeups: switches() - before });
            compute(section);
        }
        waits
    };
    thread::scope(|scope| {
        let crew: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::Relaxed);
        crew.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    values.get(values.len() / 2).copied()
}

/// Acquisitions, the share that succeeds, wake-ups of the median wait and of one in ten, and how many
/// microseconds late the median failure is.
fn figures(waits: &[Wait], deadline: Duration) -> [f64; 5] {
    let share = waits.iter().filter(|wait| wait.acquired).count() as f64 / waits.len() as f64;
    let mut wakeups: Vec<i64> =
        waits.iter().filter(|wait| wait.took > Duration::from_micros(20)).map(|wait| wait.wakeups).collect();
    wakeups.sort_unstable();
    let of =
        |tenths: usize| wakeups.get(wakeups.len() * tenths / 10).map_or(f64::NAN, |&number| number as f64);
    let late = waits.iter().filter(|wait| !wait.acquired);
    let late = median(late.map(|wait| wait.took.saturating_sub(deadline).as_secs_f64() * 1e6).collect());
    [waits.len() as f64, share * 100.0, of(5), of(9), late.unwrap_or(f64::NAN)]
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a number"));
    let mut next = |otherwise| arguments.next().unwrap_or(otherwise);
    let (times, section, rounds) = (next(16), Duration::from_micros(next(100)), next(7));
    let threads = thread::available_parallelism().map_or(2, core::num::NonZero::get) * times as usize;
    let ours = Ours(StanchionLock::INIT);
    let libcs = Libcs(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
    let sides: [(&str, &dyn Timed); 2] = [("stanchion", &ours), ("libc", &libcs)];
    println!("{threads} threads, sections of {section:?}, {rounds} rounds of half a second");
    println!("deadline  lock       acquisitions  succeed %  wake-ups  of 1 in 10  late by us");
    for deadline in [1, 10, 100].map(Duration::from_millis) {
        let mut seen = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (seen, (_, lock)) in seen.iter_mut().zip(sides) {
                seen.push(figures(&round(lock, threads, section, deadline), deadline));
            }
        }
        for (seen, (name, _)) in seen.iter().zip(sides) {
            let of =
                |index: usize| median(seen.iter().map(|row| row[index]).filter(|x| !x.is_nan()).collect());
            let of = |index| of(index).map_or("-".to_owned(), |value: f64| format!("{value:.1}"));
            println!(
                "{:<8}  {name:<9}  {:>12}  {:>9}  {:>8}  {:>10}  {:>10}",
                format!("{deadline:?}"),
                of(0),
                of(1),
                of(2),
                of(3),
                of(4)
            );
        }
    }
}
