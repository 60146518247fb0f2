//! `--advise`: what `stanchion advise` predicts from one recording of a program, beside what that does then.
//!
//! A program is recorded with one thread for each CPU. From that its throughput is predicted for more threads
//! and for a container's limit, under each lock, relative to libc's locks at the load that was recorded. The
//! scalability law, which `stanchion advise` prints, has three measured loads of libc's locks to begin with.
use super::Request;
use super::kit::Kit;
use super::measure::{LIBC, Row, interleaved};
use super::play::{Lock, Verdict};
use super::predicted::{Cell, markdown, normalise};
use super::table::Program;
use crate::built;
use anyhow::{Context as _, Result, ensure};
use lab_kit::cgroup::Cgroup;
use lab_kit::compare::{self, Metric};
use lab_kit::export::json;
use lab_kit::interrupt;
use lab_kit::stats::Ratio;
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
/// A recording is so many times as long as a round: the host moves the CPUs meanwhile, and a second may be
/// all near or all far.
const LONGER: u64 = 3;

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
        let Some(played) = kit.stage(&program.recorded(LONGER), 1, &recorder)?.play()? else { break };
        println!("{:<26} recorded: {}", program.name, played.verdict);
        if played.verdict != Verdict::Right {
            continue;
        }
        let rows: Vec<Row<'_>> = loads.iter().map(|(load, _, locks)| (program, *load, &locks[..])).collect();
        let all = interleaved(kit, &rows, request.runs, |_| Ok(()))?;
        if interrupt::requested() {
            break;
        }
        // Rounds are paired by their places, so none may be missing.
        let is_whole = |row: &&compare::Row| row.summary.is_some() && row.failures.is_empty();
        let row_of = |row: usize, lock: &str| all[row].of(lock).filter(is_whole);
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
