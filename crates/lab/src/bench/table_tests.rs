//! Tables: order, marks, collapsed locks, ratios, width.
use super::*;
use crate::bench::mix::Mix;
use crate::bench::tests::{full, full_rw};

fn section<'a>(text: &'a str, name: &str) -> &'a str {
    text.split(&format!("== {name} ==")).nth(1).expect("a section")
}

#[test]
fn the_best_is_marked_and_stands_first() {
    let text = render(&full());
    let rows: Vec<&str> = section(&text, "short").lines().filter(|line| line.starts_with(' ')).collect();
    assert!(rows[1].starts_with(" a ") && rows[2].starts_with(" peer "), "{rows:?}");
    assert!(rows[1].contains("2.00 ±0.0%*") && rows[1].contains("8.00 ±0.0%*"), "{rows:?}");
}

#[test]
fn rows_are_sorted_by_what_was_asked_for() {
    let mut report = full();
    let first = |report: &Report| Rows::of(report, report.loads()[0]).shown[0].to_owned();
    assert_eq!(first(&report), "a");
    for cell in report.cells.iter_mut().filter(|cell| cell.lock == "a") {
        cell.cpu_s_per_million = Some(9.0);
    }
    report.setting.sort = "cpu".into();
    assert_eq!(first(&report), "peer");
}

#[test]
fn locks_that_collapsed_are_one_line_and_have_no_row() {
    let mut report = full();
    report.locks.push(crate::bench::tests::lock("b"));
    for (index, cell) in report.cells.clone().into_iter().filter(|cell| cell.lock == "a").enumerate() {
        let slow = index == 1;
        let mut cell = Cell { lock: "b".into(), ..cell };
        let throughput = cell.throughput.as_mut().expect("measured");
        throughput.median *= if slow { 0.09 } else { 1.0 };
        report.cells.push(cell);
    }
    report.cells.iter_mut().find(|cell| cell.lock == "a" && cell.threads == 4).expect("a cell").state =
        State::Stalled;
    let text = render(&report);
    let empty = section(&text, "empty");
    assert!(
        empty.contains(
            "\ncollapsed below a tenth of the best: a from 4 threads (stalled), b from 2 threads ("
        ),
        "{empty}"
    );
    let rows = |text: &str| text.lines().filter(|line| line.starts_with(" b ")).count();
    assert_eq!(rows(empty.split("== short ==").next().expect("a section")), 0, "{empty}");
    assert!(rows(section(&text, "short")) > 0, "another profile is another story");
}

#[test]
fn a_section_in_which_every_cell_failed_has_its_rows() {
    let mut report = full();
    for cell in &mut report.cells {
        let state = State::Failed { reason: "it died".into() };
        *cell = Cell::of(&cell.lock, (&cell.profile, cell.mix, cell.threads), state, &[]);
    }
    let row = |line: &&str| line.starts_with(" a ") && line.contains("failed");
    assert_eq!(section(&render(&report), "short").lines().filter(row).count(), 1);
}

#[test]
fn ours_are_set_in_relation_to_the_best_peer_with_an_interval() {
    let mut report = full();
    let text = render(&report);
    let table = text.split("relative to the best peer").nth(1).expect("a table of ratios");
    let row = table.lines().find(|line| line.starts_with(" a ")).expect("a row");
    assert_eq!(row.matches("2.00 (2.00–2.00)").count(), 3, "{row}");
    for throughput in report.cells.iter_mut().filter_map(|cell| cell.throughput.as_mut()) {
        throughput.rounds.truncate(1);
    }
    assert!(!render(&report).contains("relative"), "one round has no interval");
}

#[test]
fn a_hundred_columns_are_enough_however_many_thread_counts_there_are() {
    let mut report = full();
    report.locks[0].name = "pv-qspin-longest".into();
    report.setting.threads = (0..13).map(|power| 1 << power).collect();
    let text = render(&report) + &render(&full_rw());
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(longest <= 100, "{text}");
    let mut line = String::new();
    wrap(&mut line, String::new(), &"word ".repeat(60));
    assert!(line.lines().all(|line| line.len() <= 100) && line.matches("word").count() == 60);
}

#[test]
fn sections_of_readers_and_writers_tell_of_both_sides() {
    let mut report = full_rw();
    let text = render(&report);
    let half = section(&text, "short, 50 % reads");
    for quantity in figures(true) {
        assert!(half.contains(quantity.title), "{half}");
    }
    assert!(text.contains("== empty, 99 % reads ==") && text.contains("+ a: 64 B a thread"));
    for cell in &mut report.cells {
        cell.writes = None;
    }
    assert!(!render(&report).contains("writes, million/s"));
    report.setting.mixes = vec![Mix::Dedicated { writers: 1 }];
    assert!(report.loads().is_empty(), "no cell has that mix");
}
