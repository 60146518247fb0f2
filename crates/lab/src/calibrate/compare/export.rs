//! A comparison for people, spreadsheets and programs.
use super::verdict::{Comparison, Contest, Match, Row, columns, errors};
use core::fmt::Write;
use lab_kit::experiment::About;
use lab_kit::export::columns::named;
use lab_kit::stats::{Summary, median_error};
use lab_kit::units::{plural, three_figures};

pub(super) fn csv(comparison: &Comparison) -> String {
    let Comparison { schema, complete, provenance, native, machine, failures, .. } = comparison;
    let set_up = format!("native: {native}; simulated: {machine}");
    let facts = vec![
        ("schema", schema.to_string()),
        ("winner right", format!("{}, same: {}", comparison.right_winner, comparison.same_winner)),
    ];
    let (complete, doubts) = (*complete, failures.clone());
    About { command: "calibrate --compare", complete, provenance, set_up, facts, doubts }
        .csv(named(&columns(), &comparison.rows))
}

pub(super) fn table(comparison: &Comparison) -> String {
    let mut text = format!("native: {}\nsimulated: {}\n", comparison.native, comparison.machine);
    let mut profile = "";
    for contest in &comparison.contests {
        if contest.profile != profile {
            profile = &contest.profile;
            let _ = writeln!(
                text,
                "\n== {profile} ==, million acquisitions/s (± half the range of rounds or seeds; a..b: of two kinds)\n{:>7}  {:24} {:>13}  {:>13}  to native (95 % interval)",
                "threads", "lock", "native", "simulated"
            );
        }
        let of_contest = |row: &&Row| row.profile == contest.profile && row.threads == contest.threads;
        for (index, row) in comparison.rows.iter().filter(of_contest).enumerate() {
            let threads = if index == 0 { row.threads.to_string() } else { String::new() };
            let _ = writeln!(text, "{threads:>7}  {}", line(row, contest));
        }
        let Contest { native, simulated, .. } = contest;
        let verdict = match contest.verdict {
            Match::Right => format!("winner right: {native}"),
            Match::AsGood => format!("winner {simulated} instead of {native}: native rounds overlap"),
            Match::Wrong => format!("WINNER WRONG: {simulated} instead of {native}"),
        };
        let _ = writeln!(text, "{:>7}  {verdict}", "");
    }
    text + &summary(comparison)
}

fn line(row: &Row, contest: &Contest) -> String {
    let figure = |rates: &Summary, best: &str| {
        let mark = if row.lock == best { "*" } else { " " };
        rates.told(|rate| three_figures(rate / 1e6)) + mark
    };
    let ratio = row.ratio.map_or_else(|| "-".to_owned(), |ratio| ratio.to_string());
    let (native, simulated) =
        (figure(&row.native, &contest.native), figure(&row.simulated, &contest.simulated));
    let stalled = if row.stalled { "  native run stalled" } else { "" };
    format!("{:24} {native:>13}  {simulated:>13}  {ratio}{stalled}", row.lock)
}

fn summary(comparison: &Comparison) -> String {
    let count = |verdict| comparison.contests.iter().filter(|contest| contest.verdict == verdict).count();
    let (right, cells) = (comparison.right_winner * 100.0, comparison.contests.len());
    let [same, as_good, wrong] = [Match::Right, Match::AsGood, Match::Wrong].map(count);
    let mut text = "\nsummary\n".to_owned();
    if cells > 0 {
        let _ = writeln!(
            text,
            "  winner right in {right:.0} % of {cells} cells: {same} the same, {as_good} that the benchmark cannot tell apart, {wrong} wrong"
        );
    }
    if comparison.median_error.is_some() {
        let error = |lock: Option<&str>| median_error(&errors(&comparison.rows, lock), 0);
        let by_lock = comparison.by_lock.iter().map(|(lock, _)| format!("{lock} {}", error(Some(lock))));
        let by_lock = by_lock.collect::<Vec<_>>().join(", ");
        let _ =
            writeln!(text, "  median error {} of {} rates: {by_lock}", error(None), comparison.rows.len());
    }
    let mixed =
        comparison.rows.iter().filter(|row| row.ratio.is_some_and(|ratio| ratio.range.is_some())).count();
    if mixed > 0 {
        let _ = writeln!(
            text,
            "  {} of two kinds: errors and winners are by their medians",
            plural(mixed, "rate")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::provenance::Provenance;
    use lab_kit::stats::Ratio;

    fn comparison() -> Comparison {
        let row = |lock: &str, native: f64, simulated: f64| Row {
            profile: "short".into(),
            threads: 32,
            lock: lock.into(),
            native: Summary::of([0.9, 1.0, 1.1].map(|share| native * share).to_vec()),
            simulated: Summary::of(vec![simulated]),
            error: Some(simulated / native - 1.0),
            ratio: Some(Ratio {
                ratio: simulated / native,
                interval: Some((0.45, 0.55)),
                range: None,
                mixed: false,
                pairs: 3,
            }),
            ..Row::default()
        };
        Comparison {
            schema: 2,
            complete: true,
            provenance: Provenance::default(),
            machine: "m".into(),
            native: "n".into(),
            rows: vec![row("byte", 2e6, 1e6), row("pv-qspin-kick-at-unlock", 123_456_789.0, 1e8)],
            contests: vec![Contest {
                profile: "short".into(),
                threads: 32,
                native: "pv-qspin-kick-at-unlock".into(),
                simulated: "pv-qspin-kick-at-unlock".into(),
                verdict: Match::Right,
            }],
            same_winner: 1.0,
            right_winner: 1.0,
            median_error: Some(0.345),
            by_lock: vec![("byte".into(), 0.5)],
            failures: Vec::new(),
        }
    }

    #[test]
    fn tables_fit_a_terminal_and_say_what_counts() {
        let text = table(&comparison());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("winner right in 100 %") && text.contains(" 0.50 (0.45–0.55)"), "{text}");
        assert!(text.contains("34 % (too few for an interval) of 2 rates: byte 50 % (one value)"), "{text}");
    }

    #[test]
    fn seeds_of_two_kinds_have_a_range_and_the_summary_counts_them() {
        let mut comparison = comparison();
        assert!(!table(&comparison).contains("two kinds:"), "all are of one");
        comparison.rows[0] = comparison.rows[0].clone().with(vec![0.5e6, 1e6, 4e6]);
        let text = table(&comparison);
        let row = text.lines().find(|line| line.contains(" byte ")).expect("a row");
        assert!(row.contains("2.00 ±10%") && row.contains(" 0.50..4.00 "), "{row}");
        assert!(row.ends_with(" 0.23..2.22") && !row.contains("(0.45"), "1 of most, 4 of least: {row}");
        assert!(text.contains("  1 rate of two kinds: errors and winners are by their medians"), "{text}");
    }

    #[test]
    fn csv_and_json_have_every_row() {
        let comparison = comparison();
        let text = csv(&comparison);
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 3);
        let json = lab_kit::export::json(&comparison);
        let value: serde_json::Value = serde_json::from_str(&json).expect("parses");
        assert_eq!(value["rows"].as_array().map(Vec::len), Some(2));
        assert_eq!(value["contests"][0]["verdict"], "right");
    }
}
