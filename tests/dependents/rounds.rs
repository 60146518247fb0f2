//! What the four programs have in common: THREADS and SECONDS are typed, and a number a second is printed.
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Threads and how long they work.
pub fn asked() -> (usize, Duration) {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a number"));
    let mut next = || words.next().expect("THREADS SECONDS");
    (next() as usize, Duration::from_secs(next()))
}

/// Threads that each do `step` again and again, with their number and how often they did it before. Returns
/// how often in all.
pub fn threads(step: impl Fn(usize, u64) + Sync) -> u64 {
    let (threads, time) = asked();
    let (stop, total, ready) = (AtomicBool::new(false), AtomicU64::new(0), Barrier::new(threads + 1));
    let took = std::thread::scope(|scope| {
        for thread in 0..threads {
            let (step, stop, total, ready) = (&step, &stop, &total, &ready);
            scope.spawn(move || {
                ready.wait();
                let mut done = 0;
                while !stop.load(Relaxed) {
                    step(thread, done);
                    done += 1;
                }
                total.fetch_add(done, Relaxed);
            });
        }
        ready.wait();
        let begun = Instant::now();
        std::thread::sleep(time);
        stop.store(true, Relaxed);
        begun.elapsed()
    });
    tell(total.load(Relaxed), took);
    total.load(Relaxed)
}

/// The last line is what is measured.
pub fn tell(done: u64, time: Duration) {
    println!("{}", done as f64 / time.as_secs_f64());
}
