//! Threads on CPUs of their own choice, and loops that the compiler leaves alone.
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::thread::{Scope, ScopedJoinHandle, scope};
use std::time::Instant;

/// Keeps the calling thread to some CPUs. If that is refused the figures are only noisier.
pub(super) fn keep_to(cpus: &[usize]) {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    let _ = sched_setaffinity(None, &set);
}

/// Runs a body on a CPU, in a thread of its own.
pub(super) fn on<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    cpu: usize,
    body: impl FnOnce() -> T + Send + 's,
) -> ScopedJoinHandle<'s, T> {
    scope.spawn(move || {
        keep_to(&[cpu]);
        body()
    })
}

/// Runs one body on one CPU.
pub(super) fn alone<T: Send>(cpu: usize, body: impl FnOnce() -> T + Send) -> T {
    scope(|scope| on(scope, cpu, body).join().expect("measuring does not panic"))
}

/// Runs two bodies at once, each on its CPU, and gives what the first returns.
pub(super) fn both<T: Send>(
    cpus: (usize, usize),
    first: impl FnOnce() -> T + Send,
    second: impl FnOnce() + Send,
) -> T {
    scope(|scope| {
        on(scope, cpus.1, second);
        on(scope, cpus.0, first).join().expect("measuring does not panic")
    })
}

/// Runs a body while a thread spins on each of some CPUs.
pub(super) fn beside_spinners<T>(cpus: impl Iterator<Item = usize>, body: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    scope(|scope| {
        for cpu in cpus {
            on(scope, cpu, || {
                while !over.load(Ordering::Acquire) {
                    spin_loop();
                }
            });
        }
        let result = body();
        over.store(true, Ordering::Release);
        result
    })
}

/// Nanoseconds that a body takes.
pub(super) fn timed(body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    nanos(start.elapsed())
}

/// Nanoseconds that `count` calls of `body` take, each.
pub(super) fn each(count: u32, mut body: impl FnMut()) -> f64 {
    timed(|| (0..count).for_each(|_| body())) / f64::from(count)
}

/// The same as the fastest of three: an interruption makes it longer, never shorter.
pub(super) fn best_each(count: u32, mut body: impl FnMut()) -> f64 {
    (0..3).map(|_| each(count, &mut body)).fold(f64::INFINITY, f64::min)
}

pub(super) fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}
