//! Whole replays: everything is done once, in its order, and repeats.
use super::*;
use crate::machine::Machine;
use crate::run::{Outcome, Spec, run};
use crate::testing::shared;
use crate::{Cause, US};

/// A thread that takes lock 0 `times` times, holds it for 500 ns and works 700 ns.
fn loop_of(times: u64) -> Script {
    let mut writer = Writer::new(0);
    for round in 0..times {
        let at = (round * 1200) as f64;
        writer.compute(700.0);
        writer.step(at + 700.0, Step::Acquire(0));
        writer.compute(500.0);
        writer.step(at + 1200.0, Step::Release(0));
    }
    writer.finish()
}

fn play(recorded: Recorded, lock: &str, workers: usize, seed: u64, time: Time) -> Outcome {
    let contexts = recorded.contexts(workers);
    play_on(&shared(2), &recorded.workload("test"), lock, contexts, seed, time)
}

fn play_on(
    machine: &Machine,
    workload: &Workload,
    lock: &str,
    contexts: usize,
    seed: u64,
    time: Time,
) -> Outcome {
    let (tunings, warm_up, record, most_events) = (&[], 0, None, u64::MAX);
    let spec = Spec { machine, workload, lock, tunings, contexts, seed, time, warm_up, record, most_events };
    run(&spec, &|| false).unwrap_or_else(|failure| panic!("{lock}: {failure:?}"))
}

fn of(workers: Vec<Script>, once: bool) -> Recorded {
    Recorded { workers, others: Vec::new(), locks: vec![Class::Mutex, Class::Rw], once }
}

const LOCKS: [&str; 4] =
    ["libc-mutex+libc-rwlock", "stanchion+qrw-readers-first", "pv-qspin+qrw", "unfair-q+percpu-rw"];

#[test]
fn each_recorded_acquisition_is_performed_once_and_holds_as_long() {
    for lock in LOCKS {
        let outcome = play(of(vec![loop_of(1000), loop_of(500)], true), lock, 2, 1, 1000 * MS);
        assert_eq!(outcome.acquisitions, [1000, 500], "{lock}");
        assert_eq!(outcome.tallies[0].acquisitions, 1500, "{lock}");
        let held = outcome.spent_on(Cause::Holding);
        assert!(held >= 1500 * 500 * NS, "{lock}: {held}");
        let computed = outcome.spent_on(Cause::Computing);
        assert!(computed >= 1500 * 700 * NS, "{lock}: {computed}");
    }
}

#[test]
fn alone_a_thread_takes_little_more_time_than_recorded() {
    for lock in LOCKS {
        let outcome = play(of(vec![loop_of(2000)], true), lock, 1, 1, 1000 * MS);
        let recorded = 2000 * 1200 * NS;
        assert!((recorded..recorded * 11 / 10).contains(&outcome.time), "{lock}: {}", outcome.time);
    }
}

/// A recording may say anything, and company and turbo make times longer still.
#[test]
fn times_without_end_are_borne() {
    let mut writer = Writer::new(0);
    writer.step(0.0, Step::Acquire(0));
    writer.compute(1e30);
    writer.step(1e30, Step::Release(0));
    let busy = writer.finish();
    let mut writer = Writer::new(0);
    writer.step(0.0, Step::Sleep(1 << 61));
    writer.step(0.0, Step::Acquire(0));
    let asleep = writer.finish();
    let mut machine = shared(2);
    (machine.speed.turbo, machine.topology.threads) = (vec![(1, 1000)], 2);
    machine.speed.sibling_computes_percent = 1000;
    let workload = of(vec![busy, asleep, Writer::new(u64::MAX).finish()], true).workload("test").holding(200);
    let outcome = play_on(&machine, &workload, LOCKS[0], 3, 1, MS);
    assert_eq!(outcome.acquisitions, [1, 0, 0]);
}

#[test]
fn a_seed_repeats_a_replay_and_another_one_begins_elsewhere() {
    for lock in LOCKS {
        let hash = |seed| play(of(vec![loop_of(3000), loop_of(3000)], false), lock, 5, seed, 3 * MS).hash;
        assert_eq!(hash(7), hash(7), "{lock}");
        assert_ne!(hash(7), hash(8), "{lock}");
    }
}

