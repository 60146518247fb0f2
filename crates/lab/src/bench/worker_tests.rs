//! The worker: contention, what does not add up, draws, and ends of threads.
use super::*;
use crate::bench::tests::calibration;
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
    let alone = CellSpec {
        lock: "watched".into(),
        threads: 1,
        profile: Profile::default(),
        mix: None,
        pass: Pass::AfterContention,
        round: 0,
        time_ms: 1,
        drain_ms: 10_000,
        seed: 1,
        calibration: calibration(),
    };
    let lock = Arc::new(CachePadded::new(Watched::new()));
    // Once, where two CPUs are free for five milliseconds.
    let met = || {
        run_threads(&contention(&alone), &(lock.clone() as Arc<dyn Loops>));
        lock.1.load(Relaxed) > 0
    };
    assert!((0..1000).any(|_| met()));
}

#[test]
fn what_does_not_add_up_is_noticed() {
    assert_eq!(state([5, 3], 0, false, [3, 3]), State::Measured);
    assert_eq!(state([5, 3], 0, true, [3, 3]), State::Stalled);
    assert_eq!(state([5, 3], 0, false, [3, 2]), State::Broken { acquisitions: 3, counter: 2 });
    assert_eq!(state([5, 3], 0, false, [2, 3]), State::Broken { acquisitions: 3, counter: 2 });
    assert_eq!(state([5, 3], 1, true, [3, 3]), State::Torn { of_reads: 5, torn: 1 });
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
fn waits_of_threads_add_up() {
    let mut waits = vec![new_histogram(), new_histogram()];
    let none = waits.clone();
    waits[WRITE].saturating_record(100);
    let all = add_up(vec![none, waits.clone(), waits, Vec::new()]);
    assert_eq!(all.map(|side| side.len()), [0, 2]);
}
