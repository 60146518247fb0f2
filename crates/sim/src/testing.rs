//! A machine for tests: costs that are easy to tell apart, nothing left to chance but the seed.
use crate::machine::{Fair, FairShare, Host, Machine, Memory, Protocol, SchedulerKind, Speed, Topology};
use crate::time::{MS, NS, US};
use crate::workload::{self, Workload};

/// `sockets` sockets of `groups` groups of `cores` cores, each context on a CPU of its own.
pub(crate) fn machine(sockets: u16, groups: u16, cores: u16) -> Machine {
    let hops = (0..sockets).map(|a| (0..sockets).map(|b| u8::from(a != b)).collect()).collect();
    Machine {
        name: "test".to_owned(),
        about: "for tests".to_owned(),
        topology: Topology { sockets, groups, cores, threads: 1, hops },
        memory: Memory {
            protocol: Protocol::Mesif,
            migratory: false,
            hit: NS,
            rmw: 6 * NS,
            store: NS,
            fence: 8 * NS,
            poll: 5 * NS,
            spin_exit: 8 * NS,
            group_clean: 25 * NS,
            group_dirty: 55 * NS,
            socket_dirty: 70 * NS,
            remote_dirty: 145 * NS,
            hop: 40 * NS,
            memory: 90 * NS,
            upgrade: 33 * NS,
            upgrade_socket: 43 * NS,
            upgrade_remote: 100 * NS,
            upgrade_per_socket: 10 * NS,
            upgrade_per_core: NS,
            group_occupancy: 6 * NS,
            outside_percent: 300,
            occupancy_percent: 80,
            snoop_percent: 50,
            snoop_read_percent: 50,
            overlap_percent: 50,
            burst: 2 * NS,
            look_ahead: None,
            store_buffer: 32,
            jitter_percent: 10,
        },
        speed: Speed { sibling_computes_percent: 150, sibling_spins_percent: 130, turbo: Vec::new() },
        host: Host {
            scheduler: SchedulerKind::Pinned,
            halt: 800 * NS,
            kick: 1_500 * NS,
            kick_across: None,
            idle_entry: None,
            kick_idle: 200 * NS,
            wake_idle: 40 * US,
            wake_busy: US,
            switch: 1_500 * NS,
            migrate: 0,
            yield_cost: 300 * NS,
            heavy_barrier: None,
            preempted_hint: false,
            hypercalls: true,
            pause_loop: None,
            start_spread: 20 * US,
            tick_period: 4 * MS,
            tick_cost: 3 * US,
        },
    }
}

/// `cpus` CPUs that any number of contexts share.
pub(crate) fn shared(cpus: u16) -> Machine {
    let mut machine = machine(1, 1, cpus);
    machine.host.scheduler = SchedulerKind::FairShare(FairShare {
        kind: Fair::Eevdf,
        slice: 3 * MS,
        granularity: 4 * MS,
        wake_preemption: None,
        turn_noise: 20 * US,
        balance: 4 * MS,
        idle_pull: true,
        pull_cost: 0,
        wake_to_idle: true,
        quota: None,
    });
    machine
}

/// A section of `critical` and a think time of `think` nanoseconds, on one lock.
pub(crate) fn loop_of(critical: u64, think: u64) -> Workload {
    let critical = format!("workload.critical={critical}");
    let think = format!("workload.think={think}");
    let sets = [critical.as_str(), think.as_str(), "workload.think-varies-percent=0"];
    workload::load_with("short", &sets).expect("a shipped workload").workload
}
