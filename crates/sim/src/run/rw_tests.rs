//! Runs with reader-writer locks: all of them work, broken ones are noticed, classes are apart, what does not
//! fit is refused.
use super::tests::{outcome, spec};
use super::*;
use crate::rw_locks::{self, RwKind};
use crate::testing::{machine, shared};
use crate::workload::load_with;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Event, Platform, RawRwLock, TooManyReaders};

/// Sections of 50 ns, of which so many of a hundred only read, and 200 ns between them.
fn reading(percent: u32) -> Workload {
    let readers = format!("workload.readers-percent={percent}");
    let sets = [readers.as_str(), "workload.critical=50", "workload.think=200"];
    load_with("read-mostly", &sets).expect("a shipped workload").workload
}

#[test]
fn every_lock_works_alone_in_company_and_in_overcommit() {
    let (big, small, workload) = (machine(2, 1, 4), shared(2), reading(80));
    for lock in rw_lock_names() {
        for contexts in [1, 2, 8] {
            let run = outcome(&spec(&big, &workload, lock, contexts));
            assert!(run.ops_per_second() > 1e5, "{lock} {contexts}: {}", run.ops_per_second());
            assert!(run.ops.iter().all(|&ops| ops > 0), "{lock} {contexts}: {:?}", run.ops);
            let time = if contexts > 2 { 100 * MS } else { 5 * MS };
            let long = Spec { time, ..spec(&small, &workload, lock, contexts) };
            assert!(outcome(&long).ops.iter().sum::<u64>() > 100, "{lock} {contexts} on two CPUs");
        }
    }
}

#[test]
fn readers_are_in_together_and_writers_are_not() {
    let machine = machine(1, 1, 8);
    let long = ["workload.critical=50us", "workload.think=1us"];
    let rate = |lock: &str, readers: &str| {
        let workload = load_with("read-mostly", &[long[0], long[1], readers]).expect("shipped").workload;
        outcome(&spec(&machine, &workload, lock, 8)).ops_per_second()
    };
    for lock in rw_lock_names() {
        let (reads, writes) = (rate(lock, "workload.readers-percent=100"), rate(lock, "workload.writers=8"));
        assert!(reads > 8.0 * 0.9 / 51e-6, "{lock}: eight readers at a time, {reads}");
        assert!(writes < 1.05 / 50e-6, "{lock}: one writer at a time, {writes}");
    }
    let mutex = rate("byte", "workload.readers-percent=100");
    assert!(mutex < 1.05 / 50e-6, "under a mutex readers are alone: {mutex}");
}

#[test]
fn a_reader_of_a_class_of_its_own_writes_to_nothing_that_is_shared() {
    let machine = machine(2, 1, 4);
    let workload = load_with::<&str>("grant-table", &[]).expect("shipped").workload;
    let slow = |lock: &str| {
        let run = outcome(&spec(&machine, &workload, lock, 8));
        assert!(run.acquisitions.iter().sum::<u64>() > 1000, "{lock}");
        run.lock_events[Event::PercpuReadSlow.index()]
    };
    assert_eq!(slow("percpu-rw"), 0, "the p2m is read while the grants are, and has cells of its own");
    assert_eq!(slow("percpu-rw+rw-simple"), 0);
}

#[test]
fn locks_of_two_classes_may_be_of_two_kinds() {
    // Long lookups of the p2m: what its lock cannot do is not made up for by the grants' lock.
    let machine = machine(2, 1, 8);
    let workload = load_with("grant-table", &["workload.change-every=3", "workload.critical=5us"]);
    let workload = workload.expect("shipped").workload;
    let events = |lock: &str| {
        let run = outcome(&spec(&machine, &workload, lock, 16));
        (run.lock_events[Event::PercpuSweep.index()], run.lock_events[Event::RwWriteSlow.index()])
    };
    let (both, _) = events("percpu-rw");
    let (grants, simple) = events("percpu-rw+rw-simple");
    let (neither, _) = events("rw-simple");
    assert!(both > grants && grants > 0 && simple > 0 && neither == 0, "{both} {grants} {simple} {neither}");
}

#[test]
fn what_does_not_fit_is_refused_in_a_line() {
    let machine = machine(1, 1, 2);
    let refusal = |workload: &str, lock: &str| {
        let workload = load_with::<&str>(workload, &[]).expect("shipped").workload;
        let spec = spec(&machine, &workload, lock, 2);
        let checked = check(&spec);
        match run(&spec, &|| false) {
            Err(Failure::Refused(why)) => {
                assert_eq!(checked, Err(Failure::Refused(why.clone())));
                why
            }
            other => panic!("{lock}: {:?}", other.map(|run| run.ops)),
        }
    };
    assert!(refusal("short", "qrw").contains("it takes mutexes, and qrw is a reader-writer lock"));
    assert!(refusal("grant-table", "qspin").contains("takes reader-writer locks, and qspin is a mutex"));
    assert!(refusal("grant-table", "qrw+qrw+qrw").contains("names 3 locks, and workload grant-table has 2"));
    assert!(refusal("grant-table", "qrw+qrv").contains("no lock 'qrv'"));
}

/// Readers pay no attention to writers, or writers none to readers.
struct Rude<P: Platform, const READERS: bool> {
    writer: P::U8,
    readers: P::U32,
}

impl<P: Platform, const READERS: bool> RawRwLock for Rude<P, READERS> {
    type Platform = P;
    const NAME: &'static str = "rude";
    const TRANSITIONS: Table = Table(&[]);
    const MOST_READERS: u32 = 1;

    fn new() -> Self {
        Self { writer: P::U8::new(0), readers: P::U32::new(0) }
    }
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        self.readers.fetch_add(1, Acquire);
        if !READERS {
            self.writer.wait_until(Acquire, |writer| writer == 0);
        }
        Ok(())
    }
    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        self.acquire_read()
    }
    fn try_acquire_read(&self) -> bool {
        false
    }
    fn release_read(&self) {
        self.readers.fetch_add(1u32.wrapping_neg(), Release);
    }
    fn acquire_write(&self) {
        while self.writer.swap(1, Acquire) == 1 {
            self.writer.wait_until(Relaxed, |writer| writer == 0);
        }
        if READERS {
            self.readers.wait_until(Acquire, |readers| readers == 0);
        }
    }
    fn try_acquire_write(&self) -> bool {
        false
    }
    fn release_write(&self) {
        self.writer.store(0, Release);
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.writer.peek() }
    }
}

#[test]
fn a_lock_whose_readers_or_writers_do_not_wait_is_noticed() {
    let (machine, workload) = (machine(1, 1, 4), reading(50));
    let caught = |kind: RwKind| {
        let spec = spec(&machine, &workload, "rude", 4);
        match run_kinds(&Named { kinds: vec![AnyKind::Rw(kind)], tunings: Vec::new() }, &spec, &|| false) {
            Err(Failure::Broken(what)) => what,
            other => panic!("{:?}", other.map(|run| run.ops)),
        }
    };
    let readers = caught(rw_locks::kind::<Rude<Sim, true>>());
    assert!(readers.contains("mutual exclusion is broken") && readers.contains("holds, at"), "{readers}");
    let writers = caught(rw_locks::kind::<Rude<Sim, false>>());
    assert!(
        writers.contains("mutual exclusion is broken") && writers.contains("readers hold, at"),
        "{writers}"
    );
}
