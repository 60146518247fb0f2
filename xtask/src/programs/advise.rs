//! `--advise`: what `stanchion advise` predicts from one recording of a program, beside what the program does
//! then.
//!
//! A program is recorded with one thread for each CPU. From that its throughput is predicted for more threads
//! and for a container's limit, under each lock, relative to libc's locks at the load that was recorded. Then
//! it is run there. The scalability law, which `stanchion advise` prints, has three measured loads of libc's
//! locks to begin with.
use super::kit::Kit;
use super::limit::Limit;
use super::play::{Lock, Verdict, play};
use super::table::Program;
use super::{Request, get_ready};
use crate::built;
use anyhow::{Context as _, Result, ensure};
use core::fmt::Write;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use lab_kit::stats::median;
use lab_kit::units::{percent, three_figures};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Threads for each CPU, and the CPUs of a limit.
const LOADS: [(usize, Option<f64>); 5] = [(1, None), (4, None), (8, None), (16, None), (4, Some(0.5))];
/// The loads at which the law is fitted, in threads for each CPU.
const FITTED: [usize; 3] = [1, 4, 16];
/// Advice is right if its lock is within so much of the best.
const RIGHT: f64 = 0.95;

/// One program, load and lock.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Cell {
    program: String,
    threads: usize,
    limit: Option<f64>,
    lock: String,
    /// Of the program's own kind, a second.
    measured: f64,
    /// As multiples of libc's at the recorded load, both.
    ratio: f64,
    predicted: f64,
    /// What the law says, without the lock.
    law: Option<f64>,
    /// Whether `stanchion advise` said to take this lock here.
    advised: bool,
}

impl Cell {
    fn is_recorded(&self, cpus: usize) -> bool {
        self.lock == "libc" && self.threads == cpus && self.limit.is_none()
    }

    fn error(&self) -> f64 {
        (self.predicted / self.ratio - 1.0).abs()
    }
}