#[test]
fn copies_share_what_was_shared_and_nobody_waits_for_a_lock_of_ones_own() {
    let private = || {
        let mut writer = Writer::new(0);
        for round in 0..100 {
            writer.compute(1000.0);
            writer.step(f64::from(round) * 1000.0, Step::Private);
        }
        writer.finish()
    };
    let outcome = play(of(vec![private()], true), LOCKS[0], 6, 1, 1000 * MS);
    assert_eq!(outcome.ops, [100; 6]);
    assert_eq!(outcome.tallies[0].acquisitions, 0);
    let outcome = play(of(vec![loop_of(100)], true), LOCKS[0], 6, 1, 1000 * MS);
    assert_eq!(outcome.acquisitions, [100; 6]);
    assert!(outcome.tallies[0].waited > 0, "six of them meet");
}

/// One thread notifies after 50 µs of work, every time; the other one waits for each notification, which came
/// at once in the recording.
fn pair(work: f64) -> Vec<Script> {
    let (mut notifies, mut waits) = (Writer::new(0), Writer::new(0));
    for round in 1..=20_u64 {
        notifies.compute(work);
        notifies.step(round as f64, Step::Notify);
        waits.step(round as f64, Step::Wait { thread: 0, notices: round });
        waits.step(round as f64, Step::Acquire(0));
        waits.step(round as f64, Step::Release(0));
    }
    vec![notifies.finish(), waits.finish()]
}

#[test]
fn a_waiter_goes_on_after_the_notification_that_woke_it() {
    let outcome = play(of(pair(50_000.0), true), LOCKS[1], 2, 1, 1000 * MS);
    assert_eq!(outcome.acquisitions, [0, 20], "none is lost");
    assert!(outcome.time >= 20 * 50 * US, "not before the last one: {}", outcome.time);
    // Also round after round, and with copies whose partner is not there.
    let outcome = play(of(pair(50_000.0), false), LOCKS[1], 5, 1, 20 * MS);
    let most = outcome.time / (50 * US) + 1;
    for waiter in [1, 3] {
        let waited = outcome.acquisitions[waiter];
        assert!((most / 10..=most).contains(&waited), "{:?} of {most}", outcome.acquisitions);
    }
}

#[test]
fn who_was_there_for_a_moment_comes_once_a_round() {
    let mut visitor = Writer::new(900_000);
    visitor.compute(10_000.0);
    visitor.step(910_000.0, Step::Private);
    let workers = (0..2).map(|_| loop_of(1000)).collect();
    let recorded = Recorded { others: vec![visitor.finish()], ..of(workers, false) };
    let outcome = play_on(&shared(3), &recorded.workload("test"), LOCKS[1], 3, 1, 20 * MS);
    let rounds = outcome.ops[1] / 1000 + 1;
    assert!((rounds / 2..=rounds + 1).contains(&outcome.ops[0]), "{:?}", outcome.ops);
}

#[test]
fn who_waits_for_what_was_before_its_partner_came_goes_on() {
    let (mut one, mut other) = (Writer::new(0), Writer::new(0));
    for round in 1..=200_u64 {
        let at = (round * 1000) as f64;
        one.compute(500.0);
        one.step(at, Step::Notify);
        one.step(at + 500.0, Step::Wait { thread: 1, notices: round });
        other.step(at, Step::Wait { thread: 0, notices: round });
        other.compute(500.0);
        other.step(at + 500.0, Step::Private);
        other.step(at + 500.0, Step::Notify);
    }
    let workload = of(vec![one.finish(), other.finish()], false).workload("test");
    for seed in 0..20 {
        let outcome = play_on(&shared(2), &workload, LOCKS[1], 8, seed, 20 * MS);
        for pair in outcome.ops.chunks(2) {
            assert!(pair[1] > 100, "seed {seed}: somebody sleeps for ever: {:?}", outcome.ops);
        }
    }
}

