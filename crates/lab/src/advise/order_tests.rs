//! Locks that are taken in both orders.
use super::*;

/// Holds of an outer lock for 2 us each, and of an inner one for 200 ns under it, which threads waited for so
/// long.
fn pairs(thread: u64, times: u64, [outer, inner]: [u64; 2], wait: u64) -> Chunk {
    rounds(thread, times, 10_000, |last| {
        let holds =
            [event(inner, last + 9000, last, wait, 200), event(outer, last + 8000, last + 9200, 0, 2000)];
        (Vec::new(), holds.to_vec())
    })
}

/// What the recording says of such locks.
fn told(recording: &Recording) -> Option<&str> {
    recording.limits.iter().map(String::as_str).find(|limit| limit.starts_with("locks are taken in both"))
}

/// Thread 3 holds lock 6 and only tries lock 5, which others hold while they wait for lock 6.
#[test]
fn who_tries_a_lock_waits_for_nobody() {
    let threads = [nested(1, 5000), nested(2, 5000), pairs(3, 500, [6, 5], 0)];
    let (mut recorded, recording) = loaded(&threads);
    let line = told(&recording).expect("told");
    assert!(line.contains("(1 pair)") && line.contains("2.4 % of all"), "{line}");
    recorded.once = true;
    assert_eq!(played(recorded, 3).ops, [10_000, 10_000, 1000]);
}

#[test]
fn who_waited_did_not_try() {
    let freed = |wait| {
        let (_, recording) = loaded(&[pairs(1, 600, [5, 6], 0), pairs(2, 400, [6, 5], wait)]);
        told(&recording).map(str::to_owned)
    };
    assert!(freed(0).is_some_and(|line| line.contains("20 % of all")), "the rarer order: {:?}", freed(0));
    assert!(freed(100).is_some_and(|line| line.contains("30 % of all")), "the other one: {:?}", freed(100));
}

/// A wait for a reader-writer lock is never nothing.
#[test]
fn a_reading_of_the_clock_is_no_wait() {
    let writes = rounds(1, 400, 10_000, |last| {
        let inner = event_of(WRITE, 6, last + 9000, last, 20, 200);
        (Vec::new(), vec![inner, event(5, last + 8000, last + 9220, 0, 2000)])
    });
    let mutex_under_it = rounds(2, 600, 10_000, |last| {
        let outer = event_of(WRITE, 6, last + 8000, last + 9200, 20, 1980);
        (Vec::new(), vec![event(5, last + 9000, last, 0, 200), outer])
    });
    let (_, recording) = loaded(&[writes, mutex_under_it]);
    assert!(told(&recording).is_some_and(|line| line.contains("20 % of all")), "{:?}", recording.limits);
}

#[test]
fn who_cannot_wait_for_each_other_is_not_free() {
    let own = |thread, own| {
        let mut all = pairs(thread, 600, [5, own], 0);
        let more = pairs(thread, 400, [own, 5], 0);
        all.events.extend(more.events);
        all.number += more.number;
        all
    };
    assert_eq!(told(&loaded(&[own(1, 6), own(2, 7)]).1), None, "nobody else takes the second lock");
    let reads = |thread, [outer, inner]: [u64; 2]| {
        rounds(thread, 500, 10_000, |last| {
            let inner = event_of(READ, inner, last + 9000, last, 0, 200);
            (Vec::new(), vec![inner, event_of(READ, outer, last + 8000, last + 9200, 0, 2000)])
        })
    };
    assert_eq!(told(&loaded(&[reads(1, [5, 6]), reads(2, [6, 5])]).1), None, "readers");
}

/// Thread 1 takes lock 5 at the beginning of each of its long holds of lock 6, and forty others after it.
#[test]
fn a_lock_is_found_under_a_long_hold() {
    let long = rounds(1, 50, 100_000, |last| {
        let before = |number: u64| if number == 0 { last } else { last + 1100 + number * 1000 };
        let inner = |(number, lock)| event(lock, last + 2000 + number * 1000, before(number), 0, 100);
        let mut holds: Vec<Event> = (0..).zip([5].into_iter().chain(100..139)).map(inner).collect();
        let released = holds[39].released();
        holds.push(event(6, last + 1000, released, 0, 90_000));
        (Vec::new(), holds)
    });
    let (_, recording) = loaded(&[long, nested(2, 500), nested(3, 500)]);
    let line = told(&recording).expect("50 of 4050");
    assert!(line.contains("(1 pair)") && line.contains("1.2 % of all"), "{line}");
}

/// By a clock that goes in steps, a thread comes for two locks at once, and for the next one when it releases
/// them.
#[test]
fn locks_of_one_moment_are_nested_as_their_releases_are() {
    let coarse = rounds(1, 500, 10_000, |last| {
        let first = [event(7, last + 1000, last, 0, 500), event(6, last + 1000, last + 1500, 0, 1000)];
        let then = [event(5, last + 1000, last + 2000, 0, 2000), event(7, last + 4000, last + 3000, 0, 1000)];
        let last_of_all = event(5, last + 3000, last + 5000, 0, 3000);
        (Vec::new(), [&first[..], &then, &[last_of_all]].concat())
    });
    let (mut recorded, recording) = loaded(&[coarse, pairs(2, 500, [5, 6], 0)]);
    assert_eq!(told(&recording), None);
    recorded.once = true;
    assert_eq!(played(recorded, 2).ops, [2500, 1000]);
}
