//! Recordings made by hand, and what is replayed of them.
use super::*;
use crate::advise::predict::{self, Case, Cell};
use crate::run::record::codec::tests::encode;
use crate::run::record::codec::{Event, Key};
use crate::run::record::file::Meta;
use lab_kit::provenance::Provenance;
use stanchion_sim::machine;
use stanchion_wire::trace::mark::{KEPT, NOTIFIED, SLEPT, TIMED_OUT, WAITED};
use std::sync::Arc;

#[path = "chosen_tests.rs"]
mod chosen;
#[path = "order_tests.rs"]
mod order;

const MUTEX: u64 = 1;
const READ: u64 = 2;
const WRITE: u64 = 3;

fn event(address: u64, came: u64, last: u64, wait: u64, hold: u64) -> Event {
    event_of(MUTEX, address, came, last, wait, hold)
}

fn event_of(kind: u64, address: u64, came: u64, last: u64, wait: u64, hold: u64) -> Event {
    let key = Key::new(address << 2 | kind).expect("a lock");
    Event { key, came, think: came.cast_signed() - last.cast_signed(), wait, hold }
}

fn chunk(thread: u64, events: &[Event]) -> Chunk {
    let slots: Vec<(usize, Event)> =
        events.iter().map(|event| (event.key.address() as usize % 32, *event)).collect();
    let bytes = encode(&slots);
    Chunk { process: 0, pid: 7, thread, base: 0, dropped: 0, number: events.len() as u32, events: bytes }
}

fn written(chunks: &[Chunk], totals: Totals) -> tempfile::NamedTempFile {
    written_beside(chunks, totals, None)
}

fn written_beside(chunks: &[Chunk], totals: Totals, cpu: Option<CpuTime>) -> tempfile::NamedTempFile {
    let meta = Meta {
        ticks_per_ns: 1.0,
        limit: 1,
        program: vec!["/bin/test".into()],
        provenance: Provenance::collect(0),
        cost: None,
        cpu,
    };
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut writer = file::Writer::begin(file.reopen().expect("open"), &meta).expect("written");
    for chunk in chunks {
        writer.chunk(chunk).expect("written");
    }
    let events = chunks.iter().map(|chunk| u64::from(chunk.number)).sum();
    writer.end(&[], &Totals { chunks: chunks.len() as u64, events, ..totals }).expect("written");
    file
}

/// What is replayed of these threads.
fn loaded(chunks: &[Chunk]) -> (Recorded, Recording) {
    let file = written(chunks, Totals::default());
    load(file.path(), &Places::default(), false).expect("a recording")
}

/// Workers of a recording under a lock on a small machine, which takes that.
fn simulated(recorded: Recorded, recording: &Recording, lock: &str, workers: usize, seeds: &[u64]) -> Cell {
    let machine = Arc::new(machine::load("small-vm").expect("shipped").machine);
    let case = Case { machine, workload: Arc::new(recorded.workload("test")), lock: lock.into(), workers };
    let cell = predict::all(recording, &[case], seeds, true).remove(0).expect("simulated");
    assert_eq!(cell.failed, None, "{lock}");
    cell
}

/// So many rounds: outside for 900 ns, lock 5 for 400 ns, and for the last half of that lock 6, too.
fn nested(thread: u64, rounds: u64) -> Chunk {
    let mut events = Vec::new();
    let mut last = 0;
    for _ in 0..rounds {
        let came = last + 900;
        events.push(event(6, came + 200, last, 0, 200));
        events.push(event(5, came, came + 400, 0, 400));
        last = came + 400;
    }
    chunk(thread, &events)
}

#[test]
fn nested_locks_are_taken_in_their_order_and_each_once() {
    let (recorded, recording) =
        loaded(&[nested(1, 500), nested(2, 500), chunk(3, &[event(9, 100, 0, 0, 10)])]);
    assert_eq!(
        (recording.threads, recording.workers, recording.at_once, recording.private_locks),
        (3, 2, 2, 1)
    );
    assert_eq!(recording.acquisitions, 2001);
    assert_eq!(recording.locks.iter().map(|lock| lock.acquisitions).collect::<Vec<_>>(), [1000, 1000]);
    let acquired: Vec<u64> =
        recorded.workers.iter().chain(&recorded.others).map(Script::acquisitions).collect();
    assert_eq!(acquired, [1000, 1000, 1]);
    // In another order they would meet in a deadlock, or a lock would be released that is not held.
    let cell = simulated(recorded, &recording, "stanchion", 4, &[1, 2]);
    assert!(cell.rate.mean > 0.0 && cell.waiting > 0.0, "{cell:?}");
}

