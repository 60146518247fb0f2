//! Whole runs: they repeat, they notice broken locks, and time goes where it should.
use super::*;
use crate::testing::{loop_of, machine, shared};
use crate::time::{NS, US};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};

pub(super) fn spec<'a>(
    machine: &'a Machine,
    workload: &'a Workload,
    lock: &'a str,
    contexts: usize,
) -> Spec<'a> {
    let (time, warm_up) = (5 * MS, MS);
    Spec {
        machine,
        workload,
        lock,
        tunings: &[],
        contexts,
        seed: 1,
        time,
        warm_up,
        record: None,
        most_events: u64::MAX,
    }
}

pub(super) fn outcome(spec: &Spec) -> Outcome {
    run(spec, &|| false).unwrap_or_else(|failure| panic!("{} with {}: {failure:?}", spec.lock, spec.contexts))
}

#[test]
fn every_lock_works_alone_in_company_and_in_overcommit() {
    let (big, small, workload) = (machine(2, 1, 4), shared(2), loop_of(50, 200));
    for lock in lock_names() {
        for contexts in [1, 2, 8] {
            assert!(
                outcome(&spec(&big, &workload, lock, contexts)).ops_per_second() > 1e5,
                "{lock} {contexts}"
            );
            // Where each has a CPU, nobody waits for a turn of the scheduler.
            let time = if contexts > 2 { 100 * MS } else { 5 * MS };
            let long = Spec { time, ..spec(&small, &workload, lock, contexts) };
            assert!(outcome(&long).ops.iter().sum::<u64>() > 100, "{lock} {contexts} on two CPUs");
        }
    }
}

#[test]
fn nobody_uses_a_cpu_that_wakes_up() {
    let workload = loop_of(50_000, 0);
    let busy = |wake_idle| {
        let mut machine = shared(2);
        machine.host.wake_idle = wake_idle;
        let run = outcome(&Spec { time: 100 * MS, ..spec(&machine, &workload, "libc-mutex", 2) });
        run.cpu_busy.iter().sum::<Time>() as f64 / run.ops.iter().sum::<u64>() as f64
    };
    let (soon, late) = (busy(2 * US), busy(40 * US));
    assert!((0.9..1.1).contains(&(late / soon)), "CPU time of an acquisition: {soon} {late}");
}

#[test]
fn who_runs_when_a_run_ends_is_recorded() {
    let (machine, workload) = (machine(1, 1, 2), loop_of(50, 200));
    let run = outcome(&Spec { record: Some((2 * MS, 3 * MS)), ..spec(&machine, &workload, "byte", 2) });
    let ran = run.recording.expect("asked for").ran;
    let total = ran.iter().map(|ran| ran.to - ran.from).sum::<Time>();
    assert_eq!(total, 2 * MS, "both run all the time: {}", ran.len());
}

#[test]
fn contexts_that_sleep_for_long_by_their_own_wish_are_not_hung() {
    let sets = ["workload.disk=10s"];
    let workload = crate::workload::load_with("aim7-disk-rr", &sets).expect("a shipped workload").workload;
    let machine = shared(2);
    let run = run(&Spec { time: 5000 * MS, ..spec(&machine, &workload, "byte", 2) }, &|| false);
    assert!(run.is_ok(), "{:?}", run.err());
}

#[test]
fn torture_writes_to_as_many_lines_as_it_may() {
    let sets = ["workload.lines=16"];
    let workload = crate::workload::load_with("locktorture", &sets).expect("a shipped workload").workload;
    assert!(outcome(&spec(&machine(1, 1, 2), &workload, "byte", 2)).ops[0] > 0);
}

#[test]
fn a_seed_repeats_a_run_and_another_one_does_not() {
    let (machine, workload) = (shared(2), loop_of(50, 200));
    let hash = |seed| {
        let run = outcome(&Spec { seed, ..spec(&machine, &workload, "pv-qspin", 6) });
        (run.hash, run.ops)
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1).0, hash(2).0);
}

#[test]
fn all_time_of_all_contexts_is_accounted_for() {
    let (machine, workload) = (shared(2), loop_of(50, 200));
    for lock in lock_names() {
        let run = outcome(&spec(&machine, &workload, lock, 6));
        for (context, by_cause) in run.causes.iter().enumerate() {
            let sum: Time = by_cause.iter().sum();
            // A tick that has begun when the run ends is booked in full.
            assert!(
                sum.abs_diff(run.time) <= 3 * US,
                "{lock}: context {context} spent {sum} of {}",
                run.time
            );
        }
        assert!(run.cpu_busy.iter().all(|&busy| busy <= run.time));
    }
}

#[test]
fn a_fair_lock_collapses_in_overcommit_and_a_halting_one_does_not() {
    let (machine, workload) = (shared(2), loop_of(50, 200));
    let rate = |lock, contexts| {
        outcome(&Spec { time: 200 * MS, ..spec(&machine, &workload, lock, contexts) }).ops_per_second()
    };
    assert!(rate("ticket", 2) > 10.0 * rate("ticket", 8));
    assert!(rate("pv-qspin", 8) > 0.5 * rate("pv-qspin", 2));
}

