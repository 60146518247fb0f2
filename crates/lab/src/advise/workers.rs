//! Which threads of a recording are workers, of which there are more when the program has more threads.
use super::program::{Identity, Seen};
use std::collections::HashMap;

/// A worker took shared locks at least one in so many times as often as the busiest thread.
const BUSY: u64 = 10;
/// Shared locks say nothing of workers if less than one in so many acquisitions is of one: all locks count then.
const FEW: u64 = 100;
/// A thread is like others if the cosine of what it takes and what they take together is above this. Of kinds that
/// take different locks and have two threads each, three are alike by that; of kinds that have many each, ten.
const ALIKE: f64 = 0.3;

/// Of each thread, whether it is a worker: it is busy, and takes the shared locks that other busy threads take,
/// of which each counts the same. If less than half of the busy threads do, all busy threads are workers.
pub(super) fn of(threads: usize, seen: &HashMap<Identity, Seen>) -> Vec<bool> {
    let count = |counts: fn(&Seen) -> bool| {
        let mut events = vec![0_u64; threads];
        for (&thread, &count) in seen.values().filter(|lock| counts(lock)).flat_map(|lock| &lock.threads) {
            events[thread] += count;
        }
        events
    };
    let (shared_events, all_events) = (count(|lock| lock.is_shared), count(|_| true));
    let shares = shared_events.iter().sum::<u64>() > all_events.iter().sum::<u64>() / FEW;
    let events = if shares { shared_events } else { all_events };
    let most = events.iter().copied().max().unwrap_or(0);
    let is_busy: Vec<bool> = events.iter().map(|&count| count > 0 && count * BUSY >= most).collect();
    // Of each shared lock, the busy threads and how often they took it.
    let shared = || {
        let shared = seen.values().filter(|lock| lock.is_shared);
        shared.map(|lock| {
            let counts = lock.threads.iter().map(|(&thread, &count)| (thread, count as f64));
            counts.filter(|(thread, _)| is_busy[*thread])
        })
    };
    let mut lengths = vec![0.0; threads];
    for (thread, count) in shared().flatten() {
        lengths[thread] += count * count;
    }
    let parts =
        || shared().map(|counts| counts.map(|(thread, count)| (thread, count / f64::sqrt(lengths[thread]))));
    // Products of each thread's with all others' of it together, and those others' with themselves.
    let (mut products, mut squares) = (vec![0.0; threads], vec![0.0; threads]);
    let mut together = 0.0;
    for of_lock in parts() {
        let all: f64 = of_lock.clone().map(|(_, part)| part).sum();
        together += all * all;
        for (thread, part) in of_lock {
            products[thread] += part * (all - part);
            squares[thread] += part * (2.0 * all - part);
        }
    }
    let is_alike = |thread: usize| {
        let others = f64::max(together - squares[thread], 0.0);
        products[thread] > ALIKE * others.sqrt()
    };
    let alike: Vec<bool> = (0..threads).map(is_alike).collect();
    let number = |of: &[bool]| of.iter().filter(|is| **is).count();
    if 2 * number(&alike) >= number(&is_busy) { alike } else { is_busy }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each thread took each lock.
    fn workers<const N: usize>(locks: &[[u64; N]]) -> Vec<bool> {
        let lock = |(address, counts): (u64, &[u64; N])| {
            let threads = counts.iter().copied().enumerate().filter(|(_, count)| *count > 0);
            let events = counts.iter().sum();
            let mut seen = Seen { threads: threads.collect(), events, ..Seen::default() };
            seen.judge(1_000_000);
            ((address, false), seen)
        };
        of(N, &(0..).zip(locks).map(lock).collect())
    }

    #[test]
    fn who_takes_other_locks_than_all_that_are_alike_is_no_worker() {
        // Two that share a table of two locks, each with its own counters, and one that looks at others.
        let own = [[9000, 0, 9], [0, 9000, 9]];
        let table = [[500, 400, 9], [400, 500, 9], [90, 90, 5000]];
        assert_eq!(workers(&[&own[..], &table].concat()), [true, true, false], "it is busier than they are");
        assert_eq!(
            workers(&[[500, 400, 9], [9, 9, 5000]]),
            [true, true, false],
            "a lock of its own is its own"
        );
        assert_eq!(workers(&[[500, 400, 30]]), [true, true, false], "hardly there");
    }

    #[test]
    fn kinds_of_threads_that_are_as_many_are_all_workers_and_few_among_many_are_not() {
        let kinds = [[9, 8, 9, 0, 0, 0], [0, 0, 0, 9, 8, 9], [1, 1, 1, 1, 1, 1]];
        assert_eq!(workers(&kinds), [true; 6]);
        let few = [[9, 8, 9, 9, 8, 0], [0, 0, 0, 0, 0, 9], [0, 0, 0, 0, 1, 0]];
        assert_eq!(workers(&few), [true, true, true, true, true, false]);
    }

    #[test]
    fn if_few_are_alike_all_are_workers() {
        assert_eq!(workers(&[[500, 10], [10, 500]]), [true, true], "a shard each");
        let scanned = [[500, 0, 0, 100], [0, 500, 0, 100], [0, 0, 500, 100]];
        assert_eq!(workers(&scanned), [true; 4], "only the last one is like the others together");
        assert_eq!(workers(&[[500, 300]]), [true, true], "both ends of a queue");
        assert!(workers::<0>(&[]).is_empty());
    }

    #[test]
    fn locks_of_their_own_count_where_hardly_any_is_shared() {
        assert_eq!(workers(&[[500, 0], [0, 400]]), [true, true]);
        assert_eq!(workers(&[[500, 1, 1]]), [true, false, false], "one has the lock for itself");
        let once = [[100_000, 0, 0, 0], [0, 100_000, 0, 0], [0, 0, 2, 2]];
        assert_eq!(workers(&once), [true, true, false, false]);
    }
}
