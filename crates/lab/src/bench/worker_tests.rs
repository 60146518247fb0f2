//! The worker: contention, what does not add up, draws, and ends of threads.
use super::*;
use std::sync::Mutex;

/// Knows whether anybody found it taken.
struct Watched(Mutex<()>, AtomicU64);

impl Contender for Watched {
    fn new() -> Self {
        Self(Mutex::new(()), AtomicU64::new(0))
    }

    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.1.fetch_add(u64::from(self.0.try_lock().is_err()), Relaxed);
        let _guard = self.0.lock();
        critical()
    }
}

#[test]
fn two_threads_meet_at_a_lock_that_is_contended() {
    let lock = Lock(CachePadded::new(Watched::new()));
    // Once, where two CPUs are free for five milliseconds.
    let met = || {
        contend(&lock);
        lock.0.1.load(Relaxed) > 0
    };
    assert!((0..1000).any(|_| met()));
}

fn end(reads: u64, writes: u64, torn: u64) -> ThreadEnd {
    ThreadEnd { acquisitions: [reads, writes], torn, waits: Vec::new() }
}

#[test]
fn what_does_not_add_up_is_noticed() {
    assert_eq!(state(&end(5, 3, 0), false, [3, 3]), State::Measured);
    assert_eq!(state(&end(5, 3, 0), true, [3, 3]), State::Stalled);
    assert_eq!(state(&end(5, 3, 0), false, [3, 2]), State::Broken { acquisitions: 3, counter: 2 });
    assert_eq!(state(&end(5, 3, 0), false, [2, 3]), State::Broken { acquisitions: 3, counter: 2 });
    assert_eq!(state(&end(5, 3, 1), true, [3, 3]), State::Torn { of_reads: 5, torn: 1 });
}

#[test]
fn draws_follow_the_share() {
    let mut random = random(7, 0);
    let mut writes = |times, below| (0..times).map(|_| draw(true, &mut random, below)).sum::<usize>();
    let tenth = writes(10_000, (1 << 32) / 10 * 9);
    assert!((850..1150).contains(&tenth), "{tenth}");
    assert_eq!(writes(1000, 1 << 32), 0);
}

#[test]
fn ends_add_up_with_their_waits() {
    let mut waits = vec![new_histogram(), new_histogram()];
    let first = ThreadEnd { waits: waits.clone(), ..end(1, 2, 0) };
    waits[WRITE].saturating_record(100);
    let all = first.plus(ThreadEnd { waits: waits.clone(), ..end(10, 20, 3) });
    let all = all.plus(ThreadEnd { waits, ..end(0, 1, 0) });
    assert_eq!((all.acquisitions, all.torn), ([11, 23], 3));
    assert_eq!(all.waits.iter().map(Histogram::len).collect::<Vec<_>>(), [0, 2]);
}
