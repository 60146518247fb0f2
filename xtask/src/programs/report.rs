//! The tables of a measurement: each lock's throughput relative to libc, beside its bar.
use super::measure::{LIBC, Measured, Results};
use super::table::Program;
use core::fmt::Write;
use lab_kit::compare::{Metric, Row};
use lab_kit::provenance::Provenance;
use lab_kit::stats::{MARKS, Ratio, Summary};
use lab_kit::units::three_figures;
use std::collections::BTreeSet;

/// What a program must reach at one thread a CPU, relative to libc.
const BAR_ONE: f64 = 0.98;
/// ... with many threads a CPU, if it does not live on one lock ...
const BAR_MANY: f64 = 0.97;
/// ... and if it does: each, and all in geometric mean.
const BAR_HOT: f64 = 1.0;
const BAR_HOT_MEAN: f64 = 1.5;

/// How the verdict of a row begins of whose runs one was not right.
const FAIL: &str = "**FAIL** ";

/// An interval with the bar in it, or none, says that another measurement may say otherwise.
fn verdict(ratio: Ratio, bar: f64) -> String {
    let met = if ratio.least() >= bar { "met" } else { "**missed**" };
    let unsure = match ratio.bounds() {
        None => ", but by one value",
        Some(_) if ratio.may_be(bar) => ", but the bar is in the interval",
        Some(_) => "",
    };
    format!("{met}{unsure}")
}

pub(crate) fn markdown(results: &Results, programs: &[Program]) -> String {
    let mut out = String::from("# Real programs\n\n");
    let Results { provenance, cpus, complete, .. } = results;
    let Provenance { cpu_model, kernel, libc, commit, tree, .. } = provenance;
    let _ = writeln!(out, "{cpu_model}, kernel {kernel}, {libc}, {cpus} CPUs. Commit {commit}, {tree}.");
    let ending = if *complete { "" } else { ", not complete" };
    let _ = writeln!(out, "`cargo xtask {}`{ending}\n", provenance.arguments.join(" "));
    let _ = writeln!(
        out,
        "Rates are per second and of each program's own kind; a ratio is of the runs of each repetition, geometric mean and 95 % interval over \
         repetitions, and so is memory, the peak seen. Every run's output was verified; one that was not right fails its row. {MARKS}."
    );
    let rows = results.measured.iter().flat_map(|measured| &measured.comparison.locks);
    let locks: BTreeSet<&str> = rows.map(|row| row.lock.as_str()).collect();
    for lock in locks.into_iter().filter(|lock| *lock != LIBC) {
        table(&mut out, results, programs, lock);
    }
    for name in &results.not_here {
        let _ = writeln!(out, "\nNot here, so not shown: {name}.");
    }
    out
}

