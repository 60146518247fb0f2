//! Company costs: siblings, other busy cores, ticks, quotas, hypervisors that notice spinning.
use super::tests::{outcome, spec};
use super::*;
use crate::contexts::run_contexts;
use crate::machine::{PauseLoop, Quota, RoundRobin};
use crate::testing::{loop_of, machine, shared};
use crate::time::US;
use core::sync::atomic::{AtomicBool, Ordering};
use stanchion_core::Machine as _;
use std::sync::{Arc, Mutex};

/// Sections in a second of two contexts that rarely meet: what they compute decides.
fn rate(machine: &Machine, contexts: usize) -> f64 {
    let workload = loop_of(100, 50_000);
    outcome(&Spec { time: 20 * MS, ..spec(machine, &workload, "byte", contexts) }).ops_per_second()
}

#[test]
fn a_sibling_that_computes_slows_its_twin() {
    let mut machine = machine(1, 1, 1);
    machine.topology.threads = 2;
    let alone = rate(&machine, 1);
    let both = rate(&machine, 2);
    let ratio = both / (2.0 * alone);
    assert!((0.60..0.80).contains(&ratio), "150 % of the time are two thirds of the speed: {ratio}");
}

#[test]
fn a_sibling_that_spins_slows_its_twin_less() {
    // A long section under a lock: one holds, the twin spins.
    let workload = loop_of(20_000, 0);
    let mut machine = machine(1, 1, 2);
    let run = |machine: &Machine, contexts| {
        outcome(&Spec { time: 20 * MS, ..spec(machine, &workload, "pv-qspin", contexts) }).ops_per_second()
    };
    let apart = run(&machine, 2);
    machine.topology.cores = 1;
    machine.topology.threads = 2;
    let ratio = run(&machine, 2) / apart;
    assert!((0.72..0.85).contains(&ratio), "130 % of the time are three quarters of the speed: {ratio}");
}

#[test]
fn turbo_is_lost_when_more_cores_are_busy() {
    let mut machine = machine(1, 1, 4);
    machine.speed.turbo = vec![(1, 100), (3, 150)];
    let ratio = rate(&machine, 4) / (4.0 * rate(&machine, 1));
    assert!((0.60..0.72).contains(&ratio), "{ratio}");
    let few = rate(&machine, 2) / (2.0 * rate(&machine, 1));
    assert!(few > 0.95, "two cores are below the row: {few}");
}

#[test]
fn ticks_take_their_time() {
    let mut machine = machine(1, 1, 1);
    machine.host.tick_period = 100 * US;
    machine.host.tick_cost = 0;
    let without = rate(&machine, 1);
    machine.host.tick_cost = 10 * US;
    let ratio = rate(&machine, 1) / without;
    assert!((0.88..0.93).contains(&ratio), "a tenth of the time: {ratio}");
}

#[test]
fn linux_interrupts_a_holder_and_who_waits_for_it_together_and_xen_does_not() {
    let halts = |scheduler: Option<SchedulerKind>| {
        let mut machine = shared(2);
        machine.host.scheduler = scheduler.unwrap_or(machine.host.scheduler);
        machine.host.tick_period = 500 * US;
        machine.host.tick_cost = 50 * US;
        let workload = loop_of(500, 500);
        outcome(&Spec { time: 100 * MS, ..spec(&machine, &workload, "stanchion", 2) }).halts
    };
    assert_eq!(halts(None), 0, "whoever waits spins on when the holder does");
    let credit = RoundRobin { slice: 30 * MS, boost: true, steal: true };
    assert!(
        halts(Some(SchedulerKind::RoundRobin(credit))) > 50,
        "a holder of 200 ticks is interrupted alone"
    );
}

#[test]
fn a_quota_limits_all_contexts_together() {
    let limited = |budget: Option<Time>| {
        let mut machine = shared(2);
        if let SchedulerKind::FairShare(parameters) = &mut machine.host.scheduler {
            parameters.quota = budget.map(|budget| Quota { period: 100 * MS, budget });
        }
        let workload = loop_of(100, 50_000);
        let run = outcome(&Spec { time: 1_000 * MS, ..spec(&machine, &workload, "byte", 2) });
        let busy: Time = run.cpu_busy.iter().sum();
        (run.ops_per_second(), busy)
    };
    let (free, _) = limited(None);
    let (limited, busy) = limited(Some(50 * MS));
    let ratio = limited / free;
    assert!((0.20..0.32).contains(&ratio), "50 of 200 ms in each period: {ratio}");
    assert!(busy < 600 * MS, "ten budgets and what ticks overrun: {busy}");
}

