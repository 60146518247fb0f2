//! Which part of a recording is replayed, and which of its threads are workers.
use super::*;

/// Two threads take a lock 100 times and compute 4 us before each; thread 1 does something else.
#[test]
fn workers_compute_or_wait_and_take_locks() {
    let thread = |thread, number: u64, think: u64, wait: u64| {
        let length = 1_000_000 / number;
        let slept = length - think - wait - 100;
        let round = |last| {
            (mark(SLEPT, slept, &[slept, 0, 0]), vec![event(5, last + slept + think, last, wait, 100)])
        };
        rounds(thread, number, length, round)
    };
    let acquired = |first: Chunk| {
        let (recorded, recording) = loaded(&[first, thread(2, 100, 4000, 0), thread(3, 100, 4000, 0)]);
        assert_eq!((recording.workers, recording.threads), (recorded.workers.len(), 3));
        recorded.workers.iter().map(Script::acquisitions).collect::<Vec<u64>>()
    };
    assert_eq!(acquired(thread(1, 50, 4000, 0)), [100, 100, 50], "takes half as often");
    assert_eq!(acquired(thread(1, 50, 400, 0)), [100, 100], "computes a twentieth");
    assert_eq!(acquired(thread(1, 500, 10, 0)), [100, 100], "takes more, and computes an eighth");
    assert_eq!(
        acquired(thread(1, 500, 10, 1000)),
        [500, 100, 100],
        "the same, and waits as long as others compute"
    );
    assert_eq!(acquired(thread(1, 5, 90_000, 0)), [100, 100], "computes more, and takes a twentieth");
}

/// A thread takes a lock every 50 ms for two seconds, a thousand times as often for one, and seldom again.
fn idle_at_both_ends(thread: u64) -> Chunk {
    const MS: u64 = 1_000_000;
    let idle = |from: u64, rounds: u64| (0..rounds).map(move |round| from + round * 50 * MS);
    let busy = (0..20_000).map(|round| 2000 * MS + round * MS / 20);
    let mut last = 0;
    let events: Vec<Event> = idle(MS, 39)
        .chain(busy)
        .chain(idle(3001 * MS, 30))
        .map(|came| event(5, came, core::mem::replace(&mut last, came + 900), 0, 900))
        .collect();
    chunk(thread, &events)
}

#[test]
fn a_server_without_clients_is_not_replayed() {
    let (recorded, recording) = loaded(&[idle_at_both_ends(1), idle_at_both_ends(2)]);
    let [first, last] = recording.left_out_ns;
    assert!((1.99e9..2.02e9).contains(&first) && (1.4e9..1.46e9).contains(&last), "{recording:?}");
    assert!((0.97e9..1.0e9).contains(&recording.span_ns), "{recording:?}");
    assert!((39_100..40_000).contains(&recording.acquisitions), "{recording:?}");
    let rates = simulated(recorded, &recording, "stanchion", 2, &[1, 2, 3, 4]).rate.values;
    assert!(rates.iter().all(|rate| (38e3..42e3).contains(rate)), "from no moment on it is idle: {rates:?}");
    let beside = |wait, hold, came| {
        let third = chunk(3, &[event(7, came, 0, wait, hold)]);
        loaded(&[idle_at_both_ends(1), idle_at_both_ends(2), third]).1
    };
    let crossing = beside(0, 1_400_000_000, 2_980_000_000);
    assert!((0.97e9..1.0e9).contains(&crossing.span_ns), "a hold that reaches into the end: {crossing:?}");
    let waiting = beside(1_400_000_000, 0, 3_100_000_000);
    let ends = waiting.left_out_ns.map(|end| end > 0.0);
    assert_eq!(ends, [true, false], "who waits there counts: {waiting:?}");
    let (_, steady) = loaded(&[nested(1, 500), nested(2, 500)]);
    assert_eq!((steady.left_out_ns, steady.acquisitions), ([0.0; 2], 2000));
}

/// What is seen of the ends decides nothing: a thread of the beginning is no worker, a wait that began there
/// is no longer than its rest, and clients compute as much as the CPUs have time for.
#[test]
fn what_is_left_out_does_not_count() {
    let early: Vec<Event> = (0..390).map(|round| event(5, round * 1000 + 1000, round * 1000, 0, 0)).collect();
    let mut waits = idle_at_both_ends(4);
    waits.events = mark(TIMED_OUT, 2_100_000_000, &[2_100_000_000, 77]);
    waits.number = 0;
    let threads = [idle_at_both_ends(1), idle_at_both_ends(2), chunk(3, &early), waits];
    let cpu = |others| Some(CpuTime { wall: 5e9, own: 40e6, others, cpus: Some(2) });
    let load = |others| {
        let file = written_beside(&threads, Totals::default(), cpu(others));
        load(file.path(), &Places::default(), false).expect("a recording")
    };
    let (recorded, recording) = load(1e9);
    assert_eq!((recording.threads, recording.workers), (4, 2), "{recording:?}");
    let (from, until) = recorded.others[1].span();
    assert!(until - from < 110_000_000, "{from}..{until}");
    let share = |(_, recording): (Recorded, Recording)| {
        recording
            .limits
            .iter()
            .find(|limit| limit.contains("other processes used"))
            .cloned()
            .expect("they did")
    };
    assert_eq!(share(load(9e9)), share(load(8e9)), "two CPUs have two seconds in one");
    assert_ne!(share(load(1e9)), share(load(8e9)));
}
