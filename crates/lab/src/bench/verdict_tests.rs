//! The answer: its length, what it decides, and what it says when it does not.
use super::*;
use crate::bench::tests::{full, full_rw};

/// A full report with so many rounds, in which `a` is twice as fast as `peer`, give or take `noise` in
/// turns.
fn report(rounds: usize, noise: f64) -> Report {
    let mut report = full();
    report.setting.rounds = rounds;
    for cell in &mut report.cells {
        let sign = if cell.lock == "a" { 1.0 } else { -1.0 };
        let noisy = |rate: f64, round: usize| {
            rate * (1.0 + sign * if round.is_multiple_of(2) { noise } else { -noise })
        };
        let throughput = cell.throughput.as_mut().expect("measured");
        throughput.rounds = (0..rounds).map(|round| noisy(throughput.median, round)).collect();
    }
    report
}

fn line(report: &Report, label: &str) -> String {
    let lines = lines(report);
    let found = lines.iter().find(|line| line.trim_start().starts_with(label));
    found.unwrap_or_else(|| panic!("{label}: {lines:#?}")).clone()
}

#[test]
fn the_answer_is_ten_lines_of_a_hundred_columns_with_an_interval_for_each_ratio() {
    let mut report = report(5, 0.01);
    for name in ["broken-with-a-long-name", "collapsed-with-a-long-name", "std", "parking_lot", "pthread"] {
        report.locks.push(LockInfo { kind: Kind::Peer, ..crate::bench::tests::lock(name) });
        for mut cell in report.cells.clone().into_iter().filter(|cell| cell.lock == "peer") {
            name.clone_into(&mut cell.lock);
            if name.starts_with("broken") {
                cell.state = State::Broken { acquisitions: 2, counter: 1 };
            } else if name.starts_with("collapsed") {
                cell.state = State::Stalled;
            }
            report.cells.push(cell);
        }
    }
    let lines = lines(&report);
    assert_eq!(lines.len(), 10, "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 100 && !line.contains('\n')), "{lines:#?}");
    assert!(line(&report, "broken").contains("broken-with-a-long-name is BROKEN (empty, 1 thread)"));
    assert!(line(&report, "lost").contains("collapsed-with-a-long-name (empty, 1 thread)"));
    let ahead = line(&report, "ahead");
    assert!(ahead.contains("throughput 2.0") && ahead.contains(") of std, 2.0"), "{ahead}");
    assert!(line(&report, "take").contains("a: the fastest of 5 locks that hold over 4 contended loads"));
    assert!(line(&report, "verdict").contains("5 rounds of 10 ms"));
    assert!(line(&report, "waits").contains("longest 50.0 µs in rounds of 10 ms, std 50.0 µs"));
}

#[test]
fn too_few_rounds_and_too_much_noise_decide_nothing() {
    let few = line(&report(4, 0.0), "take");
    assert!(few.contains("not decided") && few.contains("an answer needs 5 rounds"), "{few}");
    let noisy = line(&report(5, 0.9), "take");
    assert!(noisy.contains("no difference beyond the noise over 4 contended loads: a, peer"), "{noisy}");
}

#[test]
fn one_contended_load_is_one() {
    let mut report = report(5, 0.0);
    report.setting.threads = vec![1, 2];
    report.cells.retain(|cell| cell.threads == 1 || cell.threads == 2 && cell.profile == "short");
    let take = line(&report, "take");
    assert!(take.ends_with("locks that hold over 1 contended load"), "{take}");
}

#[test]
fn a_single_round_tells_no_ratio() {
    let mut report = report(1, 0.0);
    for cell in &mut report.cells {
        cell.cpu_rounds.truncate(1);
    }
    let text = lines(&report).join("\n");
    assert!(!text.contains(" of peer") && text.contains("not decided"), "{text}");
}

#[test]
fn a_peer_that_is_faster_is_the_answer() {
    let mut report = report(5, 0.0);
    report.locks[0].kind = Kind::Peer;
    report.locks[1].kind = Kind::Stanchion;
    assert!(line(&report, "take").contains("a: the fastest of 2"));
    assert!(line(&report, "ahead").contains("2.00 (2.00–2.00) of peer"), "ours comes first");
}

#[test]
fn readers_and_writers_have_the_same_lines_and_quick_is_said() {
    let mut report = full_rw();
    (report.setting.quick, report.setting.rounds) = (true, 5);
    for throughput in report.cells.iter_mut().filter_map(|cell| cell.throughput.as_mut()) {
        throughput.rounds = vec![throughput.median; 5];
    }
    assert!(line(&report, "verdict").contains("a quick one"));
    assert!(line(&report, "take").contains("a: the fastest of 2 locks that hold over 8 contended loads"));
    assert!(line(&report, "alone").contains("a read"), "{}", line(&report, "alone"));
}

#[test]
fn without_contention_the_cheapest_lock_is_told_and_nothing_measured_is_no_panic() {
    let mut report = full();
    report.cells.clear();
    let lines = lines(&report);
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[1].contains("alone   a "), "{lines:#?}");
    report.uncontended.clear();
    assert_eq!(super::lines(&report).len(), 1);
}

#[test]
fn if_no_lock_holds_everywhere_that_is_said() {
    let mut report = report(5, 0.0);
    let mut cells = report.cells.iter_mut().filter(|cell| cell.threads == 2);
    cells.next().expect("a cell").state = State::Stalled;
    let mut cells = report.cells.iter_mut().filter(|cell| cell.threads == 4 && cell.lock == "peer");
    cells.next().expect("a cell").state = State::Stalled;
    assert!(line(&report, "take").contains("not decided: no lock held under all loads"));
}

#[test]
fn rounds_of_two_kinds_are_a_range_beside_others_too() {
    let steady = report(5, 0.01);
    let mut apart = steady.clone();
    let cell = apart.cells.iter_mut().find(|cell| cell.lock == "a" && cell.threads == 4).expect("a cell");
    let throughput = cell.throughput.as_mut().expect("measured");
    throughput.rounds[3] *= 2.0;
    *throughput = Summary::of(throughput.rounds.clone());
    assert!(!line(&steady, "ahead").contains(".."), "{}", line(&steady, "ahead"));
    let ahead = line(&apart, "ahead");
    assert!(ahead.contains("throughput ~2.08 (1.91–2.26) of peer"), "{ahead}");
    assert!(line(&apart, "verdict").contains("1 cell of two kinds (~)"), "{}", line(&apart, "verdict"));
    assert!(!line(&steady, "ahead").contains('~') && !line(&steady, "verdict").contains('~'));
    let table = crate::bench::table::render(&apart);
    assert!(table.contains(" 1.96..3.92") && table.contains(" 2.01 (1.95–2.06) "), "{table}");
}
