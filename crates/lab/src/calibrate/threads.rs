//! Threads on CPUs of their own choice, and loops that the compiler leaves alone.
use crate::bench::restrict_to;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::thread::scope;
use std::time::Instant;

/// Keeps the calling thread to some CPUs. If that is refused the figures are only noisier.
pub(super) fn keep_to(cpus: &[usize]) {
    let _ = restrict_to(cpus);
}

/// The same body on a CPU, for a thread of its own. All bodies with one kind of result are of one type, so
/// what starts them is compiled once.
pub(super) fn on<'a, T>(
    cpu: usize,
    body: impl FnOnce() -> T + Send + 'a,
) -> Box<dyn FnOnce() -> T + Send + 'a> {
    Box::new(move || {
        keep_to(&[cpu]);
        body()
    })
}

pub(super) fn alone<T: Send>(cpu: usize, body: impl FnOnce() -> T + Send) -> T {
    scope(|scope| scope.spawn(on(cpu, body)).join().expect("measuring does not panic"))
}

/// Runs two bodies at once, each on its CPU, and gives what the first returns.
pub(super) fn both<T: Send>(
    cpus: (usize, usize),
    first: impl FnOnce() -> T + Send,
    second: impl FnOnce() + Send,
) -> T {
    scope(|scope| {
        scope.spawn(on(cpus.1, second));
        scope.spawn(on(cpus.0, first)).join().expect("measuring does not panic")
    })
}

/// One way of a word that is passed to and fro by two threads, in nanoseconds: `pass` waits until it is the
/// first number, and makes it the second.
pub(super) fn one_way(cpus: (usize, usize), turns: u32, pass: impl Fn(&AtomicU32, u32, u32) + Sync) -> f64 {
    let word = CachePadded::new(AtomicU32::new(0));
    let passes = |mine: u32| {
        for turn in 0..turns {
            pass(&word, 2 * turn + mine, 2 * turn + mine + 1);
        }
    };
    both(cpus, || timed(|| passes(0)), || passes(1)) / f64::from(2 * turns)
}

/// Runs a body while threads on some CPUs do something again and again.
pub(super) fn beside<T>(
    others: impl IntoIterator<Item = (usize, impl Fn() + Send)>,
    body: impl FnOnce() -> T,
) -> T {
    let over = &AtomicBool::new(false);
    scope(|scope| {
        for (cpu, again) in others {
            scope.spawn(on(cpu, move || {
                while !over.load(Ordering::Acquire) {
                    again();
                }
            }));
        }
        let result = body();
        over.store(true, Ordering::Release);
        result
    })
}

pub(super) fn spin_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        spin_loop();
    }
}

/// Nanoseconds that a body takes.
pub(super) fn timed(body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    nanos(start.elapsed())
}

/// Nanoseconds that `count` calls of `body` take, each.
pub(super) fn each<T>(count: u32, mut body: impl FnMut() -> T) -> f64 {
    timed(|| (0..count).for_each(|_| drop(body()))) / f64::from(count)
}

/// The same as the fastest of three: an interruption makes it longer, never shorter.
pub(super) fn best_each<T>(count: u32, mut body: impl FnMut() -> T) -> f64 {
    (0..3).map(|_| each(count, &mut body)).fold(f64::INFINITY, f64::min)
}

pub(super) fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}
