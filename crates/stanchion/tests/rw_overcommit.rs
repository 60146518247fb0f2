//! Reader-writer locks with far more readers than CPUs, who read all the time: writers get in, and readers
//! after them.
#![cfg(feature = "std")]

#[path = "support/fenced.rs"]
mod fenced;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use stanchion::lock::{PerCpuRwLock, QueuedRwLock};
use stanchion::lock_api::{RawRwLock, RwLock};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;
use watch::{Crew, until};

const WRITERS: usize = 2;

/// What one run showed.
struct Run {
    /// All writers wrote as often as they wanted before the time was up.
    done: bool,
    reads_least: u64,
}

/// Eight readers a CPU read for as long as writers write `writes` times each, at most for `limit`. A reader
/// stays for a while, so that there is a reader inside nearly always.
fn run<R>(lock: &'static RwLock<R, [u64; 8]>, writes: u64, limit: Duration) -> Run
where
    R: RawRwLock + Send + Sync + 'static,
{
    fenced::fence_if_sanitized();
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let readers = 8 * cpus;
    let writing: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(WRITERS as u64)));
    let reading: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
    // From when all are at work: to start them may take its time.
    let began: &'static OnceLock<Instant> = Box::leak(Box::default());
    let is_over = move || began.get().is_some_and(|began| began.elapsed() >= limit);
    let mut crew = Crew::new();
    for _ in 0..readers {
        crew.spawn(move || {
            let mut reads = 0;
            while writing.load(Relaxed) > 0 && !is_over() {
                let words = lock.read();
                thread::yield_now();
                assert!(words.iter().all(|word| *word == words[0]), "a torn view");
                reads += 1;
                if reads == 1 {
                    reading.fetch_add(1, Relaxed);
                }
            }
            reads
        });
    }
    let report =
        || format!("{} readers at work, {} writers not done", reading.load(Relaxed), writing.load(Relaxed));
    until("all readers at work", report, || reading.load(Relaxed) == readers as u64);
    began.get_or_init(Instant::now);
    for _ in 0..WRITERS {
        crew.spawn(move || {
            for _ in 0..writes {
                if is_over() {
                    return u64::MAX;
                }
                let mut words = lock.write();
                words.iter_mut().for_each(|word| *word += 1);
            }
            writing.fetch_sub(1, Relaxed);
            u64::MAX
        });
    }
    let reads = crew.join(report);
    Run { done: writing.load(Relaxed) == 0, reads_least: reads.into_iter().min().unwrap_or(0) }
}

/// They need the whole machine, each.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner) // a failed test does not fail the others
}

/// Far beyond what is needed on a machine that is busy.
const LONG: Duration = Duration::from_secs(50);

macro_rules! progress {
    ($($name:ident: $lock:ty;)*) => {$(
        #[test]
        fn $name() {
            static SHARED: RwLock<$lock, [u64; 8]> = RwLock::new([0; 8]);
            const WRITES: u64 = 200;
            let _turn = turn();
            let run = run(&SHARED, WRITES, LONG);
            assert!(run.done, "readers keep writers out");
            assert!(run.reads_least > 0, "a reader never got in");
            assert_eq!(*SHARED.read(), [WRITES * WRITERS as u64; 8]);
        }
    )*};
}

progress! {
    qrw: QueuedRwLock;
    percpu_rw: PerCpuRwLock;
}

/// The runs would let any lock pass if nothing could keep writers out.
mod detector {
    use super::*;
    use core::sync::atomic::Ordering::{Acquire, Release};
    use stanchion::lock_api::GuardSend;

    /// Lets readers in whoever waits, so that a writer gets in only when there happens to be no reader.
    struct ReadersFirst(AtomicU64);

    const WRITER: u64 = 1 << 63;

    // SAFETY: readers count themselves while there is no writer's flag, which is set only from zero, by
    // compare-exchange; each acquires what releases before it released.
    unsafe impl RawRwLock for ReadersFirst {
        const INIT: Self = Self(AtomicU64::new(0));
        type SharedGuard = GuardSend;
        type ExclusiveGuard = GuardSend;

        fn lock_shared(&self) -> GuardSend {
            loop {
                if let Some(guard) = self.try_lock_shared() {
                    return guard;
                }
                thread::yield_now();
            }
        }

        fn try_lock_shared(&self) -> Option<GuardSend> {
            let seen = self.0.load(Relaxed);
            let free =
                seen & WRITER == 0 && self.0.compare_exchange(seen, seen + 1, Acquire, Relaxed).is_ok();
            free.then(GuardSend::new)
        }

        unsafe fn unlock_shared(&self, _guard: GuardSend) {
            self.0.fetch_sub(1, Release);
        }

        fn lock_exclusive(&self) -> GuardSend {
            loop {
                if let Some(guard) = self.try_lock_exclusive() {
                    return guard;
                }
                thread::yield_now();
            }
        }

        fn try_lock_exclusive(&self) -> Option<GuardSend> {
            self.0.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok().then(GuardSend::new)
        }

        unsafe fn unlock_exclusive(&self, _guard: GuardSend) {
            self.0.store(0, Release);
        }

        fn is_locked(&self) -> bool {
            self.0.load(Relaxed) != 0
        }

        fn is_locked_exclusive(&self) -> bool {
            self.0.load(Relaxed) & WRITER != 0
        }
    }

    #[test]
    fn a_lock_whose_readers_keep_writers_out_is_caught() {
        static SHARED: RwLock<ReadersFirst, [u64; 8]> = RwLock::new([0; 8]);
        let _turn = turn();
        let limit = Duration::from_millis(500);
        // Readers yield inside, so all but those that run are inside nearly always.
        assert!(!run(&SHARED, 200, limit).done, "writers got in between readers that are always inside");
    }
}
