//! A comparison for people, spreadsheets and programs.
use super::verdict::{Comparison, Contest, Match, Row};
use core::fmt::Write;
use lab_kit::units::three_figures;
use serde::Serialize;

/// Millions a second.
const MILLION: f64 = 1e6;

/// A comparison with where it comes from.
#[derive(Serialize)]
pub(super) struct Whole<'a> {
    pub(super) schema: u32,
    pub(super) date: &'a str,
    pub(super) machine: &'a str,
    pub(super) native: &'a str,
    #[serde(flatten)]
    pub(super) comparison: &'a Comparison,
}

impl Whole<'_> {
    /// As JSON.
    pub(super) fn json(&self) -> String {
        lab_kit::export::json(self)
    }

    /// As CSV, one row for each lock of each cell.
    pub(super) fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &self.comparison.rows {
            writer.serialize(row).expect("rows are plain and memory does not fail");
        }
        let rows = writer.into_inner().expect("memory does not fail");
        let head = format!(
            "# stanchion calibrate --compare, schema 1, {}\n# native: {}\n# machine: {}\n# winner right: {}, same: {}\n",
            self.date, self.native, self.machine, self.comparison.right_winner, self.comparison.same_winner
        );
        head.replace('\r', " ") + &String::from_utf8_lossy(&rows)
    }

    /// As tables of a hundred columns, and a summary.
    pub(super) fn table(&self) -> String {
        let mut text = format!("native: {}\nsimulated: {}\n", self.native, self.machine);
        let mut profile = "";
        for contest in &self.comparison.contests {
            if contest.profile != profile {
                profile = &contest.profile;
                let _ = writeln!(
                    text,
                    "\n== {profile} ==, million acquisitions/s (± half the range of rounds or seeds)\n{:>7}  {:24} {:>16}  {:>16}  {:>7}",
                    "threads", "lock", "native", "simulated", "error"
                );
            }
            let of_contest = |row: &&Row| row.profile == contest.profile && row.threads == contest.threads;
            for (index, row) in self.comparison.rows.iter().filter(of_contest).enumerate() {
                let threads = if index == 0 { row.threads.to_string() } else { String::new() };
                let _ = writeln!(text, "{threads:>7}  {}", line(row, contest));
            }
            let Contest { native, simulated, .. } = contest;
            let _ = match contest.verdict {
                Match::Right => writeln!(text, "{:>7}  winner right: {native}", ""),
                Match::AsGood => {
                    writeln!(text, "{:>7}  winner {simulated} instead of {native}: native rounds overlap", "")
                }
                Match::Wrong => writeln!(text, "{:>7}  WINNER WRONG: {simulated} instead of {native}", ""),
            };
        }
        text + &summary(self.comparison)
    }
}

fn line(row: &Row, contest: &Contest) -> String {
    let figure = |median: f64, least: f64, most: f64, best: &str| {
        let spread = if median > 0.0 { (most - least) / 2.0 / median * 100.0 } else { 0.0 };
        let mark = if row.lock == best { "*" } else { " " };
        format!("{} ±{spread:.0}%{mark}", three_figures(median / MILLION))
    };
    let error = row.error.map_or_else(|| "-".to_owned(), |error| format!("{:+.0} %", error * 100.0));
    format!(
        "{:24} {:>16}  {:>16}  {error:>7}{}",
        row.lock,
        figure(row.native, row.native_min, row.native_max, &contest.native),
        figure(row.simulated, row.simulated_min, row.simulated_max, &contest.simulated),
        if row.stalled { "  native run stalled" } else { "" }
    )
}

/// The figures of the whole, in words.
fn summary(comparison: &Comparison) -> String {
    let count = |verdict| comparison.contests.iter().filter(|contest| contest.verdict == verdict).count();
    let mut text = format!(
        "\nsummary\n  winner right in {:.0} % of {} cells: {} the same, {} that the benchmark cannot tell apart, {} wrong\n",
        comparison.right_winner * 100.0,
        comparison.contests.len(),
        count(Match::Right),
        count(Match::AsGood),
        count(Match::Wrong)
    );
    if let Some(error) = comparison.median_error {
        let by_lock = comparison.by_lock.iter().map(|(lock, error)| format!("{lock} {:.0} %", error * 100.0));
        let (by_lock, rates) = (by_lock.collect::<Vec<_>>().join(", "), comparison.rows.len());
        let _ = writeln!(text, "  median error {:.0} % of {rates} rates: {by_lock}", error * 100.0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        let row = |lock: &str, native: f64, simulated: f64| Row {
            profile: "short".into(),
            threads: 32,
            lock: lock.into(),
            native,
            native_min: native * 0.9,
            native_max: native * 1.1,
            stalled: false,
            simulated,
            simulated_min: simulated,
            simulated_max: simulated,
            error: Some(simulated / native - 1.0),
        };
        Comparison {
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

    fn whole(comparison: &Comparison) -> Whole<'_> {
        Whole { schema: 1, date: "d", machine: "m", native: "n", comparison }
    }

    #[test]
    fn tables_fit_a_terminal_and_say_what_counts() {
        let text = whole(&comparison()).table();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("winner right in 100 %") && text.contains("-50 %"), "{text}");
    }

    #[test]
    fn csv_and_json_have_every_row() {
        let comparison = comparison();
        let whole = whole(&comparison);
        let text = whole.csv();
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 3);
        let value: serde_json::Value = serde_json::from_str(&whole.json()).expect("parses");
        assert_eq!(value["rows"].as_array().map(Vec::len), Some(2));
        assert_eq!(value["contests"][0]["verdict"], "right");
    }
}
