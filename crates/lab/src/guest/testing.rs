//! What the tests of reports and tables share.
use super::clock::Given;
use super::record::{Fairness, Hardware, Test, TestOutcome, Vcpu, Wake, Work};
use super::report::{Report, Run, SCHEMA};
use super::session::Cost;
use super::setting::Setting;
use super::transcript::{State, Told};
use clap::{Args, FromArgMatches};
use lab_kit::provenance::Provenance;

/// What is meant by saying nothing, but with these locks and two vCPUs.
pub(crate) fn setting(locks: &[&str]) -> Setting {
    let words = ["guest", "--vcpus", "2", "--accel", "tcg", "--seed", "42"];
    let typed = Setting::augment_args(clap::Command::new("guest")).get_matches_from(words);
    Setting {
        locks: locks.iter().map(|&lock| lock.to_owned()).collect(),
        cpus: vec![0, 1],
        limit_s: 30.0,
        accel_reason: Some("there is no /dev/kvm".into()),
        ..Setting::from_arg_matches(&typed).expect("typed")
    }
}

/// A run that took so many seconds, with one and a half of CPU time for each of two vCPUs.
pub(crate) fn run(lock: &str, state: State, seconds: u64) -> Run {
    let vcpu = |number: u16| Vcpu {
        number,
        acquisitions: 10 + u64::from(number) * 10,
        work_ns: 1_000_000_000,
        slow_ns: 500_000_000,
        halts: 6000,
        kicks_sent: 7,
        ..Vcpu::default()
    };
    let work = Work {
        elapsed_ns: seconds * 1_000_000_000,
        operations: 12_345_678,
        finished: state == State::Finished,
        correct: true,
        fairness: Some(Fairness { min: 1.0, max: 2.0 }),
        ..Work::default()
    };
    let told = Told {
        boot: Some(Hardware { vcpus: 2, nodes: 1, hypervisor: "TCG".into(), ..Hardware::default() }),
        work: Some(work),
        vcpus: vec![vcpu(0), vcpu(1)],
        wake: Some(Wake { p50_ns: 2000, p99_ns: 30_000, max_ns: 4, count: 9 }),
        ..Told::default()
    };
    let given = vec![Given { cpu_ns: 1_500_000_000, stolen_ns: 250_000_000 }; 2];
    let cost = Cost { given, boot_wall_s: Some(0.5), ..Cost::default() };
    Run { lock: lock.into(), round: 0, state, caught: false, told, cost, log: Vec::new() }
}

/// A sound run, one that was not finished, and one that failed.
pub(crate) fn report() -> Report {
    let mut failed = run("qspin", State::Failed { reason: "the guest panicked: <b>".into() }, 1);
    failed.told.tests =
        vec![Test { name: "a".into(), outcome: TestOutcome::Failed, detail: Some("why".into()) }];
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