/// Each chunk has times of its own, which a program may have written there.
#[test]
fn times_without_sense_are_borne() {
    let long = |thread, wait, hold| chunk(thread, &[event(5, 1, 0, wait, hold)]);
    let most = u64::MAX - 1;
    let (_, recording) = loaded(&[long(1, most, 0), long(1, 0, most), long(2, most, 0), long(2, 0, most)]);
    assert_eq!((recording.acquisitions, recording.locks.len()), (4, 1));
    assert!(recording.waiting.is_finite() && recording.rate > 0.0, "{recording:?}");
}

/// So many rounds: reads lock 5 twice at a time for 400 ns, and writes it for 100 ns.
fn reads_again(thread: u64, rounds: u64) -> Chunk {
    let mut events = Vec::new();
    let mut last = 0;
    for _ in 0..rounds {
        let came = last + 300;
        events.push(event_of(READ, 5, came + 200, last, 0, 100));
        events.push(event_of(READ, 5, came, came + 300, 0, 400));
        events.push(event_of(WRITE, 5, came + 700, came + 400, 0, 100));
        last = came + 800;
    }
    chunk(thread, &events)
}

/// libc's default reader-writer lock lets who reads read again though a writer waits, and so does what stands
/// in its place. Under a lock that queues everybody in order, these threads wait for each other.
#[test]
fn who_reads_may_read_again_though_a_writer_waits() {
    let (recorded, recording) = loaded(&[reads_again(1, 500), reads_again(2, 500)]);
    assert_eq!((&recorded.locks[..], recording.locks[0].kind), (&[Class::Rw][..], "reader-writer lock"));
    let machine = Arc::new(machine::load("small-vm").expect("shipped").machine);
    let workload = Arc::new(recorded.workload("test"));
    for lock in [predict::TODAY, "stanchion", "pv-qspin"] {
        let (machine, workload) = (Arc::clone(&machine), Arc::clone(&workload));
        let case = Case { machine, workload, lock: lock.into(), workers: 8 };
        let cells = predict::all(&recording, &[case], &[1, 2], true);
        let cell = cells[0].as_ref().expect("simulated");
        assert_eq!(cell.failed, None, "{lock}");
        assert!(cell.rate.mean > 0.0, "{lock}: {cell:?}");
    }
}

/// A mark as the library writes it: so long after the last release.
fn mark(what: u8, since: u64, numbers: &[u64]) -> Vec<u8> {
    let mut bytes = vec![stanchion_wire::trace::mark::BIT | what];
    for &number in [since << 1].iter().chain(numbers) {
        crate::run::record::codec::write_number(&mut bytes, number);
    }
    bytes
}

/// So many rounds of a thread, each so long: its marks, and its holds behind them.
fn rounds(thread: u64, number: u64, length: u64, round: impl Fn(u64) -> (Vec<u8>, Vec<Event>)) -> Chunk {
    let mut all = chunk(thread, &[]);
    for last in (0..number).map(|round| round * length) {
        let (marks, events) = round(last);
        let held = chunk(thread, &events);
        all.events.extend(marks.into_iter().chain(held.events));
        all.number += held.number;
    }
    all
}

/// What a lock is held for in the replay of threads that hold it for 400 ns, and notify in the midst of that.
#[test]
fn what_is_done_under_a_lock_is_replayed_under_it() {
    let round = |last| (mark(NOTIFIED, 1100, &[0, 77]), vec![event(5, last + 900, last, 0, 400)]);
    let thread = |number| rounds(number, 100, 1300, round);
    let (mut recorded, recording) = loaded(&[thread(1), thread(2)]);
    assert_eq!(recording.acquisitions, 200);
    recorded.once = true;
    let outcome = played(recorded, 2);
    let held = outcome.spent_on(stanchion_sim::Cause::Holding) / stanchion_sim::NS / 200;
    // Two readings of the clock are taken off.
    assert!((380..500).contains(&held), "{held} ns");
}

