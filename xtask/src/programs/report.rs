//! The tables of a measurement: each lock's throughput relative to libc, beside its bar.
use super::measure::{Results, Run};
use super::play::Verdict;
use super::table::Program;
use core::fmt::Write;
use lab_kit::provenance::Provenance;
use lab_kit::stats::{Ratio, median};
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

#[derive(Debug, PartialEq)]
struct Beside {
    ratio: Ratio,
    /// Rates by repetition.
    lock: Vec<f64>,
    libc: Vec<f64>,
    /// Memory relative to libc's run, the median.
    memory: f64,
}

/// An interval with the bar in it says that another measurement may say otherwise.
fn verdict(ratio: Ratio, bar: f64) -> String {
    let met = if ratio.ratio >= bar { "met" } else { "**missed**" };
    let unsure = if ratio.may_be(bar) { ", but the bar is in the interval" } else { "" };
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
         repetitions; memory is the peak seen, relative to libc's. Every run's output was verified; one that was not right fails its row."
    );
    let locks: BTreeSet<&str> = results.runs.iter().map(|run| run.lock.as_str()).collect();
    for lock in locks.into_iter().filter(|lock| *lock != "libc") {
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
        "\n## {lock}\n\n| program | threads | libc /s | {lock} /s | ratio (95 % interval) | runs | memory | bar | best peer | |\n\
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
        let beside = match cell(&results.runs, &program.name, overcommit, lock) {
            Ok(beside) => beside,
            Err(why) => {
                failed += usize::from(why.starts_with(FAIL));
                let _ = writeln!(out, " | | | | | {bar:.2} | {peer} | {} |", why.replace('|', "\\|"));
                continue;
            }
        };
        let Beside { ratio, lock, libc, memory } = &beside;
        *if ratio.ratio >= bar { &mut met } else { &mut missed } += 1;
        let [libc, lock] = [libc, lock].map(|rates| three_figures(median(rates)));
        let (pairs, verdict) = (ratio.pairs, verdict(*ratio, bar));
        let _ = writeln!(
            out,
            " {libc} | {lock} | {ratio} | {pairs} | {memory:.2} | {bar:.2} | {peer} | {verdict} |"
        );
        if is_hot {
            hot.push(beside);
        }
    }
    let _ = writeln!(out, "\n{met} bars met, {missed} missed, {failed} rows failed.");
    let wanted = programs.iter().filter(|program| program.hot).count();
    let loads: Vec<(&[f64], &[f64])> = hot.iter().map(|row| (&row.lock[..], &row.libc[..])).collect();
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

/// What the row has, or why it has nothing.
fn cell(runs: &[Run], program: &str, overcommit: usize, lock: &str) -> Result<Beside, String> {
    let is_of_row = |run: &&Run| run.program == program && run.overcommit == overcommit;
    let row: Vec<&Run> = runs.iter().filter(is_of_row).collect();
    for (lock, fails) in [(lock, FAIL), ("libc", "libc fails: ")] {
        let is_wrong = |run: &&&Run| run.lock == lock && run.played.verdict != Verdict::Right;
        if let Some(run) = row.iter().find(is_wrong) {
            return Err(format!("{fails}{}", run.played.verdict));
        }
    }
    let libcs =
        |of: &Run| row.iter().copied().find(|run| run.lock == "libc" && run.repetition == of.repetition);
    let of_lock = row.iter().copied().filter(|run| run.lock == lock);
    let both: Vec<(&Run, &Run)> = of_lock.filter_map(|run| Some((libcs(run)?, run))).collect();
    let pairs = both.iter().filter_map(|(libc, run)| Some((run.played.rate?, libc.played.rate?)));
    let (lock, libc): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let memory: Vec<f64> =
        both.iter().map(|(libc, run)| run.played.peak_kib as f64 / libc.played.peak_kib as f64).collect();
    let ratio = Ratio::of(&[(&lock, &libc)]).ok_or("not run")?;
    Ok(Beside { ratio, lock, libc, memory: median(&memory) })
}

