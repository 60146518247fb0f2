//! Which threads of a recording are workers, of which there are more when the program has more threads.
use super::program::{Identity, Seen};
use std::collections::HashMap;

/// A worker took shared locks, or any if none is shared, at least this part as often as the busiest thread.
const BUSY: u64 = 10;
/// A thread is like others if the cosine of what it takes and what they take together is above this. Where up
/// to ten kinds of threads take different locks, as many each, all are like the others.
const ALIKE: f64 = 0.3;

/// Of each thread, whether it is a worker: it is busy, and takes the shared locks that other busy threads
/// take, of which each counts the same. Where none does, all busy threads are workers.
pub(super) fn of(threads: usize, seen: &HashMap<Identity, Seen>) -> Vec<bool> {
    let nothing_is_shared = !seen.values().any(Seen::is_shared);
    let mut events = vec![0; threads];
    for lock in seen.values().filter(|lock| lock.is_shared() || nothing_is_shared) {
        for (&thread, &count) in &lock.threads {
            events[thread] += count;
        }
    }
    let most = events.iter().copied().max().unwrap_or(0);
    let is_busy: Vec<bool> = events.iter().map(|&count| count > 0 && count * BUSY >= most).collect();
    // Of each shared lock, the busy threads and how often they took it.
    let shared = || {
        let shared = seen.values().filter(|lock| lock.is_shared());
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
    if alike.contains(&true) { alike } else { is_busy }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each thread took each lock.
    fn workers<const N: usize>(locks: &[[u64; N]]) -> Vec<bool> {
        let lock = |(address, counts): (u64, &[u64; N])| {
            let threads = counts.iter().copied().enumerate().filter(|(_, count)| *count > 0);
            let events = counts.iter().sum();
            ((address, false), Seen { threads: threads.collect(), events, ..Seen::default() })
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
    fn where_no_two_are_alike_all_are_workers() {
        assert_eq!(workers(&[[500, 0, 100], [0, 500, 100]]), [true, true, true], "a shard each");
        assert_eq!(workers(&[[500, 0], [0, 400]]), [true, true]);
        assert_eq!(workers(&[[500, 300]]), [true, true], "both ends of a queue");
        assert_eq!(workers(&[[500, 1, 1]]), [true, false, false], "one has the lock for itself");
        assert!(workers::<0>(&[]).is_empty());
    }
}