fn table(out: &mut String, results: &Results, programs: &[Program], lock: &str) {
    let _ = writeln!(
        out,
        "\n## {lock}\n\n| program | threads | libc /s | {lock} /s | ratio (95 % interval) | runs | memory (95 % interval) | bar | best peer | |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    let (mut met, mut missed, mut failed, mut hot) = (0, 0, 0, Vec::new());
    let rows = programs.iter().flat_map(|program| program.levels().map(|overcommit| (program, overcommit)));
    for (program, overcommit) in rows {
        let is_hot = program.hot && overcommit > 1;
        let bar = match overcommit {
            1 => BAR_ONE,
            _ if is_hot => BAR_HOT,
            _ => BAR_MANY,
        };
        let name = if is_hot { format!("**{}**", program.name) } else { program.name.clone() };
        let _ = write!(out, "| {name} | {} ({overcommit}x) |", results.cpus * overcommit);
        let peer = program.best_peer.filter(|_| is_hot).map_or_else(String::new, |peer| format!("{peer:.1}"));
        let (own, libc, ratio) = match cell(&results.measured, &program.name, overcommit, lock) {
            Ok(both) => both,
            Err(why) => {
                failed += usize::from(why.starts_with(FAIL));
                let _ = writeln!(out, " | | | | | {bar:.2} | {peer} | {} |", why.replace('|', "\\|"));
                continue;
            }
        };
        *if ratio.least() >= bar { &mut met } else { &mut missed } += 1;
        let (own_rates, libc_rates): (Vec<f64>, Vec<f64>) =
            own.pairs(libc, &Metric::Rate).into_iter().unzip();
        let [libc, lock] =
            [&libc_rates, &own_rates].map(|rates| Summary::of(rates.clone()).middle(three_figures));
        let memory = own.ratios.get("rss").map(Ratio::to_string).unwrap_or_default();
        let (pairs, verdict) = (ratio.pairs, verdict(ratio, bar));
        let _ = writeln!(
            out,
            " {libc} | {lock} | {ratio} | {pairs} | {memory} | {bar:.2} | {peer} | {verdict} |"
        );
        if is_hot {
            hot.push((own_rates, libc_rates));
        }
    }
    let _ = writeln!(out, "\n{met} bars met, {missed} missed, {failed} rows failed.");
    let wanted = programs.iter().filter(|program| program.hot).count();
    let loads: Vec<(&[f64], &[f64])> = hot.iter().map(|(own, libc)| (&own[..], &libc[..])).collect();
    if hot.len() == wanted
        && let Some(mean) = Ratio::of(&loads)
    {
        let verdict = verdict(mean, BAR_HOT_MEAN);
        let _ = writeln!(
            out,
            "Geometric mean of the {wanted} hot rows (bold): {mean}, bar {BAR_HOT_MEAN:.2}, {verdict}."
        );
    } else if wanted > 0 {
        let _ = writeln!(out, "No geometric mean: {} of {wanted} hot rows have a ratio.", hot.len());
    }
}

/// What came of the lock and of libc, and the ratio of their rates, or why there is none.
fn cell<'a>(
    all: &'a [Measured],
    program: &str,
    overcommit: usize,
    lock: &str,
) -> Result<(&'a Row, &'a Row, Ratio), String> {
    let mut all = all.iter();
    let measured = all.find(|measured| measured.program == program && measured.overcommit == overcommit);
    let both = measured.and_then(|measured| Some((measured.of(lock)?, measured.of(LIBC)?)));
    let (own, libc) = both.ok_or("not run")?;
    for (row, fails) in [(own, FAIL), (libc, "libc fails: ")] {
        if let Some(failure) = row.failures.first() {
            return Err(format!("{fails}{}", failure.reason));
        }
    }
    Ok((own, libc, own.ratio.ok_or("not run")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::compare::{Comparison, Figures, Setting, Trial, TrialError};

    type Came = (&'static str, usize, Result<f64, &'static str>);

    /// Runs of one program with 8 threads a CPU: lock, round, and its rate or what was wrong.
    fn measured(runs: &[Came]) -> Vec<Measured> {
        let locks = ["libc", "q"];
        let setting = Setting::new(locks.map(str::to_owned).into(), Metric::Rate, 2);
        let mut comparison = Comparison::new(setting, Vec::new());
        for &(lock, round, came) in runs {
            let lock = locks.iter().position(|known| *known == lock).expect("one of the two");
            let max_rss_kib = 100 + round as u64;
            let figures = |rate| Figures { wall_s: 1.0, cpu_s: 1.0, max_rss_kib, picked: Some(rate) };
            let came = came.map(figures).map_err(|what| TrialError::Failed(what.to_owned()));
            comparison.take(Trial { lock, round, warmup: false }, came);
        }
        comparison.refresh(0);
        vec![Measured { program: "pigz".to_owned(), overcommit: 8, comparison }]
    }

    fn results(runs: &[Came]) -> Results {
        let (not_here, measured) = (vec!["node".to_owned()], measured(runs));
        Results { provenance: Provenance::collect(0), cpus: 2, not_here, complete: true, measured }
    }

    #[test]
    fn ratios_are_of_the_same_repetition() {
        // The machine was twice as fast in the second repetition: the ratio does not see it.
        let runs = [("libc", 0, Ok(10.0)), ("q", 0, Ok(11.0)), ("q", 1, Ok(22.0)), ("libc", 1, Ok(20.0))];
        let runs = measured(&runs);
        let (own, _, ratio) = cell(&runs, "pigz", 8, "q").expect("there are pairs");
        let (low, high) = ratio.interval.expect("two pairs");
        assert!((low - 1.1).abs() < 1e-9 && (high - 1.1).abs() < 1e-9);
        assert_eq!((ratio.pairs, cell(&runs, "pigz", 1, "q")), (2, Err("not run".to_owned())));
        let memory = own.ratios.get("rss").and_then(Ratio::told);
        assert_eq!(memory.as_deref(), Some("1.00 (1.00–1.00)"), "an interval, as all ratios have");
    }

    #[test]
    fn a_run_that_is_not_right_fails_its_row() {
        let runs = [("libc", 0, Ok(10.0)), ("q", 0, Ok(11.0)), ("libc", 1, Ok(10.0))];
        let hung = measured(&[&runs[..], &[("q", 1, Err("HANG: for ever"))]].concat());
        assert_eq!(cell(&hung, "pigz", 8, "q"), Err("**FAIL** HANG: for ever".to_owned()));
        let wrong = measured(&[&runs[..2], &[("libc", 1, Err("WRONG: x")), ("q", 1, Ok(11.0))]].concat());
        assert_eq!(cell(&wrong, "pigz", 8, "q"), Err("libc fails: WRONG: x".to_owned()));
    }

    #[test]
    fn a_bar_within_the_interval_is_told() {
        let verdict = |low, ratio, high| {
            verdict(Ratio { ratio, interval: Some((low, high)), range: None, mixed: false, pairs: 3 }, 0.97)
        };
        assert_eq!(verdict(0.98, 1.0, 1.1), "met");
        assert_eq!(verdict(0.9, 1.0, 1.1), "met, but the bar is in the interval");
        assert_eq!(verdict(0.9, 0.95, 1.1), "**missed**, but the bar is in the interval");
        assert_eq!(verdict(0.9, 0.95, 0.96), "**missed**");
        let one = Ratio { ratio: 0.98, interval: None, range: None, mixed: false, pairs: 1 };
        assert_eq!(super::verdict(one, 0.97), "met, but by one value");
        let apart =
            Ratio { range: Some((0.9, 2.0)), interval: Some((1.2, 2.1)), ratio: 1.6, pairs: 5, ..one };
        assert_eq!(super::verdict(apart, 0.97), "**missed**, but the bar is in the interval");
    }

    #[test]
    fn a_table_tells_what_was_met_missed_and_left_out() {
        let programs =
            super::super::table::read(&crate::workspace::root()).unwrap_or_else(|error| panic!("{error:#}"));
        let pigz: Vec<Program> = programs.into_iter().filter(|program| program.name == "pigz").collect();
        let met = markdown(&results(&[("libc", 0, Ok(100.0)), ("q", 0, Ok(97.5))]), &pigz);
        assert!(
            met.contains("| pigz | 16 (8x) | 100 | 97.5 | 0.97 (one value) | 1 | 1.00 (one value) | 0.97 |")
                && met.contains("1 bars met, 0 missed"),
            "{met}"
        );
        assert!(met.contains("| pigz | 2 (1x) | | | | | | 0.98 |  | not run |"), "{met}");
        let cells: Vec<usize> =
            met.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
        assert!(cells.len() == 4 && cells.iter().all(|&count| count == 11), "{met}");
        assert!(met.contains("not shown: node"));
        let missed = markdown(&results(&[("libc", 0, Ok(100.0)), ("q", 0, Ok(90.0))]), &pigz);
        assert!(missed.contains("0 bars met, 1 missed"), "{missed}");
    }
}