#[cfg(test)]
mod tests {
    use super::super::play::Played;
    use super::*;

    fn run(lock: &str, repetition: u64, rate: f64) -> Run {
        let verdict = Verdict::Right;
        let (program, lock) = ("pigz".to_owned(), lock.to_owned());
        let played = Played { verdict, rate: Some(rate), seconds: 1.0, peak_kib: 100 + repetition };
        Run { program, overcommit: 8, lock, repetition, played }
    }

    fn results(runs: Vec<Run>) -> Results {
        let not_here = vec!["node".to_owned()];
        Results { provenance: Provenance::collect(0), cpus: 2, not_here, complete: true, runs }
    }

    #[test]
    fn ratios_are_of_the_same_repetition() {
        // The machine was twice as fast in the second repetition: the ratio does not see it.
        let runs = [run("libc", 0, 10.0), run("q", 0, 11.0), run("q", 1, 22.0), run("libc", 1, 20.0)];
        let beside = cell(&runs, "pigz", 8, "q").expect("there are pairs");
        let (low, high) = beside.ratio.interval.expect("two pairs");
        assert!((low - 1.1).abs() < 1e-9 && (high - 1.1).abs() < 1e-9);
        assert_eq!((beside.ratio.pairs, cell(&runs, "pigz", 1, "q")), (2, Err("not run".to_owned())));
    }

    #[test]
    fn a_run_that_is_not_right_fails_its_row() {
        let mut runs = vec![run("libc", 0, 10.0), run("q", 0, 11.0), run("q", 1, 11.0), run("libc", 1, 10.0)];
        runs[2].played.verdict = Verdict::Hung("for ever".to_owned());
        assert_eq!(cell(&runs, "pigz", 8, "q"), Err("**FAIL** HANG: for ever".to_owned()));
        runs.swap(2, 3);
        runs[2].played.verdict = Verdict::Wrong("x".to_owned());
        runs[3].played.verdict = Verdict::Right;
        assert_eq!(cell(&runs, "pigz", 8, "q"), Err("libc fails: WRONG: x".to_owned()));
    }

    #[test]
    fn a_bar_within_the_interval_is_told() {
        let verdict =
            |low, ratio, high| verdict(Ratio { ratio, interval: Some((low, high)), pairs: 3 }, 0.97);
        assert_eq!(verdict(0.98, 1.0, 1.1), "met");
        assert_eq!(verdict(0.9, 1.0, 1.1), "met, but the bar is in the interval");
        assert_eq!(verdict(0.9, 0.95, 1.1), "**missed**, but the bar is in the interval");
        assert_eq!(verdict(0.9, 0.95, 0.96), "**missed**");
    }

    #[test]
    fn a_table_tells_what_was_met_missed_and_left_out() {
        let programs =
            super::super::table::read(&crate::workspace::root()).unwrap_or_else(|error| panic!("{error:#}"));
        let pigz: Vec<Program> = programs.into_iter().filter(|program| program.name == "pigz").collect();
        let met = markdown(&results(vec![run("libc", 0, 100.0), run("q", 0, 97.5)]), &pigz);
        assert!(
            met.contains("| pigz | 16 (8x) | 100 | 97.5 | 0.97 (one value) | 1 | 1.00 | 0.97 |")
                && met.contains("1 bars met, 0 missed"),
            "{met}"
        );
        assert!(met.contains("| pigz | 2 (1x) | | | | | | 0.98 |  | not run |"), "{met}");
        let cells: Vec<usize> =
            met.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
        assert!(cells.len() == 4 && cells.iter().all(|&count| count == 11), "{met}");
        assert!(met.contains("not shown: node"));
        let missed = markdown(&results(vec![run("libc", 0, 100.0), run("q", 0, 90.0)]), &pigz);
        assert!(missed.contains("0 bars met, 1 missed"), "{missed}");
    }
}
