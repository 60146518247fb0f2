//! What the tests of reports and tables share.
use super::clock::Given;
use super::record::{Fairness, Hardware, Test, TestOutcome, Vcpu, Wake, Work};
use super::report::{Accel, Report, Run, SCHEMA, Setting};
use super::transcript::State;
use super::workload::Workload;
use lab_kit::provenance::Provenance;

pub(crate) fn setting(locks: &[&str]) -> Setting {
    Setting {
        workload: Workload::Build,
        locks: locks.iter().map(|&lock| lock.to_owned()).collect(),
        runs: 1,
        vcpus: 2,
        nodes: 1,
        cpus: vec![0, 1],
        memory_mib: 256,
        seed: 42,
        seconds: None,
        limit_s: 30.0,
        boot_limit_s: 60.0,
        words: Vec::new(),
        accel: Accel::Tcg,
        accel_reason: Some("there is no /dev/kvm".into()),
        qemu: "QEMU".into(),
        image: "/i".into(),
    }
}

/// A run that took so many seconds, with one and a half of CPU time for each of two vCPUs.
pub(crate) fn run(lock: &str, state: State, seconds: u64) -> Run {
    let vcpu = |number: u16| Vcpu {
        number,
        acquisitions: 10 + u64::from(number) * 10,
        work_ns: 1_000_000_000,
        slow_ns: 500_000_000,
        idle_ns: None,
        halts: 6000,
        halted_ns: 5,
        kicks_sent: 7,
        kicks_woke: 7,
        ticks: 3,
    };
    let work = Work {
        workload: "build".into(),
        lock: lock.into(),
        elapsed_ns: seconds * 1_000_000_000,
        operations: 12_345_678,
        finished: state == State::Finished,
        correct: true,
        wait_p50_ns: Some(100),
        wait_p99_ns: Some(1000),
        wait_max_ns: Some(10_000),
        fairness: Some(Fairness { min: 1.0, max: 2.0 }),
        reads: None,
        writes: None,
        rate: Some(1000),
    };
    let boot = Hardware { version: 1, vcpus: 2, nodes: 1, hypervisor: "TCG".into(), ..Hardware::default() };
    Run {
        lock: lock.into(),
        round: 0,
        state,
        caught: false,
        boot: Some(boot),
        work: Some(work),
        vcpus: vec![vcpu(0), vcpu(1)],
        wake: Some(Wake { p50_ns: 2000, p99_ns: 30_000, max_ns: 4, count: 9 }),
        tests: Vec::new(),
        stats: Vec::new(),
        given: vec![Given { cpu_ns: 1_500_000_000, stolen_ns: 250_000_000 }; 2],
        qemu_cpu_s: 3.5,
        qemu_wall_s: 4.0,
        boot_wall_s: Some(0.5),
        max_rss_kib: 1000,
        log: Vec::new(),
    }
}

/// A sound run, one that was not finished, and one that failed.
pub(crate) fn report() -> Report {
    let mut failed = run("qspin", State::Failed { reason: "the guest panicked: <b>".into() }, 1);
    failed.tests = vec![Test { name: "a".into(), outcome: TestOutcome::Failed, detail: Some("why".into()) }];
    failed.log = vec!["last line".into()];
    Report {
        schema: SCHEMA,
        complete: true,
        provenance: Provenance::collect(42),
        setting: setting(&["byte", "ticket", "qspin"]),
        runs: vec![run("byte", State::Finished, 2), run("ticket", State::Unfinished, 30), failed],
        warnings: Vec::new(),
    }
}