/// How long two threads wait for a mutex whose holder notifies them while it holds it, both at once or one
/// after another: as recorded, and by the interposer's rule.
fn waited_for_a_notifier(together: bool) -> [u64; 2] {
    let mut notifies = Writer::new(0);
    let waits = |number: u64| {
        let mut writer = Writer::new(0);
        writer.step(0.0, Step::Wait { thread: 0, notices: number });
        writer.step(2e5, Step::Acquire(0));
        writer.compute(30_000.0);
        writer.step(3e5, Step::Release(0));
        writer.finish()
    };
    notifies.compute(50_000.0);
    notifies.step(5e4, Step::Acquire(0));
    notifies.step(5e4, Step::Notify);
    if !together {
        notifies.step(5e4, Step::Notify);
    }
    notifies.compute(100_000.0);
    notifies.step(2e5, Step::Release(0));
    let second = if together { 1 } else { 2 };
    let workload = of(vec![notifies.finish(), waits(1), waits(second)], true).workload("test");
    [&workload, &workload.relaying()].map(|workload| {
        let outcome = play_on(&shared(3), workload, LOCKS[1], 3, 1, 1000 * MS);
        assert_eq!(outcome.acquisitions, [1, 1, 1], "nobody is left for ever");
        outcome.tallies[0].waited
    })
}

#[test]
fn who_is_notified_with_others_by_a_holder_may_be_left_with_the_mutex() {
    let [waited, relayed] = waited_for_a_notifier(true);
    assert!(waited > 200_000, "both wait for the holder: {waited}");
    assert!(relayed < 10_000, "each is woken by the one before it: {relayed}");
}

#[test]
fn who_is_notified_alone_and_slept_elsewhere_is_woken_at_once() {
    let [waited, relayed] = waited_for_a_notifier(false);
    assert!(waited > 200_000, "both wait for the holder: {waited}");
    assert_eq!(relayed, waited);
}

#[test]
fn who_wakes_a_sleeper_of_another_cpu_pays_for_the_interrupt() {
    let time = |cpus, across| {
        let mut machine = shared(cpus);
        machine.host.kick_across = across;
        play_on(&machine, &of(pair(50_000.0), true).workload("test"), LOCKS[1], 2, 1, 1000 * MS).time
    };
    let kick = shared(2).host.kick;
    let longer = time(2, Some(kick + 10 * US)) - time(2, None);
    assert!((19 * 10 * US..=20 * 10 * US).contains(&longer), "20 times: {longer}");
    assert_eq!(time(1, Some(kick + 10 * US)), time(1, None), "both are on one CPU");
}

#[test]
fn who_sleeps_on_a_cpu_that_still_looks_for_work_is_woken_at_once() {
    // The other one holds the lock for 50 us: so long is the sleep.
    let time = |entry| {
        let mut machine = shared(2);
        machine.host.kick_across = Some(machine.host.kick + 10 * US);
        machine.host.idle_entry = entry;
        play_on(&machine, &of(pair(50_000.0), true).workload("test"), LOCKS[1], 2, 1, 1000 * MS).time
    };
    assert_eq!(time(Some(US)), time(None), "it rests when the kick comes");
    let shorter = time(None) - time(Some(60 * US));
    let wake = shared(2).host.wake_idle - shared(2).host.wake_busy;
    assert_eq!(shorter, 20 * 10 * US + wake, "20 kicks, and the last wake-up, which no section hides");
}

#[test]
fn readers_are_inside_together() {
    let mut writer = Writer::new(0);
    for round in 0..100 {
        writer.step(f64::from(round) * 1e4, Step::AcquireRead(1));
        writer.compute(10_000.0);
        writer.step(f64::from(round) * 1e4, Step::ReleaseRead(1));
    }
    let script = writer.finish();
    for lock in LOCKS {
        let mut other = Writer::new(0);
        other.step(0.0, Step::Acquire(1));
        other.compute(100_000.0);
        other.step(0.0, Step::Release(1));
        let copy = {
            let mut byte = 0;
            let mut copy = Writer::new(0);
            while let Some((computes, step)) = script.step(&mut byte) {
                copy.compute(computes as f64);
                copy.step(0.0, step);
            }
            copy.finish()
        };
        let outcome = play(of(vec![copy, other.finish()], true), lock, 3, 1, 1000 * MS);
        assert_eq!(outcome.acquisitions, [100, 1, 100], "{lock}");
        assert!(
            outcome.time < 2 * 1000 * US,
            "{lock}: one after another they would take 2 ms: {}",
            outcome.time
        );
    }
}