#[test]
fn a_sleeper_takes_no_time_and_a_kick_takes_some() {
    let (machine, workload) = (machine(1, 1, 4), loop_of(200_000, 0));
    let run = outcome(&spec(&machine, &workload, "pv-qspin-kick-at-unlock", 4));
    assert!(run.halts > 0 && run.kicks > 0);
    assert!(run.spent_on(Cause::Halted) > run.spent_on(Cause::Spinning));
    let spins = outcome(&spec(&machine, &workload, "qspin", 4));
    assert_eq!((spins.halts, spins.kicks, spins.spent_on(Cause::Halted)), (0, 0, 0));
}

#[test]
fn handovers_are_told_apart_by_distance() {
    let workload = loop_of(50, 0);
    let (one, two) = (machine(1, 1, 8), machine(2, 1, 4));
    let local = outcome(&spec(&one, &workload, "ticket", 8)).handovers;
    assert!(local.local > 1000 && local.remote == 0, "{local:?}");
    let mixed = outcome(&spec(&two, &workload, "ticket", 8)).handovers;
    assert!(mixed.local > 0 && mixed.remote > 0, "{mixed:?}");
    let alone = outcome(&spec(&one, &workload, "ticket", 1)).handovers;
    assert!(alone.same > 1000 && alone.local == 0, "{alone:?}");
}

#[test]
fn what_cannot_run_is_refused() {
    let (machine, workload) = (machine(1, 1, 2), loop_of(1, 1));
    let refused = |spec: Spec| matches!(run(&spec, &|| false), Err(Failure::Refused(_)));
    assert!(refused(spec(&machine, &workload, "no such lock", 1)));
    assert!(refused(spec(&machine, &workload, "byte", 0)));
    assert!(refused(spec(&machine, &workload, "byte", 3)), "three contexts pinned to two CPUs");
    assert!(!refused(spec(&machine, &workload, "byte", 2)));
}

#[test]
fn a_run_can_be_stopped_and_limited() {
    let (machine, workload) = (machine(1, 1, 2), loop_of(50, 50));
    let long = Spec { time: 60_000 * MS, ..spec(&machine, &workload, "byte", 2) };
    let stopped = run(&long, &|| true).expect("what is there so far");
    assert!(stopped.cut_short && stopped.time < long.time);
    let limited = outcome(&Spec { most_events: 1000, ..long });
    assert!(limited.cut_short && limited.effort.events <= 1000);
}

