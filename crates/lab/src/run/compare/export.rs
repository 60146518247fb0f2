//! How a comparison is told: the verdict first, a table for a terminal of a hundred columns, a page; JSON of
//! the whole, CSV of the runs.
use super::report::Report;
use lab_kit::column::Column;
use lab_kit::compare::{Comparison, Figures, Row};
use lab_kit::experiment::About;
use lab_kit::export::columns::{named, table};
use lab_kit::export::grid::{pieces, wrap};
use lab_kit::export::{self, Formats, page};
use lab_kit::stats::Summary;
use lab_kit::units::plural;
use maud::html;

pub(crate) const FORMATS: Formats<Report> =
    Formats { stem: "comparison", json: export::json, csv, html: Some(html) };

const NOTE: &str = "ratios: to the first lock, paired by round, geometric mean, 95 % interval; a..b: rounds are of two\n\
                    kinds, from the least to the most; unclear: 1 is in it, or fewer than 5 pairs\n";

pub(crate) fn text(report: &Report) -> String {
    let table = pieces(&table(&columns(), &report.comparison.locks), 1);
    format!("\n{}\n{table}{NOTE}", verdict(report))
}

/// What is compared, and what came of each lock beside the first, with time and memory.
fn verdict(report: &Report) -> String {
    let Comparison { setting, locks, .. } = &report.comparison;
    let mut text = setting.metric.told() + "\n";
    let Some((first, others)) = locks.split_first() else { return text };
    for row in others {
        let ratio = row.ratio.map(|ratio| format!("{}, {} of {}", word(row), ratio.in_digits(3), first.lock));
        let given_up = if row.given_up { "given up, " } else { "" };
        let ratio = ratio.unwrap_or_else(|| match row.pairs(first, &setting.metric).len() {
            0 => format!("{given_up}no round went well beside {}", first.lock),
            _ => format!("{given_up}no ratio to {}, as a round has 0 or less", first.lock),
        });
        wrap(&mut text, String::new(), &format!("{}: {ratio}", row.lock));
        text.extend(more(row).map(|more| format!("  {more}\n")));
    }
    text
}

fn word(row: &Row) -> &str {
    if row.given_up { "given up" } else { row.verdict.as_deref().unwrap_or("-") }
}

/// The ratios of time and memory, whatever is compared: `cpu 1.02 (1.01–1.03), rss …`.
fn more(row: &Row) -> Option<String> {
    let told = row.ratios.iter().filter_map(|(name, ratio)| Some(format!("{name} {}", ratio.told()?)));
    let told: Vec<_> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// Of locks, for people.
fn columns() -> [Column<Row>; 6] {
    let runs = |row: &Row| {
        let counted = row.counted().count();
        let failed = row.failures.iter().filter(|failure| !failure.warmup).count();
        format!("{counted} of {}", counted + failed)
    };
    let range = |summary: &Summary| [summary.min, summary.max].map(four_figures).join(" .. ");
    [
        Column::told("lock", |row: &Row| row.lock.clone()),
        Column::told("runs", runs),
        Column::told("median", |row: &Row| {
            let middle = row.summary.as_ref().filter(|summary| !summary.is_of_two_kinds())?;
            Some(middle.median)
        })
        .shown(four_figures),
        Column::told("from .. to", move |row: &Row| row.summary.as_ref().map(range)),
        Column::told("ratio (95 %)", |row: &Row| Some(row.ratio?.in_digits(3))),
        Column::told("", |row: &Row| word(row).to_owned()).titled("verdict"),
    ]
}

/// About four figures: repeated runs often differ in the third only.
fn four_figures(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) };
    format!("{value:.*}", places as usize)
}

fn about(report: &Report) -> About<'_> {
    let Report { schema, provenance, program, library, words, comparison, .. } = report;
    let Comparison { complete, setting, locks, warnings, .. } = comparison;
    let facts = vec![
        ("schema", schema.to_string()),
        ("program", program.join(" ")),
        ("metric", setting.metric.told()),
        ("library", library.clone().unwrap_or_default()),
        ("words for it", words.join(" ")),
    ];
    let (set_up, doubts) =
        (format!("{}, {} each", plural(locks.len(), "lock"), plural(setting.runs, "run")), warnings.clone());
    About { command: "run --compare", complete: *complete, provenance, set_up, facts, doubts }
}

/// A run: its lock, its round, whether it was to warm up, and what is compared of it, and the rest; or why it
/// failed.
type Line<'a> = (&'a str, usize, bool, Result<(f64, Figures), &'a str>);

/// Of runs, for files.
fn of_runs<'a>() -> [Column<Line<'a>>; 9] {
    let figure =
        |name, of: fn((f64, Figures)) -> f64| Column::new(name, move |run: &Line| run.3.ok().map(of));
    [
        Column::new("lock", |run: &Line| run.0.to_owned()),
        Column::new("round", |run: &Line| run.1),
        Column::new("warmup", |run: &Line| run.2),
        Column::new("state", |run: &Line| if run.3.is_ok() { "measured" } else { "failed" }),
        figure("metric", |(metric, _)| metric),
        figure("wall_s", |(_, figures)| figures.wall_s),
        figure("cpu_s", |(_, figures)| figures.cpu_s),
        figure("max_rss_kib", |(_, figures)| figures.max_rss_kib as f64),
        Column::new("reason", |run: &Line| run.3.err().map(str::to_owned)),
    ]
}