/// In each round the recorder keeps the thread for 5 us on its way to the lock, and for 5 us in its section.
#[test]
fn what_the_recorder_needs_is_not_replayed() {
    let round = |last| {
        let kept = [mark(KEPT, 5500, &[5000]), mark(KEPT, 11_200, &[5000])].concat();
        (kept, vec![event(5, last + 6000, last, 0, 5600)])
    };
    let (mut recorded, _) = loaded(&[rounds(1, 100, 11_600, round), rounds(2, 100, 11_600, round)]);
    recorded.once = true;
    let outcome = played(recorded, 2);
    let each = |cause| outcome.spent_on(cause) / stanchion_sim::NS / 200;
    let (held, computed) = (each(stanchion_sim::Cause::Holding), each(stanchion_sim::Cause::Computing));
    assert!((550..700).contains(&held) && (900..1100).contains(&computed), "{held} ns, {computed} ns");
}

/// A thread holds lock 5 for 50 us, sleeps for 20 of these, and takes another lock after it.
#[test]
fn clients_do_not_compute_under_a_lock() {
    let thread = rounds(1, 100, 100_000, |last| {
        let inner = event(6, last + 40_000, last, 0, 1000);
        (mark(SLEPT, 30_000, &[20_000, 0, 0]), vec![inner, event(5, last + 1000, last + 41_000, 0, 50_000)])
    });
    let cpu = Some(CpuTime { wall: 10e6, own: 8e6, others: 2e6, cpus: Some(1) });
    let other = rounds(2, 5, 100_000, |last| (Vec::new(), vec![event(5, last + 60_000, last, 0, 1)]));
    let file = written_beside(&[thread, other], Totals::default(), cpu);
    let (mut recorded, _) = load(file.path(), &Places::default(), false).expect("a recording");
    recorded.once = true;
    let held = played(recorded, 2).spent_on(stanchion_sim::Cause::Holding) / stanchion_sim::US / 100;
    assert!((29..33).contains(&held), "{held} us");
}

/// A server whose clients run on the same CPUs: more threads do no more work than those have time for. Each
/// of them has a lock of its own all the time.
#[test]
fn what_clients_compute_takes_cpus() {
    let round =
        |last| (mark(SLEPT, 90_000, &[90_000, 0, 10_000]), vec![event(5, last + 95_000, last, 0, 5000)]);
    let thread = |number| {
        let mut all = rounds(number, 200, 100_000, round);
        let own = event(20 + number, 1, 20_000_000, 0, 20_000_000);
        all.events.extend(chunk(number, &[own]).events);
        all.number += 1;
        all
    };
    let cpu = |others| Some(CpuTime { wall: 20e6, own: 8e6, others, cpus: Some(2) });
    let rate = |others, alone| {
        let file = written_beside(&[thread(1), thread(2)], Totals::default(), cpu(others));
        let (recorded, recording) = load(file.path(), &Places::default(), alone).expect("a recording");
        let told = recording.limits.iter().any(|limit| limit.contains("other processes used"));
        (simulated(recorded, &recording, "stanchion", 8, &[1, 2]).rate.mean, told)
    };
    // Of the 40 ms that two CPUs have, clients compute 30 and the program 8: 95 us for each acquisition.
    let most = 2.0 / 95e-6;
    let (with_clients, told) = rate(30e6, false);
    assert!((most * 0.9..most * 1.01).contains(&with_clients) && told, "{with_clients}");
    for ((without, told), others) in [(rate(0.0, false), false), (rate(30e6, true), true)] {
        assert!(without > most * 2.0 && told == others, "{without}: threads that sleep");
    }
}

