//! `--advise`: what `stanchion advise` predicts from one recording of a program, beside what that does then.
//!
//! A program is recorded with one thread for each CPU. From that its throughput is predicted for more threads
//! and for a container's limit, under each lock, relative to libc's locks at the load that was recorded. The
//! scalability law, which `stanchion advise` prints, has three measured loads of libc's locks to begin with.
use super::Request;
use super::kit::Kit;
use super::measure::{LIBC, Row, interleaved};
use super::play::{Lock, Verdict};
use super::table::Program;
use crate::built;
use anyhow::{Context as _, Result, ensure};
use core::fmt::Write as _;
use lab_kit::cgroup::Cgroup;
use lab_kit::compare::Metric;
use lab_kit::export::json;
use lab_kit::interrupt;
use lab_kit::stats::{Ratio, median};
use lab_kit::units::{percent, three_figures};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Threads for each CPU. The first load is recorded.
const LOADS: [usize; 4] = [1, 4, 8, 16];
/// At which of them the law is fitted.
const FITTED: [usize; 3] = [0, 1, 3];
/// Threads for each CPU under a limit of so many CPUs.
const LIMITED: (usize, f64) = (4, 0.5);
/// Advice is right if its lock is within so much of the best.
const RIGHT: f64 = 0.95;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cell {
    program: String,
    threads: usize,
    limit: Option<f64>,
    lock: String,
    /// Of the program's own kind, a second: the median of its rounds.
    measured: f64,
    /// Each round, and libc's at the recorded load in the same round.
    rounds: Vec<(f64, f64)>,
    /// As multiples of libc's at the recorded load, both.
    ratio: Ratio,
    predicted: f64,
    /// What the law says, without the lock.
    law: Option<f64>,
    /// Whether the law was fitted to what was measured here, so that it says nothing.
    is_fitted: bool,
    /// Whether `stanchion advise` said to take this lock here.
    advised: bool,
}

impl Cell {
    fn error(&self) -> f64 {
        (self.predicted / self.ratio.ratio - 1.0).abs()
    }

    fn error_of_law(&self) -> Option<f64> {
        Some((self.law? / self.ratio.ratio - 1.0).abs())
    }

    /// Whether rounds tell for sure that this is more than 5 % better than `other` with the same load.
    fn is_surely_better(&self, other: &Self) -> bool {
        let rates = |cell: &Self| cell.rounds.iter().map(|(own, _)| *own).collect::<Vec<f64>>();
        let ratio = Ratio::of(&[(&rates(self), &rates(other))]);
        ratio.is_some_and(|ratio| ratio.is_clear() && ratio.ends().0 * RIGHT > 1.0)
    }
}

