//! One piece of advice from arguments to exit code.
use super::answer;
use super::args::Args;
use super::html;
use super::load::{self, Facts};
use super::place::{self, Place};
use super::predict::{self, Case, Cell, TODAY};
use super::report::{Report, WhatIf};
use super::usl::Law;
use crate::run as program;
use crate::sim::timeline::{self, Caption};
use lab_kit::export::{Exports, Formats, Wanted};
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, REFUSED, print};
use stanchion_sim::replay::Recorded;
use stanchion_sim::workload::Workload;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const SEEDS: u64 = 5;
const MOST_SEEDS: u64 = 100;

const FORMATS: Formats<Report> =
    Formats { stem: "advice", json: answer::json, csv: answer::csv, html: html::page };

/// Advises.
pub(crate) fn run(args: &Args) -> ExitCode {
    interrupt::install();
    match advise(args) {
        Ok(code) => code,
        Err(line) => {
            eprintln!("stanchion: {line}");
            ExitCode::from(REFUSED)
        }
    }
}

fn advise(args: &Args) -> Result<ExitCode, String> {
    let locks = locks(args)?;
    let seeds = seeds(args)?;
    let law = args.measured.as_deref().map(law).transpose()?;
    // Machines are refused before a program is started; how many workers there were is known only after.
    place::resolve(args, 1)?;
    let wanted = Wanted {
        json: args.json.as_deref(),
        csv: args.csv.as_deref(),
        html: args.html.as_deref(),
        dir: None,
        force: args.force,
    };
    let mut exports = Exports::open(&wanted, &FORMATS)?;
    let loaded = read(args);
    let (recorded, facts) = loaded.inspect_err(|_| exports.abandon())?;
    let places = place::resolve(args, facts.at_once).inspect_err(|_| exports.abandon())?;
    let mut report = Report::new(&facts, law, seeds[0]);
    let name = facts.meta.program.first().map_or("program", |word| word.rsplit('/').next().unwrap_or(word));
    let others = recorded.others.len();
    let workload = Arc::new(recorded.workload(name));
    let cases = cases(&places, &locks, &workload);
    let cells = predict::all(&facts, others, &cases, &seeds, args.quiet);
    report.complete = cells.iter().all(Option::is_some);
    report.cells = cells.into_iter().flatten().collect();
    report.decide();
    if report.complete {
        report.what_if = what_if(&report, &cases, &facts, others, &seeds, args.quiet);
    }
    if report.complete && args.html.is_some() {
        report.timelines = timelines(&report, &cases, &facts, others, seeds[0]);
    }
    let failed = report.cells.iter().any(|cell| cell.failed.is_some());
    let written = exports.write(&report);
    let code = match report.complete {
        false => INTERRUPTED,
        true if failed || written.is_err() => FAILED,
        true => lab_kit::output::PASSED,
    };
    let code = print(&answer::text(&report), ExitCode::from(code));
    if let Err(error) = written {
        eprintln!("stanchion: {error}");
    }
    Ok(code)
}

/// The recording: the one that was named, or of the program, which is run first.
fn read(args: &Args) -> Result<(Recorded, Facts), String> {
    if let Some(path) = &args.trace {
        return load::load(path).map_err(|why| format!("{}: {why}", path.display()));
    }
    let dir = tempfile::tempdir().map_err(|error| format!("no temporary directory can be made: {error}"))?;
    let path: PathBuf = args.keep.clone().unwrap_or_else(|| dir.path().join("trace.stn"));
    let how = program::Args {
        record: Some(path.clone()),
        stats: true,
        launch: args.launch.clone(),
        force: args.force,
        quiet: true,
        program: args.program.clone(),
        ..program::Args::default()
    };
    let (_, places) = program::record(&how)?;
    let (recorded, mut facts) = load::load(&path).map_err(|why| format!("the recording {why}"))?;
    for lock in &mut facts.locks {
        lock.places = places.get(&(facts.pid, lock.address)).cloned().unwrap_or_default();
    }
    Ok((recorded, facts))
}