#[test]
fn libcs_last_reader_leaves_the_lock_to_a_writer_that_sleeps() {
    // A writer comes while somebody reads, and sleeps. The reader leaves and comes again: the lock is the
    // writer's by then, though it has not got its CPU back.
    let mut reader = Writer::new(0);
    reader.step(0.0, Step::AcquireRead(1));
    reader.compute(500_000.0);
    reader.step(500_000.0, Step::ReleaseRead(1));
    reader.compute(100.0);
    reader.step(500_100.0, Step::AcquireRead(1));
    reader.step(500_200.0, Step::ReleaseRead(1));
    let mut writer = Writer::new(0);
    writer.compute(200_000.0);
    writer.step(200_000.0, Step::Acquire(1));
    writer.compute(1_000_000.0);
    writer.step(1_200_000.0, Step::Release(1));
    let outcome = play(of(vec![reader.finish(), writer.finish()], true), LOCKS[0], 2, 1, 1000 * MS);
    assert_eq!(outcome.acquisitions, [2, 1]);
    let waited = outcome.tallies[1].waited;
    assert!(waited > 1_200_000, "the writer 0.3 ms, and then the reader 1 ms: {waited}");
}

/// How much longer two threads take, of which the first one computes for a while in the end, if each call
/// that finds nobody to wake takes 3 us.
fn calls_for_nobody(threads: impl Fn() -> [Writer; 2]) -> Time {
    let time = |kick_idle| {
        let [mut last, other] = threads();
        last.compute(100_000.0);
        last.step(200_000.0, Step::Acquire(0));
        last.step(200_000.0, Step::Release(0));
        let scripts = vec![last.finish(), other.finish()];
        let mut machine = shared(2);
        (machine.host.halt, machine.host.kick_idle) = (10 * US, kick_idle);
        play_on(&machine, &of(scripts, true).workload("test"), LOCKS[0], 2, 1, 1000 * MS).time
    };
    time(3 * US) - time(0)
}

/// Comes after so many nanoseconds, and holds for as many as the second number says.
fn comes(after: f64, acquire: Step, holds: f64, release: Step) -> Writer {
    let mut writer = Writer::new(0);
    writer.compute(after);
    writer.step(after, acquire);
    writer.compute(holds);
    writer.step(after + holds, release);
    writer
}

#[test]
fn libcs_owner_calls_the_kernel_for_a_waiter_that_does_not_sleep_yet() {
    let reads = |after| comes(after, Step::AcquireRead(1), 5_000.0, Step::ReleaseRead(1));
    let writes = |after, lock| comes(after, Step::Acquire(lock), 5_000.0, Step::Release(lock));
    // So does the waiter, which has marked the mutex, beside what the other one computes.
    let of_mutex = calls_for_nobody(|| [writes(0.0, 0), writes(1_000.0, 0)]);
    assert_eq!(of_mutex, 3 * US, "one call, while the waiter is in its own");
    let of_reader = calls_for_nobody(|| [reads(0.0), writes(1_000.0, 1)]);
    assert_eq!(of_reader, 3 * US, "the last reader, for the writer");
    let of_nobody = calls_for_nobody(|| [reads(0.0), writes(50_000.0, 1)]);
    assert_eq!(of_nobody, 0, "nobody has waited");
}

#[test]
fn libcs_writer_that_slept_calls_the_kernel_for_others_that_may_sleep() {
    let slept = || comes(30_000.0, Step::Acquire(1), 0.0, Step::Release(1));
    let before = || comes(0.0, Step::Acquire(1), 100_000.0, Step::Release(1));
    assert_eq!(calls_for_nobody(|| [slept(), before()]), 3 * US);
}

#[test]
fn waits_are_summed_up_to_an_eighth() {
    let mut tally = Tally::default();
    for nanos in [0, 1, 7, 8, 100, 1_000_000, 123_456_789_000] {
        let step = step_of(nanos);
        assert!(longest_of(step) >= nanos && longest_of(step) <= nanos + nanos / 8, "{nanos}");
        assert!(step == 0 || longest_of(step - 1) < nanos, "{nanos}");
        tally.waits(nanos);
    }
    assert_eq!((tally.quantile(0.5), tally.quantile(0.0)), (8, 0));
    assert!(tally.quantile(1.0) >= 123_456_789_000);
}