/// Records, predicts, measures, and writes advise.json and advise.md.
pub(super) fn run(kit: &mut Kit, programs: &[Program], locks: &[Lock], request: &Request) -> Result<bool> {
    let relative = locks.first().is_some_and(|lock| lock.name == LIBC) && locks.len() > 1;
    ensure!(relative, "predictions are relative to libc; name it first in --lock, and others");
    let out = directory(&kit.root, request);
    fs::create_dir_all(&out)?;
    let laboratory = built::laboratory(&kit.root)?;
    let names: Vec<&str> = locks[1..].iter().map(|lock| lock.name.as_str()).collect();
    let mut loads = Vec::from(LOADS.map(|load| (load, None, locks.to_vec())));
    let group = Cgroup::create().and_then(|group| group.limit_to(LIMITED.1).map(|()| group));
    match &group {
        Ok(group) => {
            let wrapper = group.wrapper().to_vec();
            let within = locks.iter().map(|lock| Lock { wrapper: wrapper.clone(), ..lock.clone() });
            loads.push((LIMITED.0, Some(LIMITED.1), within.collect()));
        }
        Err(why) => println!("no limit of CPU time: {why}"),
    }
    let mut cells: Vec<Cell> = Vec::new();
    for program in programs.iter().filter(|program| program.advised) {
        kit.get_ready(program, locks)?;
        let trace = trace(&out, &program.name);
        let [command, file] = [&laboratory, &trace].map(|path| path.display().to_string());
        let wrapper = [&command, "run", "--quiet", "--force", "--lock", "stanchion", "--record", &file, "--"];
        let wrapper = wrapper.map(str::to_owned);
        let recorder = Lock { name: "recorded".to_owned(), wrapper: wrapper.to_vec(), ..Lock::default() };
        let Some(played) = kit.stage(program, 1, &recorder)?.play()? else { break };
        println!("{:<26} recorded: {}", program.name, played.verdict);
        if played.verdict != Verdict::Right {
            continue;
        }
        let rows: Vec<Row<'_>> = loads.iter().map(|(load, _, locks)| (program, *load, &locks[..])).collect();
        let all = interleaved(kit, &rows, request.runs, |_| Ok(()))?;
        if interrupt::requested() {
            break;
        }
        let row_of = |row: usize, lock: &str| all[row].of(lock).filter(|row| row.summary.is_some());
        // To libc's at the first load, in the same round: the host may be quicker or slower in the next.
        let rounds = |row: usize, lock: &str| Some(row_of(row, lock)?.pairs(row_of(0, LIBC)?, &Metric::Rate));
        let fitted = |row: usize| {
            let ratio = Ratio::of_pairs(&rounds(row, LIBC)?)?.ratio;
            Some(format!("{}={ratio}", kit.cpus * LOADS[row]))
        };
        let fitted = FITTED.map(fitted);
        let fitted: Option<Vec<String>> = fitted.into_iter().collect();
        let Some(law) = fitted.map(|loads| loads.join(",")) else {
            println!("{:<26} left out: libc's locks did not run at all loads", program.name);
            continue;
        };
        let mut of_program = Vec::new();
        for (row, &(overcommit, limit, _)) in loads.iter().enumerate() {
            let threads = kit.cpus * overcommit;
            let cell = |lock: &Lock| {
                let (came, rounds) = row_of(row, &lock.name).zip(rounds(row, &lock.name))?;
                Some(Cell {
                    program: program.name.clone(),
                    threads,
                    limit,
                    lock: lock.name.clone(),
                    measured: came.summary.as_ref().map_or(0.0, |rates| rates.median),
                    ratio: Ratio::of_pairs(&rounds)?,
                    rounds,
                    predicted: 0.0,
                    law: None,
                    is_fitted: lock.name == LIBC && limit.is_none() && FITTED.contains(&row),
                    advised: false,
                })
            };
            let mut of_load: Vec<Cell> = locks.iter().filter_map(cell).collect();
            if of_load.is_empty() {
                continue; // none ran
            }
            let answer = predict(&laboratory, &trace, Some(&law), &names, &mut of_load)?;
            for cell in &mut of_load {
                cell.law = law_at(&answer["law"], threads as f64);
            }
            of_program.extend(of_load);
        }
        normalise(&mut of_program);
        cells.extend(of_program);
        write(&out, &cells)?;
    }
    print!("{}", markdown(&cells));
    println!("\nwritten to {}", out.display());
    Ok(interrupt::requested() || !cells.is_empty())
}

/// Predicts again from the recordings of an earlier run, beside what was measured then.
pub(super) fn again(root: &Path, request: &Request) -> Result<bool> {
    let (out, laboratory) = (directory(root, request), built::laboratory(root)?);
    let measured = out.join("advise.json");
    let text = fs::read_to_string(&measured);
    let text = text.with_context(|| format!("{}: run --advise first", measured.display()))?;
    let mut cells: Vec<Cell> = serde_json::from_str(&text)?;
    let names: BTreeSet<String> = cells.iter().map(|cell| cell.lock.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != LIBC).collect();
    for of_program in cells.chunk_by_mut(|a, b| a.program == b.program) {
        let trace = trace(&out, &of_program[0].program);
        println!("{}", of_program[0].program);
        for of_load in of_program.chunk_by_mut(|a, b| (a.threads, a.limit) == (b.threads, b.limit)) {
            predict(&laboratory, &trace, None, &names, of_load)?;
        }
        normalise(of_program);
    }
    write(&out, &cells)?;
    print!("{}", markdown(&cells));
    println!("\nwritten to {}", out.display());
    Ok(true)
}