/// One row for each run; where it comes from, and the ratios, in `#` lines above.
fn csv(report: &Report) -> String {
    let Comparison { setting, locks, .. } = &report.comparison;
    let ratios = locks.iter().filter_map(|row| {
        let (median, ratio) = (row.summary.as_ref()?.middle(four_figures), row.ratio?.told()?);
        Some((&*row.lock, format!("median {median}, ratio {ratio}; {}", more(row)?)))
    });
    let mut about = about(report);
    about.facts.extend(ratios);
    let lines = locks.iter().flat_map(|Row { lock, runs, failures, .. }| {
        let came = |figures: Figures| Ok((setting.metric.of(&figures), figures));
        let sound = runs.iter().map(move |run| (&**lock, run.round, run.warmup, came(run.figures)));
        let failed = failures.iter().map(move |run| (&**lock, run.round, run.warmup, Err(&*run.reason)));
        sound.chain(failed)
    });
    about.csv(named(&of_runs(), lines))
}

fn html(report: &Report) -> String {
    let locks = &report.comparison.locks;
    let title = format!("{} under {}", report.program.join(" "), plural(locks.len(), "lock"));
    let shown = html! {
        h2 { "Runs" }
        (page::table(&table(&columns(), locks)))
        p.sub { (NOTE) }
    };
    about(report).page(&title, &verdict(report), &shown, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::tests::{figures, report};
    use export::json;
    use lab_kit::compare::{Failure, Run};

    fn filled() -> Report {
        let mut report = report(&["libc", "qspin"]);
        for row in &mut report.comparison.locks {
            row.runs = (0..3).map(|round| Run { round, warmup: round == 0, figures: figures(0.5) }).collect();
        }
        let reason = "exit code 3: said \"no\", twice".to_owned();
        report.comparison.locks[1].failures.push(Failure { round: 3, warmup: false, reason });
        report.comparison.warnings = vec!["a\nb".into()];
        report.comparison.refresh(1);
        report
    }

    #[test]
    fn json_parses_back_to_the_same_report() {
        let report = filled();
        assert_eq!(serde_json::from_str::<Report>(&json(&report)).expect("parses"), report);
        let value: serde_json::Value = serde_json::from_str(&json(&report)).expect("parses");
        assert_eq!(value["provenance"]["seed"], 42);
        assert_eq!(value["locks"][1]["verdict"], "unclear");
        assert_eq!(value["setting"]["metric"]["what"], "wall");
    }

    #[test]
    fn csv_has_comments_first_then_one_row_for_each_run() {
        let text = csv(&filled());
        assert!(
            text.contains("# seed: 42")
                && text.contains("# program: x a b")
                && text.contains("; cpu 1.00 (1.00–1.00), rss 1.00 (1.00–1.00), wall 1.00 (1.00–1.00)\n")
                && text.contains("# warning: a b\n")
        );
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), 7);
        assert_eq!((&rows[6][3], &rows[6][8]), ("failed", "exit code 3: said \"no\", twice"));
        assert_eq!(&rows[1][4], "0.5");
    }

    #[test]
    fn figures_are_short_and_tell_runs_apart() {
        let shown = [0.0, 0.012_345_6, 0.501_234, 1.5, 99.987_6, 1234.56, 9_876_543.2].map(four_figures);
        assert_eq!(shown, ["0", "0.01235", "0.5012", "1.500", "99.99", "1235", "9876543"]);
    }

    #[test]
    fn a_table_fits_a_terminal_and_says_what_counts() {
        let mut report = report(&["libc", "pv-qspin-wait-early-sampled", "qspin"]);
        for (index, row) in report.comparison.locks.iter_mut().take(2).enumerate() {
            let seconds = 123_456.7 / (index + 1) as f64;
            row.runs = (0..5).map(|round| Run { round, warmup: false, figures: figures(seconds) }).collect();
        }
        report.comparison.locks[2].failures.push(Failure { round: 0, warmup: false, reason: "x".into() });
        report.comparison.locks[2].given_up = true;
        report.comparison.refresh(0);
        let text = text(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let line = |name: &str| text.lines().find(|line| line.contains(name)).expect("a row").to_owned();
        assert!(
            line("sampled  ").contains("0.500 (0.500–0.500)") && line("sampled  ").ends_with("better"),
            "{text}"
        );
        assert!(line("qspin  ").contains(" 0 of 1 ") && line("qspin  ").ends_with("given up"), "{text}");
        assert!(text.starts_with("\nwall time, s; lower is better\n"), "{text}");
        let more = "sampled: better, 0.500 (0.500–0.500) of libc\n  cpu 0.50 (0.50–0.50), rss 1.00 (1.00–1.00), wall 0.50 (0.50–0.50)\n";
        assert!(text.contains(more) && text.contains("qspin: given up, no round went well"), "{text}");
        for row in &mut report.comparison.locks {
            row.lock += "-and-longer-than-any-other+stats";
        }
        let text = super::text(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.matches("sampled-and-longer-than-any-other+stats").count() >= 2);
    }

    #[test]
    fn a_round_without_a_logarithm_is_told() {
        let mut report = report(&["libc", "qspin"]);
        for row in &mut report.comparison.locks {
            row.runs = (0..5).map(|round| Run { round, warmup: false, figures: figures(0.5) }).collect();
        }
        report.comparison.locks[1].runs[3].figures.wall_s = 0.0;
        report.comparison.refresh(0);
        let text = text(&report);
        assert!(text.contains("qspin: no ratio to libc, as a round has 0 or less\n"), "{text}");
    }

    #[test]
    fn a_page_has_the_verdict_and_what_a_row_has() {
        let page = html(&filled());
        let [verdict, table] =
            ["qspin: unclear, 1.000 (1.000–1.000) of libc", "2 of 3"].map(|part| page.find(part));
        assert!(verdict.is_some() && verdict < table, "{page}");
        assert!(page.contains("exit code 3: said &quot;no&quot;, twice") && page.contains("under 2 locks"));
    }
}