/// libc's, and those that were asked for.
fn locks(args: &Args) -> Result<Vec<String>, String> {
    let mut locks = vec![TODAY.to_owned()];
    let default = vec![program::DEFAULT.to_owned()];
    for name in if args.lock.is_empty() { &default } else { &args.lock } {
        let names = if name == "all" { program::lock_names() } else { vec![name.as_str()] };
        for name in names {
            program::check_lock(name).map_err(|why| format!("--lock: {why}"))?;
            if !locks.iter().any(|lock| lock == name) {
                locks.push(name.to_owned());
            }
        }
    }
    Ok(locks)
}

fn seeds(args: &Args) -> Result<Vec<u64>, String> {
    let (count, first) = (args.seeds.unwrap_or(SEEDS), args.seed.unwrap_or(1));
    if count == 0 || count > MOST_SEEDS {
        return Err(format!("--seeds {count}: must be from 1 to {MOST_SEEDS}"));
    }
    Ok((0..count).map(|more| first.wrapping_add(more)).collect())
}

/// `1=1000,2=1900,4=3300`.
fn law(list: &str) -> Result<Law, String> {
    let point = |word: &str| {
        let (threads, number) = word.split_once('=')?;
        Some((threads.trim().parse::<u32>().ok()?.into(), number.trim().parse().ok()?))
    };
    let points: Option<Vec<(f64, f64)>> = list.split(',').map(point).collect();
    points.and_then(|points| Law::fit(&points)).ok_or_else(|| {
        format!("--measured: '{list}' is not three loads or more with what was reached: write for example 1=1000,2=1900,4=3300")
    })
}

fn cases(places: &[Place], locks: &[String], workload: &Arc<Workload>) -> Vec<Case> {
    let mut cases = Vec::new();
    for place in places {
        for &workers in &place.workers {
            cases.extend(locks.iter().map(|lock| Case {
                machine: Arc::clone(&place.machine),
                workload: Arc::clone(workload),
                lock: lock.clone(),
                workers,
            }));
        }
    }
    cases
}

/// Pictures of the case that decided: what is today, and what is advised.
fn timelines(report: &Report, cases: &[Case], facts: &Facts, others: usize, seed: u64) -> Vec<String> {
    let Some(advice) = &report.advice else { return Vec::new() };
    let picture = |&at: &usize| {
        let case = &cases[at];
        let outcome = predict::watch(facts, others, case, seed)?;
        let caption = Caption {
            context: "thread",
            lock: &case.lock,
            machine: &case.machine.name,
            workload: &case.workload.name,
            cpus: case.machine.topology.cpu_count(),
            seed,
            ops_per_second: report.cells[at].rate.mean,
        };
        Some(timeline::write(outcome.recording.as_ref()?, &caption))
    };
    [advice.today, advice.at].iter().filter_map(picture).collect()
}

/// What is different, and how a case becomes so.
type Change = (&'static str, fn(&mut Case));

/// The case that decided, with one thing different.
fn what_if(
    report: &Report,
    cases: &[Case],
    facts: &Facts,
    others: usize,
    seeds: &[u64],
    quiet: bool,
) -> Vec<WhatIf> {
    let Some(advice) = &report.advice else { return Vec::new() };
    let base = [&cases[advice.today], &cases[advice.at]];
    let changes: [Change; 3] = [
        ("twice the threads", |case| case.workers *= 2),
        ("holds twice as long", |case| case.workload = Arc::new(case.workload.holding(200))),
        ("twice the CPUs", |case| Arc::make_mut(&mut case.machine).topology.cores *= 2),
    ];
    let changed: Vec<Case> = changes
        .iter()
        .flat_map(|(_, change)| {
            base.map(|case| {
                let mut case = case.clone();
                change(&mut case);
                case
            })
        })
        .collect();
    let cells = predict::all(facts, others, &changed, seeds, quiet);
    let pairs = cells.as_chunks::<2>().0.iter().zip(changes);
    pairs
        .filter_map(|(pair, (what, _))| {
            let sound = |cell: &Option<Cell>| cell.clone().filter(|cell| cell.failed.is_none());
            Some(WhatIf { what, today: sound(&pair[0])?, advised: sound(&pair[1])? })
        })
        .collect()
}