#[test]
fn a_hypervisor_that_notices_spinning_shortens_a_collapse() {
    let mut machine = shared(2);
    let workload = loop_of(2_000, 2_000);
    let run = |machine: &Machine| outcome(&Spec { time: 400 * MS, ..spec(machine, &workload, "ticket", 4) });
    let without = run(&machine);
    machine.host.pause_loop = Some(PauseLoop {
        window: 20 * US,
        largest: Some(320 * US),
        gap: US / 2,
        exit: 2 * US,
        guard: 20 * US,
    });
    let with = run(&machine);
    assert!(with.ops_per_second() > 2.0 * without.ops_per_second(), "directed yields find who is next");
    assert!(with.spent_on(Cause::Overhead) > without.spent_on(Cause::Overhead), "and cost");
}

#[test]
fn a_preempted_holder_delays_the_others_and_shows_as_stolen_time() {
    let machine = shared(2);
    let workload = loop_of(50, 200);
    let run = outcome(&Spec { time: 200 * MS, ..spec(&machine, &workload, "byte", 6) });
    let stolen = run.spent_on(Cause::Preempted) as f64 / (run.time as f64 * 6.0);
    assert!((0.6..0.7).contains(&stolen), "six contexts on two CPUs: {stolen}");
    assert!(run.waits.max() > 1_000_000, "somebody waited for a slice: {} ns", run.waits.max());
}

#[test]
fn directed_yields_leave_the_holder_alone_once_it_has_a_cpu() {
    // Spinners that were chosen for a directed yield kept taking CPUs from others that were just being
    // switched to, and some seeds did nothing at all: with fewer spinners off their CPUs than CPUs, the
    // holder never ran.
    let noticing = ["window=2us", "largest=32us", "gap=500ns", "exit=3us", "guard=20us"];
    let noticing = noticing.map(|set| format!("host.pause-loop.{set}"));
    let machine = crate::machine::load_with("haswell-ex-4x8", &noticing).expect("a shipped machine").machine;
    let workload = crate::workload::load("build-haswell-ex").expect("a shipped workload").workload;
    let run = |contexts, seed| {
        outcome(&Spec { time: 30 * MS, seed, ..spec(&machine, &workload, "byte", contexts) }).ops_per_second()
    };
    let all_have_cpus = run(32, 1);
    for contexts in [40, 48] {
        for seed in 1..=6 {
            let rate = run(contexts, seed);
            assert!(
                rate > all_have_cpus / 4.0,
                "{contexts} contexts, seed {seed}: {rate} of {all_have_cpus}"
            );
        }
    }
}

/// What the first of four contexts on two CPUs sees: how many others have no CPU, and for how long it is away
/// when it offers its own to one that runs, in nanoseconds.
fn seen(hypercalls: bool) -> (f64, u64) {
    let mut machine = shared(2);
    machine.host.preempted_hint = true;
    machine.host.hypercalls = hypercalls;
    let (over, found) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new((0.0, 0))));
    let mut contexts: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    let (ends, result) = (Arc::clone(&over), Arc::clone(&found));
    let others = || (1..4).map(|other| CpuId::new(other).expect("a number"));
    contexts.push(Box::new(move || {
        Sim::relax(50_000_000);
        let (mut preempted, mut away) = (0, 0);
        for _ in 0..1_000 {
            Sim::relax(100_000);
            preempted += others().filter(|&other| Sim::is_preempted(other)).count();
            let began = Sim::now();
            if let Some(runs) = others().find(|&other| Sim::yield_count(other).is_multiple_of(2)) {
                Sim::confer(runs, Sim::yield_count(runs).wrapping_add(2));
            }
            away = away.max(Sim::now() - began);
        }
        *result.lock().expect("no panic") = (preempted as f64 / 1_000.0, away);
        ends.store(true, Ordering::Relaxed);
    }));
    for _ in 1..4 {
        let over = Arc::clone(&over);
        contexts.push(Box::new(move || {
            while !over.load(Ordering::Relaxed) {
                Sim::relax(10_000);
            }
        }));
    }
    run_contexts(&machine, 1, contexts).expect("all end");
    *found.lock().expect("no panic")
}

#[test]
fn vcpus_see_who_is_preempted_anywhere_and_threads_on_their_own_cpu() {
    let (preempted, away) = seen(true);
    assert!((1.9..=2.0).contains(&preempted), "one on each CPU: {preempted}");
    assert!(away < 10_000, "offered to somebody who was dispatched at another time: {away} ns");
    let (preempted, away) = seen(false);
    assert!((0.9..=1.0).contains(&preempted), "one on this CPU: {preempted}");
    assert!(away > 1_000_000, "whoever is next got the CPU: {away} ns");
}
