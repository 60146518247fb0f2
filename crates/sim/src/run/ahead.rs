//! Cores that ask for lines before they need them, and lines that readers take.
use crate::contexts::run_contexts;
use crate::engine;
use crate::machine::Machine;
use crate::platform::{Sim, Sim32};
use crate::testing::machine;
use crate::time::NS;
use stanchion_core::order::{Acquire, Relaxed, SeqCst};
use stanchion_core::{Atomic, Machine as _};
use std::sync::{Arc, Mutex};

type Steps = fn(&Sim32);

/// How many nanoseconds the second context needs to add to a word after `before`, once the first has come to
/// the end of `first` or waits in it.
fn adds_in(machine: &Machine, first: Steps, before: Steps) -> u64 {
    let (word, took) = (Arc::new(Sim32::new(0)), Arc::new(Mutex::new(0)));
    let (theirs, result) = (Arc::clone(&word), Arc::clone(&took));
    let second = move || {
        Sim::doze(10_000);
        before(&theirs);
        let began = Sim::now();
        theirs.fetch_add(1, Relaxed);
        *result.lock().expect("no panic") = Sim::now() - began;
    };
    run_contexts(machine, 1, vec![Box::new(move || first(&word)), Box::new(second)]).expect("both end");
    *took.lock().expect("no panic")
}

fn near(migratory: bool) -> Machine {
    let mut machine = machine(1, 1, 2);
    machine.memory.jitter_percent = 0;
    machine.memory.migratory = migratory;
    machine
}

#[test]
fn a_core_looks_ahead_as_far_as_it_has_run_on() {
    let mut machine = near(false);
    let (own, transfer) = (machine.memory.rmw / NS, machine.memory.group_dirty / NS);
    let writes: Steps = |word| _ = word.fetch_add(1, Relaxed);
    let computes: Steps = |_| engine::compute(1_000 * NS);
    assert_eq!(adds_in(&machine, writes, computes), transfer + own);
    machine.memory.look_ahead = Some(40 * NS);
    assert_eq!(adds_in(&machine, writes, computes), transfer - 40 + own);
    machine.memory.look_ahead = Some(400 * NS);
    assert_eq!(adds_in(&machine, writes, computes), own);
    let stops: [(&str, Steps); 5] = [
        ("it has only just woken up", |_| ()),
        ("it has paused", |_| Sim::relax(1_000)),
        ("it has passed a fence", |_| Sim::fence(SeqCst)),
        ("it has made a call", |_| Sim::yield_slice()),
        ("it has waited in vain", |_| {
            let other = Sim32::new(0);
            other.wait_until_polls(10, Relaxed, |value| value == 1).expect_err("nobody writes it");
        }),
    ];
    for (why, before) in stops {
        assert_eq!(adds_in(&machine, writes, before), transfer + own, "{why}");
    }
}

/// Computes until `at`, in nanoseconds.
fn compute_until(at: u64) {
    engine::compute((at - Sim::now()) * NS);
}

#[test]
fn nobody_has_asked_for_a_line_before_its_last_write() {
    let mut machine = near(false);
    machine.memory.look_ahead = Some(400 * NS);
    let (own, transfer) = (machine.memory.rmw / NS, machine.memory.group_dirty / NS);
    let writes_again: Steps = |word| {
        word.fetch_add(1, Relaxed);
        compute_until(100_000);
        word.fetch_add(1, Relaxed);
    };
    assert_eq!(adds_in(&machine, writes_again, |_| compute_until(100_040)), transfer - 40 + own);
}

#[test]
fn who_waits_for_a_line_that_a_reader_took_polls_it_again() {
    let machine = near(true);
    let (own, upgrade) = (machine.memory.rmw / NS, machine.memory.upgrade / NS);
    let reads: Steps = |word| {
        word.load(Relaxed);
        Sim::relax(1_000);
    };
    let leaves: Steps = |word| _ = word.fetch_add(1, Relaxed);
    assert_eq!(adds_in(&machine, leaves, reads), own, "the reader has taken it");
    let waits: Steps = |word| {
        word.fetch_add(1, Relaxed);
        word.wait_until(Acquire, |value| value == 2);
    };
    assert_eq!(adds_in(&machine, waits, reads), upgrade + own, "the waiter has a copy again");
    let reads_at_once: Steps = |word| {
        compute_until(100_010);
        word.load(Relaxed);
        compute_until(101_000);
    };
    let comes_to_wait: Steps = |word| {
        word.fetch_add(1, Relaxed);
        compute_until(100_000);
        word.fetch_add(1, Relaxed);
        compute_until(100_020);
        word.wait_until(Acquire, |value| value == 3);
    };
    assert_eq!(adds_in(&machine, comes_to_wait, reads_at_once), upgrade + own, "also if it came just then");
}