/// Records, predicts, measures, and writes advise.json and advise.md.
pub(super) fn run(
    root: &Path,
    kit: &mut Kit,
    programs: &[Program],
    locks: &[Lock],
    request: &Request,
) -> Result<ExitCode> {
    let relative = locks.first().is_some_and(|lock| lock.name == "libc") && locks.len() > 1;
    ensure!(relative, "predictions are relative to libc; name it first in --locks, and others");
    let out = request.out.clone().unwrap_or_else(|| built::target(root).join("programs/advised"));
    fs::create_dir_all(&out)?;
    let laboratory = built::laboratory(root)?;
    let programs: Vec<&Program> = programs.iter().filter(|program| program.advised).collect();
    let limit = Limit::new();
    if let Err(why) = &limit {
        println!("no limit of CPU time: {why}");
    }
    let loads: Vec<_> = LOADS.into_iter().filter(|(_, limited)| limited.is_none() || limit.is_ok()).collect();
    let each = loads.len() * locks.len() * request.runs as usize + 1;
    let progress = Progress::new((programs.len() * each) as u64, false).ticking();
    let mut cells: Vec<Cell> = Vec::new();
    'all: for program in &programs {
        progress.now(format!("making ready {}", program.name));
        get_ready(kit, program, locks)?;
        let trace = out.join(format!("{}.stn", program.name));
        let recorder = recorder(&laboratory, &trace);
        let stage = kit.stage(program, 1, &recorder)?;
        let Some(played) = play(program, &recorder, &stage)? else { break };
        progress.done(&format!("{:<26} recorded: {}", program.name, played.verdict));
        if played.verdict != Verdict::Right {
            continue;
        }
        let mut rates = vec![Vec::new(); loads.len() * locks.len()];
        for _ in 0..request.runs {
            for (at, (&(overcommit, limited), lock)) in
                loads.iter().flat_map(|load| locks.iter().map(move |lock| (load, lock))).enumerate()
            {
                let mut lock = lock.clone();
                if let (Some(cpus), Ok(limit)) = (limited, &limit) {
                    lock.wrapper = limit.wrapper(cpus)?;
                }
                let stage = kit.stage(program, overcommit, &lock)?;
                let Some(played) = play(program, &lock, &stage)? else { break 'all };
                let told = played.rate.map_or_else(|| played.verdict.to_string(), three_figures);
                progress.done(&format!("{:<26} {overcommit:>2}x {:<12} {told}", program.name, lock.name));
                rates[at].extend(played.rate);
            }
        }
        let measured: Vec<f64> = rates.iter().map(|rates| median(rates)).collect();
        let libc = |overcommit: usize| {
            let at = loads.iter().position(|load| *load == (overcommit, None)).unwrap_or(0);
            (kit.cpus * overcommit, measured[at * locks.len()])
        };
        let law = FITTED.map(libc).map(|(threads, rate)| format!("{threads}={rate}")).join(",");
        let one = libc(1).1;
        for (&load, here) in loads.iter().zip(measured.chunks(locks.len())) {
            let answer = ask(&laboratory, &trace, &law, load, locks)?;
            let predictions = answer["cells"].as_array().context("stanchion advise has no cells")?;
            for (lock, &measured) in locks.iter().zip(here) {
                let predicted = predictions.iter().find(|cell| cell["lock"] == *lock.name);
                let rate = predicted.and_then(|cell| cell["rate"]["mean"].as_f64());
                let threads = predicted.and_then(|cell| cell["workers"].as_f64());
                let law = threads.and_then(|threads| law_at(&answer["law"], threads));
                cells.push(Cell {
                    program: program.name.clone(),
                    threads: kit.cpus * load.0,
                    limit: load.1,
                    lock: lock.name.clone(),
                    measured,
                    ratio: measured / one,
                    predicted: rate.context("stanchion advise: its answer has not all locks")?,
                    law: law.map(|law| law / one),
                    advised: answer["advice"]["take"] == *lock.name,
                });
            }
        }
        normalise(&mut cells, &program.name, kit.cpus);
        fs::write(out.join("advise.json"), serde_json::to_string_pretty(&cells)? + "\n")?;
        fs::write(out.join("advise.md"), markdown(&cells, kit.cpus))?;
    }
    progress.finish();
    print!("{}", markdown(&cells, kit.cpus));
    println!("\nwritten to {}", out.display());
    Ok(if interrupt::requested() || cells.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What makes a program record its locks.
fn recorder(laboratory: &Path, trace: &Path) -> Lock {
    let words = [&laboratory.display().to_string(), "run", "--quiet", "--force", "--record"];
    let mut wrapper: Vec<String> = words.into_iter().map(str::to_owned).collect();
    wrapper.extend([trace.display().to_string(), "--".to_owned()]);
    Lock { name: "recorded".to_owned(), wrapper, ..Lock::libc() }
}

/// What the law says of the program's own rate.
fn law_at(law: &Value, threads: f64) -> Option<f64> {
    let of_law = |name: &str| law[name].as_f64();
    let (one, serial, agree) = (of_law("lambda")?, of_law("sigma")?, of_law("kappa")?);
    let more = threads - 1.0;
    Some(one * threads / (1.0 + serial * more + agree * threads * more))
}

/// Asks what `stanchion advise` predicts for a load.
fn ask(
    laboratory: &Path,
    trace: &Path,
    law: &str,
    (overcommit, limit): (usize, Option<f64>),
    locks: &[Lock],
) -> Result<Value> {
    let answer = trace.with_extension("json");
    let others: Vec<&str> = locks[1..].iter().map(|lock| lock.name.as_str()).collect();
    let mut command = Command::new(laboratory);
    command.arg("advise").arg(trace).args(["--here", "--quiet", "--force", "--lock", &others.join(",")]);
    command.args(["--measured", law, "--overcommit", &overcommit.to_string()]);
    command.args(limit.map(|cpus| format!("--cpu-limit={cpus}")));
    let ran = command.arg("--json").arg(&answer).output()?;
    let told = || format!("stanchion advise: {}", String::from_utf8_lossy(&ran.stderr).trim());
    let read = serde_json::from_str(&fs::read_to_string(&answer).with_context(told)?)?;
    fs::remove_file(&answer)?;
    Ok(read)
}

/// Makes the predictions of a program multiples of that for the load that was recorded.
fn normalise(cells: &mut [Cell], program: &str, cpus: usize) {
    let one = cells.iter().find(|cell| cell.program == program && cell.is_recorded(cpus));
    let Some(one) = one.map(|cell| cell.predicted) else { return };
    cells.iter_mut().filter(|cell| cell.program == program).for_each(|cell| cell.predicted /= one);
}

/// The table, and what it comes to.
fn markdown(cells: &[Cell], cpus: usize) -> String {
    let mut out = String::from(
        "| program | threads | lock | measured /s | ratio | predicted | error | law's error |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for cell in cells {
        let threads = cell.limit.map_or_else(
            || cell.threads.to_string(),
            |limit| format!("{}, limit of {limit} CPUs", cell.threads),
        );
        let law = cell.law.map(|law| percent((law / cell.ratio - 1.0).abs())).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {} | {threads} | {}{} | {} | {:.2} | {:.2} | {} | {law} |",
            cell.program,
            cell.lock,
            if cell.advised { " (advised)" } else { "" },
            three_figures(cell.measured),
            cell.ratio,
            cell.predicted,
            percent(cell.error()),
        );
    }
    let judged = judge(cells, cpus);
    let _ = writeln!(
        out,
        "\nThe advised lock is the best or within 5 % of it in {} of {} loads. The median error is {}. It is below the law's in {} of {} programs.",
        judged.right,
        judged.loads,
        percent(judged.error),
        judged.below_law,
        judged.programs,
    );
    out
}

#[derive(Debug, PartialEq)]
struct Judged {
    right: usize,
    loads: usize,
    error: f64,
    below_law: usize,
    programs: usize,
}

/// The load that was recorded, under libc's locks, is nobody's prediction.
fn judge(cells: &[Cell], cpus: usize) -> Judged {
    let load = |cell: &Cell| (cell.program.clone(), cell.threads, cell.limit.map(f64::to_bits));
    let loads: Vec<&[Cell]> = cells.chunk_by(|a, b| load(a) == load(b)).collect();
    let best = |of: fn(&Cell) -> f64, cells: &[Cell]| cells.iter().map(of).fold(0.0, f64::max);
    let right = loads.iter().filter(|cells| {
        let advised = cells.iter().find(|cell| cell.advised);
        advised.is_some_and(|cell| cell.measured >= RIGHT * best(|cell| cell.measured, cells))
    });
    let predicted = |cells: &[Cell]| -> Vec<f64> {
        cells.iter().filter(|cell| !cell.is_recorded(cpus)).map(Cell::error).collect()
    };
    let programs: Vec<&[Cell]> = cells.chunk_by(|a, b| a.program == b.program).collect();
    let below = programs.iter().filter(|cells| {
        let law = cells.iter().filter(|cell| !cell.is_recorded(cpus));
        let law: Vec<f64> = law.filter_map(|cell| Some((cell.law? / cell.ratio - 1.0).abs())).collect();
        median(&predicted(cells)) < median(&law)
    });
    Judged {
        right: right.count(),
        loads: loads.len(),
        error: median(&predicted(cells)),
        below_law: below.count(),
        programs: programs.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(threads: usize, lock: &str, measured: f64, predicted: f64, advised: bool) -> Cell {
        let (program, law) = ("p".to_owned(), Some(1.5));
        Cell {
            program,
            threads,
            limit: None,
            lock: lock.to_owned(),
            measured,
            ratio: measured,
            predicted,
            law,
            advised,
        }
    }

    #[test]
    fn predictions_are_multiples_of_what_was_recorded() {
        let mut cells = [cell(2, "libc", 1.0, 50.0, true), cell(8, "libc", 1.0, 25.0, true)];
        normalise(&mut cells, "p", 2);
        assert!(cells[0].error() < 1e-9 && (cells[1].predicted - 0.5).abs() < 1e-9, "{cells:?}");
    }

    #[test]
    fn advice_is_judged_by_what_was_measured() {
        let cells = [
            cell(2, "libc", 1.0, 1.0, false),
            cell(2, "x", 0.97, 1.1, true),
            cell(8, "libc", 1.0, 1.2, true),
            cell(8, "x", 2.0, 1.0, false),
        ];
        let judged = judge(&cells, 2);
        assert_eq!((judged.right, judged.loads), (1, 2), "at 8 threads libc's was advised, and x is better");
        assert!((judged.error - 0.2).abs() < 1e-9, "{judged:?}");
        assert_eq!((judged.below_law, judged.programs), (1, 1), "the law is 50 % off");
    }
}
