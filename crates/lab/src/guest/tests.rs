//! The tests of tables and files, and the report that they and others are given.
use super::clock::Given;
use super::export::FORMATS;
use super::figures::shown;
use super::record::{Hardware, Test, TestOutcome, Vcpu, Wake, Work};
use super::report::Cost;
use super::report::{Report, Run, SCHEMA};
use super::setting::Setting;
use super::table::{cell, in_short, render, tables};
use super::transcript::{Ending, State, Told};
use super::workload::Workload;
use clap::{Args, FromArgMatches};
use lab_kit::provenance::Provenance;
use stanchion_wire::guest::Fairness;

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
        vcpu: number,
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
        fairness: Some(Fairness { min: 1, max: 2 }),
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
    let reason = matches!(state, State::Failed | State::Killed).then(|| "the guest panicked: <b>".into());
    let (ending, log) = (Ending::Own, Vec::new());
    Run { lock: lock.into(), round: 0, ending, state, reason, caught: false, told, cost, log }
}

/// A sound run, one that was not finished, and one that failed.
pub(crate) fn report() -> Report {
    let mut failed = run("qspin", State::Failed, 1);
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

#[test]
fn tables_fit_a_terminal_and_tell_what_went_wrong() {
    let text = render(&report());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let line =
        |lock: &str| text.lines().find(|line| line.trim_start().starts_with(lock)).expect("a row").to_owned();
    assert!(line("byte").contains(" 2.00 ") && line("byte").ends_with("0.50"), "{text}");
    assert!(line("ticket").contains(">30.0"), "{text}");
    assert!(line("qspin").contains("FAILED"), "{text}");
    assert!(text.contains("qspin FAILED, run 1: the guest panicked: <b>\n  | last line"), "{text}");
    assert!(text.contains("vCPU 1") && text.contains("nothing paravirtual"), "{text}");
    let mut conform = report();
    conform.setting.workload = Workload::Conform;
    assert!(tables(&conform).is_empty(), "tests have no figures");
}

#[test]
fn several_runs_show_median_and_spread_of_the_sound_ones() {
    let mut report = report();
    report.setting.runs = 3;
    let lock = "pv-qspin-wait-early-sampled";
    report.setting.locks.push(lock.to_owned());
    for seconds in [110, 140, 160] {
        report.runs.push(run(lock, State::Finished, seconds));
    }
    report.runs.push(run(lock, State::Killed, 9));
    let column = &shown(Workload::Build)[0];
    assert_eq!(cell(&report, "byte", column, true), "2.00", "one run has no spread");
    assert!(cell(&report, lock, column, true).starts_with(">140 ±18%"), "the killed one did not finish");
    assert!(!cell(&report, lock, column, false).contains('±'), "only what leads shows a spread");
    let text = render(&report);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn runs_of_two_kinds_show_their_range() {
    let mut report = report();
    for seconds in [6, 4] {
        report.runs.push(run("byte", State::Finished, seconds));
    }
    let columns = shown(Workload::Build);
    assert_eq!(cell(&report, "byte", &columns[0], true), "2.00..6.00");
    assert_eq!(cell(&report, "byte", &columns[0], false), "2.00..6.00");
    report.runs[0].state = State::Unfinished;
    assert_eq!(cell(&report, "byte", &columns[0], true), ">2.00..6.00");
}

#[test]
fn progress_tells_what_was_given_up() {
    let told = |state| in_short(&run("byte", state, 30));
    assert!(told(State::Unfinished).starts_with("unfinished after 30"), "{}", told(State::Unfinished));
    assert!(told(State::Finished).ends_with("acquisitions"), "{}", told(State::Finished));
}

#[test]
fn many_vcpus_are_summed_up() {
    let mut report = report();
    report.setting.vcpus = 64;
    report.runs[0].cost.given = (1..=64).map(|s| Given { cpu_ns: s * 1_000_000_000, stolen_ns: 0 }).collect();
    let text = render(&report);
    assert!(text.contains("least") && text.contains("32.5") && !text.contains("vCPU 1 "), "{text}");
}

#[test]
fn json_parses_back_to_the_same_report() {
    let report = report();
    let text = (FORMATS.json)(&report);
    assert_eq!(serde_json::from_str::<Report>(&text).expect("parses"), report);
    let value: serde_json::Value = serde_json::from_str(&text).expect("parses");
    assert_eq!((&value["setting"]["workload"], &value["setting"]["accel"]), (&"build".into(), &"tcg".into()));
    assert_eq!((&value["runs"][0]["state"], &value["runs"][0]["lock"]), (&"finished".into(), &"byte".into()));
    assert_eq!(value["runs"][2]["reason"], "the guest panicked: <b>");
}

#[test]
fn there_is_a_row_for_each_boot_with_as_many_columns() {
    let text = (FORMATS.csv)(&report());
    assert!(text.contains("# seed: 42") && text.contains("# set-up: 2 vCPUs on 2 CPUs, TCG"), "{text}");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let headings = reader.headers().expect("headings").clone();
    let at = |name: &str| headings.iter().position(|heading| heading == name).expect(name);
    let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[0][at("elapsed_s")], &rows[0][at("vcpu1_cpu_s")]), ("2", "1.5"));
    assert_eq!((&rows[1][at("state")], &rows[1][at("elapsed_s")]), ("unfinished", "30"));
    assert_eq!((&rows[2][at("state")], &rows[2][at("elapsed_s")]), ("failed", ""));
}

#[test]
fn the_page_stands_alone_and_escapes_what_guests_say() {
    let page = FORMATS.html.expect("there is one")(&report());
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b></"), "{page}");
    for word in ["http://", "https://", "<script", "src="] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("halts: how often"), "{page}");
    assert!(page.contains("&gt;30") && page.contains("FAILED"), "unfinished and failed runs are told");
    assert!(page.contains("class=\"broken\">FAILED</td>"), "{page}");
    assert!(page.contains(">a</th><td>FAILED: why</td>"), "{page}");
}