/// Test-and-set torn into a load and a store.
struct Torn<P: Platform>(P::U8);
impl<P: Platform> RawLock for Torn<P> {
    type Platform = P;
    const NAME: &'static str = "torn";
    const TRANSITIONS: Table = Table(&[]);
    fn new() -> Self {
        Self(P::U8::new(0))
    }
    fn acquire(&self) {
        self.0.wait_until(Acquire, |locked| locked == 0);
        self.0.store(1, Relaxed);
    }
    fn try_acquire(&self) -> bool {
        false
    }
    fn release(&self) {
        self.0.store(0, Release);
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// Its release kicks nobody.
struct Forgetful<P: Platform>(P::U8);
impl<P: Platform> RawLock for Forgetful<P> {
    type Platform = P;
    const NAME: &'static str = "forgetful";
    const TRANSITIONS: Table = Table(&[]);
    fn new() -> Self {
        Self(P::U8::new(0))
    }
    fn acquire(&self) {
        while !self.try_acquire() {
            P::halt_while(&self.0, 1);
        }
    }
    fn try_acquire(&self) -> bool {
        self.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
    fn release(&self) {
        self.0.store(0, Release);
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// Its release does nothing: whoever comes next spins for ever.
struct Keeps<P: Platform>(P::U8);
impl<P: Platform> RawLock for Keeps<P> {
    type Platform = P;
    const NAME: &'static str = "keeps";
    const TRANSITIONS: Table = Table(&[]);
    fn new() -> Self {
        Self(P::U8::new(0))
    }
    fn acquire(&self) {
        self.0.wait_until(Acquire, |locked| locked == 0);
        self.0.swap(1, Acquire);
    }
    fn try_acquire(&self) -> bool {
        false
    }
    fn release(&self) {}
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

fn failure_of<L: RawLock<Platform = Sim>>(machine: &Machine, time: Time) -> String {
    let workload = loop_of(50, 20);
    let spec = Spec { time, ..spec(machine, &workload, L::NAME, 4) };
    match run_kind(&locks::kind::<L>(), &spec, &|| false) {
        Err(Failure::Broken(what)) => what,
        other => panic!("{} passed: {other:?}", L::NAME),
    }
}

#[test]
fn two_holders_at_once_are_noticed() {
    let what = failure_of::<Torn<Sim>>(&machine(1, 1, 4), 5 * MS);
    assert!(what.contains("mutual exclusion is broken"), "{what}");
}

#[test]
fn a_lock_that_never_comes_back_is_noticed() {
    // With a CPU for each, all spin at a line that nobody will write.
    let stuck = failure_of::<Keeps<Sim>>(&machine(1, 1, 4), 60_000 * MS);
    assert!(stuck.contains("nobody can run any more"), "{stuck}");
    // On fewer CPUs they take turns at it, so something always happens, but nothing that matters.
    let hung = failure_of::<Keeps<Sim>>(&shared(2), 5_000 * MS);
    assert!(hung.contains("no acquisition for"), "{hung}");
}

#[test]
fn a_lost_wake_up_shows_in_the_fairness() {
    // The context that runs goes on alone while the others sleep for ever: nobody is stuck but the sleepers.
    let (machine, workload) = (machine(1, 1, 4), loop_of(2_000, 20));
    let spec = spec(&machine, &workload, "forgetful", 4);
    let run = run_kind(&locks::kind::<Forgetful<Sim>>(), &spec, &|| false).expect("one goes on");
    assert!(run.fairness() < 0.01 && run.kicks == 0, "{:?}", run.ops);
}

/// The load after a store sees it, although nobody else does yet.
struct Forwards<P: Platform>(P::U8, P::U8);
impl<P: Platform> RawLock for Forwards<P> {
    type Platform = P;
    const NAME: &'static str = "forwards";
    const TRANSITIONS: Table = Table(&[]);
    fn new() -> Self {
        Self(P::U8::new(0), P::U8::new(0))
    }
    fn acquire(&self) {
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    }
    fn try_acquire(&self) -> bool {
        false
    }
    fn release(&self) {
        let next = self.1.load(Relaxed).wrapping_add(1);
        self.1.store(next, Relaxed);
        assert_eq!(self.1.load(Relaxed), next, "a context sees its own store");
        self.0.store(0, Release);
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: self.1.peek(), locked: self.0.peek() }
    }
}

#[test]
fn a_context_sees_its_own_posted_stores() {
    let (machine, workload) = (machine(2, 1, 2), loop_of(50, 20));
    let spec = spec(&machine, &workload, "forwards", 4);
    let run = run_kind(&locks::kind::<Forwards<Sim>>(), &spec, &|| false).expect("it holds");
    assert!(run.ops.iter().sum::<u64>() > 1000 * NS / NS);
}

/// Arms a cell of its own and waits for somebody to disarm it: if it did not see its own store, it would not
/// wait.
struct Armed<P: Platform>(P::U8, P::U8);
impl<P: Platform> RawLock for Armed<P> {
    type Platform = P;
    const NAME: &'static str = "armed";
    const TRANSITIONS: Table = Table(&[]);
    fn new() -> Self {
        Self(P::U8::new(0), P::U8::new(0))
    }
    fn acquire(&self) {
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.1.store(1, Relaxed);
            let seen = self.1.wait_until_polls(4, Relaxed, |armed| armed == 1);
            assert!(seen.is_ok() || self.1.peek() == 0, "our own store, or somebody's after it");
        }
    }
    fn try_acquire(&self) -> bool {
        false
    }
    fn release(&self) {
        self.0.store(0, Release);
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: self.1.peek(), locked: self.0.peek() }
    }
}

#[test]
fn a_context_waits_for_what_it_stored_itself() {
    let (machine, workload) = (machine(2, 1, 2), loop_of(50, 20));
    let spec = spec(&machine, &workload, "armed", 4);
    // Nobody ever writes 0, so whoever waits for 1 after storing it has it at once.
    let run = run_kind(&locks::kind::<Armed<Sim>>(), &spec, &|| false).expect("it holds");
    assert!(run.ops.iter().sum::<u64>() > 100);
}

/// Its waiters panic when they are asked, which is while the engine runs and no context does.
struct Startled<P: Platform>(P::U8);
impl<P: Platform> RawLock for Startled<P> {
    type Platform = P;
    const NAME: &'static str = "startled";
    const TRANSITIONS: Table = Table(&[]);
    fn new() -> Self {
        Self(P::U8::new(0))
    }
    fn acquire(&self) {
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            let mut asked = 0;
            self.0.wait_until(Relaxed, |locked| {
                asked += 1;
                assert!(asked < 2, "startled by a release");
                locked == 2
            });
        }
    }
    fn try_acquire(&self) -> bool {
        false
    }
    fn release(&self) {
        self.0.store(0, Release);
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

#[test]
fn a_panic_of_a_waiter_that_is_asked_ends_the_run_and_nothing_else() {
    let what = failure_of::<Startled<Sim>>(&machine(1, 1, 4), 5 * MS);
    assert!(what.contains("startled by a release"), "{what}");
    // The next run on this host thread is not disturbed.
    let (machine, workload) = (machine(1, 1, 2), loop_of(50, 20));
    assert!(outcome(&spec(&machine, &workload, "byte", 2)).ops_per_second() > 1e5);
}
