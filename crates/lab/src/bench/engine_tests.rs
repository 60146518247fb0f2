//! The engine with a mock machine: order, medians, stalls, broken locks, interruption.
use super::*;
use crate::bench::cell::{CellOutcome, CellSpec, Pass};
use crate::bench::engine;
use crate::bench::mix::{Load, Mix};
use crate::bench::plan::groups;
use crate::bench::report::{Cell, Report};
use crate::bench::tests::{outcome, report};

/// Counts what it is told; asks to stop before the given step.
#[derive(Default)]
struct MockObserver {
    steps: usize,
    /// Cells in the report at the end of each group.
    groups: Vec<usize>,
    stop_at: Option<usize>,
}

impl Observer for MockObserver {
    fn step(&mut self, _spec: &CellSpec) -> bool {
        let go_on = self.stop_at.is_none_or(|stop_at| self.steps < stop_at);
        self.steps += usize::from(go_on);
        go_on
    }

    fn group_done(&mut self, _group: &Group, report: &mut Report) {
        self.groups.push(report.cells.len());
    }
}

/// The cell of a lock with so many threads in a profile.
fn cell<'a>(report: &'a Report, lock: &str, profile: &str, threads: usize) -> Option<&'a Cell> {
    let profile = report.setting.profiles.iter().find(|one| one.name == profile)?;
    report.at(lock, Load { profile, mix: None }, threads)
}

/// Runs everything with the answers of `answer`, and asks to stop before step `stop_at`.
fn run(
    locks: &[&str],
    stop_at: Option<usize>,
    mut answer: impl FnMut(&CellSpec) -> Result<CellOutcome, CellError>,
) -> (Report, Vec<CellSpec>, MockObserver) {
    let mut report = report(locks);
    let groups = groups(&report, false);
    let mut asked = Vec::new();
    let mut executor = |spec: &CellSpec| {
        asked.push(spec.clone());
        answer(spec)
    };
    let mut observer = MockObserver { stop_at, ..MockObserver::default() };
    engine::run(&mut executor, &mut observer, &groups, &mut report);
    (report, asked, observer)
}

fn is(spec: &CellSpec, lock: &str, profile: &str, threads: usize) -> bool {
    spec.lock == lock && spec.profile.name == profile && spec.threads == threads
}

#[test]
fn a_sound_run_fills_every_cell_and_exports_after_every_group() {
    let (report, asked, observer) = run(&["a", "peer"], None, |spec| Ok(outcome(spec, 100)));
    assert!(report.complete && !report.failed());
    assert_eq!(report.cells.len(), 2 * 2 * 3);
    assert_eq!(observer.groups, [0, 0, 2, 4, 6, 8, 10, 12]);
    assert_eq!(observer.steps, asked.len());
    assert_eq!(report.overhead.len(), 2);
    assert_eq!(report.uncontended.len(), 3, "two locks and the bare loop");
    for row in &report.uncontended {
        let rounds: Vec<_> = row.costs.iter().map(|(name, ns)| (name.as_str(), ns.rounds.len())).collect();
        assert_eq!(rounds, [("after_ns", 3), ("ns", 3)], "{row:?}");
    }
    assert!(report.cells.iter().all(|cell| cell.throughput.is_some() && cell.latency.is_some()));
}

#[test]
fn medians_are_taken_over_the_rounds_of_a_cell() {
    let (report, ..) = run(&["a"], None, |spec| Ok(outcome(spec, [10, 50, 20][spec.round])));
    let throughput =
        cell(&report, "a", "short", 2).and_then(|cell| cell.throughput.clone()).expect("measured");
    // Two threads with 20 acquisitions each in a millisecond.
    assert!((throughput.median - 40_000.0).abs() < 1e-6);
    assert_eq!(throughput.rounds.len(), 3);
}

#[test]
fn a_stalled_lock_is_not_run_again_with_more_threads_in_that_profile() {
    let stall = |spec: &CellSpec| {
        let mut outcome = outcome(spec, 1);
        if is(spec, "ticket", "empty", 2) {
            outcome.state = State::Stalled;
        }
        Ok(outcome)
    };
    let (report, asked, _) = run(&["ticket", "b"], None, stall);
    assert!(report.complete);
    let runs = |profile, threads| asked.iter().filter(|spec| is(spec, "ticket", profile, threads)).count();
    assert_eq!((runs("empty", 2), runs("empty", 4)), (1, 0));
    assert_eq!(runs("short", 4), 4, "another profile is another story");
    let state = |threads| cell(&report, "ticket", "empty", threads).map(|cell| cell.state.clone());
    assert_eq!(state(2), Some(State::Stalled));
    assert_eq!(state(4), Some(State::Skipped { stalled_at: 2 }));
    assert!(cell(&report, "ticket", "empty", 2).is_some_and(|cell| cell.rate() > 0.0), "its window counts");
    assert!(report.complete && !report.failed(), "a stall is a result, not a failure");
}

#[test]
fn a_worker_that_hangs_is_a_stall() {
    let hang = |spec: &CellSpec| {
        if is(spec, "a", "empty", 2) { Err(CellError::Hung) } else { Ok(outcome(spec, 1)) }
    };
    let (report, ..) = run(&["a"], None, hang);
    assert_eq!(cell(&report, "a", "empty", 2).map(|cell| &cell.state), Some(&State::Stalled));
    assert_eq!(
        cell(&report, "a", "empty", 4).map(|cell| &cell.state),
        Some(&State::Skipped { stalled_at: 2 })
    );
}