fn directory(root: &Path, request: &Request) -> PathBuf {
    request.out.clone().unwrap_or_else(|| built::target(root).join("programs/advised"))
}

fn trace(out: &Path, program: &str) -> PathBuf {
    out.join(format!("{program}.stn"))
}

fn write(out: &Path, cells: &[Cell]) -> Result<()> {
    fs::write(out.join("advise.json"), json(&cells))?;
    Ok(fs::write(out.join("advise.md"), markdown(cells))?)
}

fn law_at(law: &Value, threads: f64) -> Option<f64> {
    let [one, serial, agree] = ["lambda", "sigma", "kappa"].map(|name| law[name].as_f64());
    let more = threads - 1.0;
    Some(one? * threads / (1.0 + serial? * more + agree? * threads * more))
}

/// What `stanchion advise` says of the load of these cells, of which there is one at least, with these locks
/// beside libc's; throughput of each stands in its cell then. `law` has throughput that was measured.
fn predict(
    laboratory: &Path,
    trace: &Path,
    law: Option<&str>,
    locks: &[&str],
    cells: &mut [Cell],
) -> Result<Value> {
    let answer = trace.with_extension("json");
    let mut command = Command::new(laboratory);
    command.arg("advise").arg(trace).args(["--here", "--quiet", "--force", "--lock", &locks.join(",")]);
    command.args(law.map(|law| format!("--measured={law}")));
    command.arg(format!("--threads={}", cells[0].threads));
    command.args(cells[0].limit.map(|cpus| format!("--cpu-limit={cpus}")));
    let ran = command.arg("--json").arg(&answer).output()?;
    let told = || format!("stanchion advise: {}", String::from_utf8_lossy(&ran.stderr).trim());
    let read: Value = serde_json::from_str(&fs::read_to_string(&answer).with_context(told)?)?;
    fs::remove_file(&answer)?;
    for cell in cells {
        let mut predicted = read["cells"].as_array().into_iter().flatten();
        let predicted = predicted.find(|predicted| predicted["lock"] == *cell.lock).unwrap_or(&Value::Null);
        let rate = predicted["rate"]["mean"].as_f64();
        cell.predicted = rate.context("stanchion advise: its answer has not all locks")?;
        cell.advised = read["advice"]["take"] == *cell.lock;
    }
    Ok(read)
}

/// Makes the predictions of a program multiples of that for the load that was recorded, which is the first.
fn normalise(cells: &mut [Cell]) {
    let one = cells[0].predicted;
    for cell in cells {
        cell.predicted /= one;
    }
}

fn markdown(cells: &[Cell]) -> String {
    let mut out = String::from(
        "| program | threads | lock | measured /s | ratio | predicted | error | law's error |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for cell in cells {
        let Cell { program, threads, lock, ratio, predicted, .. } = cell;
        let limit = cell.limit.map(|limit| format!(", limit of {limit} CPUs")).unwrap_or_default();
        let advised = if cell.advised { " (advised)" } else { "" };
        let (measured, error) = (three_figures(cell.measured), percent(cell.error()));
        let law = cell.error_of_law().map(percent).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {program} | {threads}{limit} | {lock}{advised} | {measured} | {ratio} | {predicted:.2} | {error} | {law} |"
        );
    }
    let judged = Judged::of(cells);
    let Judged { right, surely_wrong, loads, below_law, programs, .. } = &judged;
    let _ = writeln!(
        out,
        "\nThe advised lock is the best or within 5 % of it in {right} of {loads} loads, and in {surely_wrong} rounds tell for sure that it is not. The median error is {}. Where the law was not fitted, it is below the law's in {below_law} of {programs} programs.",
        percent(judged.error)
    );
    out
}

/// What the predictions come to. The load that was recorded, under libc's locks, is the first of each
/// program, and no prediction.
#[derive(Debug, PartialEq)]
struct Judged {
    /// Loads in which the advised lock is as good as the best.
    right: usize,
    /// In which another one is better, and not by chance.
    surely_wrong: usize,
    loads: usize,
    /// The median.
    error: f64,
    /// Programs in which the error is below the law's, where that was not fitted.
    below_law: usize,
    programs: usize,
}