/// Thread 1 waits now and then for a condition that thread 3 notifies: the second of the workers, of which it
/// is none, and neither is thread 4, which takes most.
#[test]
fn who_is_no_worker_waits_for_the_thread_that_notified_it() {
    let wait = |last| (mark(WAITED, 1200, &[100, 77]), vec![event(9, last + 900, last, 0, 400)]);
    let works = |thread, marks: &[u8]| {
        rounds(thread, 100, 1300, |last| (marks.to_vec(), vec![event(5, last + 900, last, 0, 400)]))
    };
    let sleep = |last| (mark(SLEPT, 390, &[390, 0, 0]), vec![event(8, last + 398, last, 0, 2)]);
    let notices = mark(NOTIFIED, 1150, &[0, 77]);
    let (mut recorded, recording) =
        loaded(&[rounds(1, 5, 26_000, wait), works(2, &[]), works(3, &notices), rounds(4, 300, 400, sleep)]);
    assert_eq!((recording.threads, recording.workers), (4, 2));
    recorded.once = true;
    let outcome = played(recorded, 4);
    assert_eq!(outcome.ops, [300, 5, 100, 100], "each of its waits ends");
}

/// Each step once.
fn played(recorded: Recorded, contexts: usize) -> stanchion_sim::Outcome {
    let machine = machine::load("small-vm").expect("shipped").machine;
    let workload = recorded.workload("test");
    let spec = stanchion_sim::Spec {
        machine: &machine,
        workload: &workload,
        lock: "stanchion+qrw-readers-first",
        tunings: &[],
        contexts,
        seed: 1,
        time: 1000 * stanchion_sim::MS,
        warm_up: 0,
        record: None,
        most_events: u64::MAX,
    };
    stanchion_sim::run(&spec, &|| false).expect("it ends")
}

/// Threads sleep, or wait for a condition until a time, and have a lock again then, and take another one
/// under it: for 1000 ns all in all.
#[test]
fn nobody_sleeps_under_a_lock_that_it_takes_thereafter() {
    for (what, numbers) in [(SLEPT, &[99_000, 0, 0][..]), (TIMED_OUT, &[99_000, 77])] {
        let round = |last| {
            let inner = event(6, last + 99_400, last, 0, 200);
            (mark(what, 99_000, numbers), vec![inner, event(5, last + 99_000, last + 99_600, 0, 1000)])
        };
        let thread = |number| rounds(number, 100, 100_000, round);
        let (mut recorded, recording) = loaded(&[thread(1), thread(2)]);
        assert_eq!(recording.acquisitions, 400);
        recorded.once = true;
        let outcome = played(recorded, 2);
        let asleep = outcome.spent_on(stanchion_sim::Cause::Sleeping) / stanchion_sim::US;
        assert!((19_000..20_500).contains(&asleep), "{asleep} of 20 000 us");
        let halted = outcome.spent_on(stanchion_sim::Cause::Halted) / stanchion_sim::US;
        assert!(halted < 1000, "nobody waits for who sleeps: {halted} us");
    }
}

/// The recording does not show that a thread was off its CPU for less than 20 us. Clients had it then.
#[test]
fn what_seems_computed_is_not_if_the_clients_are_gone() {
    let thread = |number| {
        let all: Vec<Event> =
            (0..2000).map(|round| event(5, round * 10_000 + 9000, round * 10_000, 0, 1000)).collect();
        chunk(number, &all)
    };
    // Of the 40 ms that both seem to compute they had half.
    let cpu = Some(CpuTime { wall: 20e6, own: 20e6, others: 20e6, cpus: Some(2) });
    let rate = |alone| {
        let file = written_beside(&[thread(1), thread(2)], Totals::default(), cpu);
        let (recorded, recording) = load(file.path(), &Places::default(), alone).expect("a recording");
        simulated(recorded, &recording, "stanchion", 2, &[1, 2]).rate.mean
    };
    let ratio = rate(true) / rate(false);
    assert!((1.8..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn what_is_missing_is_known() {
    let totals = Totals { dropped: 12, is_full: true, ..Totals::default() };
    let file = written(&[nested(1, 5)], totals);
    let (_, recording) = load(file.path(), &Places::default(), false).expect("a recording");
    assert_eq!(recording.at_once, 1);
    for part in ["12 events were dropped", "one thread at a time", "little was recorded, 10 acquisitions"] {
        assert!(recording.limits.iter().any(|limit| limit.contains(part)), "{part}: {:?}", recording.limits);
    }
}

#[test]
fn files_that_are_no_recordings_are_refused() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    assert!(load(file.path(), &Places::default(), false).expect_err("empty").contains("cut short"));
    let none = written(&[], Totals::default());
    assert!(load(none.path(), &Places::default(), false).expect_err("no events").contains("has no events"));
}