#[test]
fn a_broken_lock_fails_the_run_and_the_others_go_on() {
    let broken = |spec: &CellSpec| {
        let mut outcome = outcome(spec, 1);
        if is(spec, "a", "empty", 2) {
            outcome.state = State::Broken { acquisitions: 10, counter: 9 };
        }
        Ok(outcome)
    };
    let (report, asked, _) = run(&["a", "b"], None, broken);
    assert!(report.failed());
    let state = cell(&report, "a", "empty", 2).map(|cell| cell.state.clone());
    assert_eq!(state, Some(State::Broken { acquisitions: 10, counter: 9 }));
    assert_eq!(asked.iter().filter(|spec| is(spec, "a", "empty", 2)).count(), 1);
    assert_eq!(cell(&report, "b", "empty", 2).map(|cell| &cell.state), Some(&State::Measured));
}

#[test]
fn a_worker_that_dies_fails_its_cell_and_names_the_reason() {
    let die = |spec: &CellSpec| {
        if spec.lock == "a" && spec.threads == 4 {
            Err(CellError::Died("killed by signal 11".into()))
        } else {
            Ok(outcome(spec, 1))
        }
    };
    let (report, ..) = run(&["a"], None, die);
    let state = cell(&report, "a", "short", 4).map(|cell| cell.state.clone());
    assert_eq!(state, Some(State::Failed { reason: "killed by signal 11".into() }));
    assert!(report.failed());
}

#[test]
fn an_interrupt_keeps_what_is_finished() {
    // 18 uncontended, 12 overhead, 8 cells of the first group (two locks, 3+1 rounds), then 3 of the next.
    let (report, asked, observer) = run(&["a", "b"], Some(18 + 12 + 8 + 3), |spec| Ok(outcome(spec, 1)));
    assert!(!report.complete);
    assert_eq!(asked.len(), 41);
    assert_eq!(observer.groups, [0, 0, 2, 4], "the group under way is written too");
    let rounds = |lock| {
        let cell = cell(&report, lock, "empty", 2).and_then(|cell| cell.throughput.as_ref());
        cell.map_or(0, |throughput| throughput.rounds.len())
    };
    assert_eq!(rounds("a") + rounds("b"), 3);
    let (.., observer) = run(&["a", "b"], Some(18 + 12 + 8), |spec| Ok(outcome(spec, 1)));
    assert_eq!(observer.groups, [0, 0, 2], "of the next one there is nothing to write");
}

#[test]
fn an_interrupted_worker_ends_the_run() {
    let mut left = 5;
    let interrupt = move |spec: &CellSpec| {
        left -= 1;
        if left < 0 { Err(CellError::Interrupted) } else { Ok(outcome(spec, 1)) }
    };
    let (report, asked, _) = run(&["a"], None, interrupt);
    assert_eq!((report.complete, asked.len()), (false, 6));
    assert!(report.cells.is_empty() && !report.uncontended.is_empty());
}

#[test]
fn a_worker_that_dies_outside_the_matrix_fails_the_run_too() {
    let die = |spec: &CellSpec| {
        if spec.pass == Pass::Uncontended && spec.lock == "a" {
            Err(CellError::Died("no more processes".into()))
        } else {
            Ok(outcome(spec, 1))
        }
    };
    let (report, ..) = run(&["a", "b"], None, die);
    assert!(report.failed());
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.to_string().contains("the uncontended cost of a failed"))
    );
    assert!(report.uncontended.iter().all(|row| row.lock != "a"));
}

#[test]
fn a_lock_that_stalls_is_left_out_of_that_mix_only_and_a_torn_read_fails_the_run() {
    let mut report = report(&["a", "b"]);
    let mixes = [99.0, 50.0].map(|reads_percent| Mix::Drawn { reads_percent });
    report.setting.mixes = mixes.to_vec();
    let groups = groups(&report, false);
    let mut executor = |spec: &CellSpec| {
        let mut outcome = outcome(spec, 10);
        if spec.lock == "a" && spec.mix == Some(mixes[0]) && spec.threads == 2 {
            outcome.state = State::Stalled;
        }
        if spec.lock == "b" && spec.mix == Some(mixes[1]) && spec.threads == 4 {
            outcome.state = State::Torn { of_reads: 9, torn: 1 };
        }
        Ok(outcome)
    };
    engine::run(&mut executor, &mut MockObserver::default(), &groups, &mut report);
    let profile = &report.setting.profiles[1];
    let state = |lock, mix, threads| {
        report.at(lock, Load { profile, mix: Some(mix) }, threads).map(|cell| cell.state.clone())
    };
    assert_eq!(state("a", mixes[0], 2), Some(State::Stalled));
    assert_eq!(state("a", mixes[0], 4), Some(State::Skipped { stalled_at: 2 }));
    assert_eq!(state("a", mixes[1], 4), Some(State::Measured));
    assert_eq!(state("b", mixes[1], 4), Some(State::Torn { of_reads: 9, torn: 1 }));
    assert!(report.failed());
    assert_eq!(report.overhead.len(), report.setting.profiles.len());
    assert_eq!(report.uncontended.len(), 3, "two locks and the bare loop");
    assert!(report.uncontended.iter().all(|row| row.costs.keys().eq(["read_ns", "write_ns"])));
}