impl Judged {
    fn of(cells: &[Cell]) -> Self {
        let load = |cell: &Cell| (cell.program.clone(), cell.threads, cell.limit.map(f64::to_bits));
        let loads: Vec<&[Cell]> = cells.chunk_by(|a, b| load(a) == load(b)).collect();
        let right = loads.iter().filter(|cells| {
            let best = cells.iter().map(|cell| cell.ratio.ratio).fold(0.0, f64::max);
            cells.iter().any(|cell| cell.advised && cell.ratio.ratio >= RIGHT * best)
        });
        let surely_wrong = loads.iter().filter(|cells| {
            let advised = cells.iter().find(|cell| cell.advised);
            advised.is_none_or(|advised| cells.iter().any(|cell| cell.is_surely_better(advised)))
        });
        let programs: Vec<&[Cell]> = cells.chunk_by(|a, b| a.program == b.program).collect();
        let below_law = programs.iter().filter(|cells| {
            let both = cells.iter().filter(|cell| !cell.is_fitted);
            let both = both.filter_map(|cell| Some((cell.error(), cell.error_of_law()?)));
            let (ours, laws): (Vec<f64>, Vec<f64>) = both.unzip();
            median(&ours) < median(&laws)
        });
        let errors: Vec<f64> = programs.iter().flat_map(|cells| &cells[1..]).map(Cell::error).collect();
        Self {
            right: right.count(),
            surely_wrong: surely_wrong.count(),
            loads: loads.len(),
            error: median(&errors),
            below_law: below_law.count(),
            programs: programs.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law says what libc's locks do, and half as much again of others.
    fn cell(threads: usize, lock: &str, ratio: f64, predicted: f64, advised: bool) -> Cell {
        let is_fitted = lock == LIBC;
        Cell {
            program: "p".to_owned(),
            threads,
            limit: None,
            lock: lock.to_owned(),
            measured: 7.0,
            rounds: vec![(ratio, 1.0); 5],
            ratio: Ratio { ratio, interval: Some((ratio, ratio)), range: None, pairs: 5 },
            predicted,
            law: Some(if is_fitted { ratio } else { ratio * 1.5 }),
            is_fitted,
            advised,
        }
    }

    #[test]
    fn predictions_are_multiples_of_what_was_recorded() {
        let mut cells = [cell(2, "libc", 1.0, 50.0, true), cell(8, "libc", 1.0, 25.0, true)];
        normalise(&mut cells);
        assert!(cells[0].error() < 1e-9 && (cells[1].predicted - 0.5).abs() < 1e-9, "{cells:?}");
    }

    #[test]
    fn advice_is_judged_by_what_was_measured() {
        let cells = [
            cell(2, "libc", 1.0, 1.0, false),
            cell(2, "x", 0.97, 1.1, true),
            cell(8, "libc", 1.0, 1.2, true),
            cell(8, "x", 2.0, 1.0, false),
            cell(32, "libc", 1.0, 1.3, true),
        ];
        let judged = Judged::of(&cells);
        assert_eq!((judged.right, judged.loads), (2, 3), "at 8 threads libc's was advised, and x is better");
        assert_eq!(judged.surely_wrong, 1, "five rounds of five say so");
        assert!((judged.error - 0.25).abs() < 1e-9, "{judged:?}");
        let below_law = (judged.below_law, judged.programs);
        assert_eq!(below_law, (1, 1), "32 % to 50 %: that it is exact where it was fitted does not count");
    }

    #[test]
    fn rounds_that_disagree_decide_nothing() {
        let mut cells = [cell(8, "libc", 1.0, 1.0, true), cell(8, "x", 1.1, 1.0, false)];
        cells[1].rounds = vec![(2.0, 1.0), (0.7, 1.0), (1.4, 1.0), (0.6, 1.0), (1.5, 1.0)];
        let judged = Judged::of(&cells);
        assert_eq!((judged.right, judged.surely_wrong), (0, 0), "better by chance");
        cells[0].advised = false;
        assert_eq!(Judged::of(&cells).surely_wrong, 1, "no advice is wrong advice");
    }
}
