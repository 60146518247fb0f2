//! What CFS and EEVDF do differently, and what both do for sleepers and idle CPUs.
use super::*;

#[test]
fn who_yields_is_passed_over_once_by_cfs_and_forfeits_its_turn_under_eevdf() {
    // Three on one CPU; the one that runs yields at once, so it has run least when the second leaves.
    let third = |kind| {
        let parameters = FairShare { kind, wake_preemption: Some(10 * MS), ..fair_share() };
        let mut scheduler = scheduler(&SchedulerKind::FairShare(parameters), &Topology::flat(1), 3, 1);
        for vcpu in 0..3 {
            scheduler.wake(vcpu, None, 0);
        }
        let first = scheduler.pick(0, 0).unwrap().vcpu;
        scheduler.leave(0, Leave::Yielded, US);
        let second = scheduler.pick(0, US).unwrap().vcpu;
        assert_ne!(second, first, "somebody else has the CPU");
        scheduler.leave(0, Leave::Preempted, 3 * MS);
        let next = scheduler.pick(0, 3 * MS).unwrap().vcpu;
        scheduler.leave(0, Leave::Preempted, 6 * MS);
        (first, [next, scheduler.pick(0, 6 * MS).unwrap().vcpu])
    };
    let (first, turns) = third(Fair::Cfs);
    assert!(turns.contains(&first), "its claim is as it was: {turns:?}");
    let (first, turns) = third(Fair::Eevdf);
    assert_ne!(turns[0], first, "the others have theirs first: {turns:?}");
}

#[test]
fn who_slept_long_goes_before_who_computed_up_to_a_slice_ago() {
    let parameters = FairShare { wake_preemption: Some(2 * MS), idle_pull: false, ..fair_share() };
    let mut scheduler = scheduler(&SchedulerKind::FairShare(parameters), &Topology::flat(1), 2, 1);
    scheduler.wake(0, None, 0);
    scheduler.pick(0, 0).unwrap();
    assert!(scheduler.wake(1, None, 100 * MS).preempts, "a slice of credit is more than 2 ms");
}

#[test]
fn a_cpu_that_idles_shortly_again_and_again_stops_pulling() {
    let pulls_after = |idle: Time| {
        let parameters = FairShare {
            pull_cost: MS / 2,
            balance: 0,
            wake_preemption: None,
            wake_to_idle: false,
            ..fair_share()
        };
        let mut scheduler = scheduler(&SchedulerKind::FairShare(parameters), &Topology::flat(2), 3, 1);
        let homes: Vec<Pcpu> = (0..3).map(|vcpu| scheduler.wake(vcpu, None, 0).pcpu).collect();
        let sleeper =
            (0..3).find(|&vcpu| homes.iter().filter(|&&home| home == homes[vcpu]).count() == 1).unwrap();
        let (own, other) = (homes[sleeper], 1 - homes[sleeper]);
        let resting = scheduler.pick(other, 0).unwrap().vcpu;
        scheduler.leave(other, Leave::Halted, US);
        assert!(scheduler.pick(other, US).is_some(), "its neighbour has the CPU for itself");
        let mut now = US;
        for _ in 0..20 {
            assert_eq!(scheduler.pick(own, now).map(|pick| pick.vcpu), Some(sleeper));
            scheduler.leave(own, Leave::Halted, now);
            assert!(scheduler.pick(own, now).is_none(), "nobody waits anywhere");
            now += idle;
            scheduler.wake(sleeper, None, now);
        }
        scheduler.pick(own, now);
        assert_eq!(scheduler.wake(resting, None, now).pcpu, other);
        scheduler.leave(own, Leave::Halted, now);
        scheduler.pick(own, now).map(|pick| pick.vcpu) == Some(resting)
    };
    assert!(pulls_after(2 * MS) && !pulls_after(100 * US));
}

#[test]
fn wake_ups_look_for_idle_cpus_that_share_a_cache() {
    // Two sockets of one core. Of two that began on one of them, one sleeps and the other runs; the other
    // socket idles.
    let place = |woken_from_there: bool| {
        let topology =
            Topology { sockets: 2, groups: 1, cores: 1, threads: 1, hops: vec![vec![0, 1], vec![1, 0]] };
        let mut scheduler = scheduler(&SchedulerKind::FairShare(fair_share()), &topology, 3, 1);
        let homes: Vec<Pcpu> = (0..3).map(|vcpu| scheduler.wake(vcpu, None, 0).pcpu).collect();
        let crowded = (homes.iter().sum::<Pcpu>() == 2).into();
        let idle = 1 - crowded;
        let sleeper = scheduler.pick(crowded, 0).unwrap().vcpu;
        assert!(scheduler.pick(idle, 0).is_some());
        scheduler.leave(crowded, Leave::Halted, MS);
        assert!(scheduler.pick(crowded, MS).is_some());
        scheduler.leave(idle, Leave::Halted, MS);
        scheduler.wake(sleeper, woken_from_there.then_some(idle), MS).pcpu == idle
    };
    assert!(!place(false) && place(true));
}
