//! `stanchion advise`: from a recorded program to the machine that it will run on.
//!
//! A recording ([`load`], [`window`], [`walk`], [`program`], [`order`],
//! [`telling`]) becomes what the simulator
//! replays. It is run on the machines that were asked for ([`place`]) with each lock ([`predict`]); the
//! [`report`] decides, and the [`answer`] says so first. [`usl`] is the law that a prediction has to beat.
mod answer;
mod args;
mod load;
mod order;
mod place;
mod predict;
mod program;
mod report;
mod telling;
mod usl;
mod walk;
mod window;

use crate::run;
use crate::sim::timeline::{self, Caption};
pub(crate) use args::Args;
use lab_kit::experiment::{Experiment, heed_interrupts, note_interrupts};
use lab_kit::export::{Files, Formats, Later, ResultFile};
use lab_kit::interrupt;
use lab_kit::names::{ALL, with_all};
use lab_kit::stats::Ratio;
use load::Recording;
use predict::{Case, Cell, TODAY};
use report::{Outlook, Report, WAITS, WhatIf, gain_over};
use stanchion_cells::scenes::once;
use stanchion_sim::machine::Machine;
use stanchion_sim::replay::Recorded;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// How many times as many seeds there are where they differ much.
const MORE: u64 = 4;

const FORMATS: Formats<Report> =
    Formats { stem: "advice", json: lab_kit::export::json, csv: answer::csv, html: Some(answer::page) };

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    if args.program.is_empty() {
        heed_interrupts();
    } else {
        note_interrupts(); // files of a program that is being recorded are to be taken away
    }
    if args.trace.is_none() && args.program.is_empty() {
        return Err("nothing to advise on: write -- and a program, or the name of a recording".to_owned());
    }
    let locks = locks(args)?;
    let seeds = |times: u64| -> Vec<u64> {
        (0..args.seeds * times).map(|more| args.seed.wrapping_add(more)).collect()
    };
    let quiet = args.files.results.quiet;
    // What is refused is refused before this machine is measured, or a program is started; how many workers
    // there were is known only after.
    place::check_named(args)?;
    args.files.apart(&FORMATS, args.keep.iter().chain(&args.trace).chain(&args.machine_file))?;
    let mut experiment = Experiment::open(&args.files, &FORMATS, 1)?;
    if let Some(path) = &args.keep {
        // Made anew for the recording.
        drop(Later::open(path.clone(), args.files.results.force).map_err(|why| format!("--keep: {why}"))?);
    }
    place::resolve(args, 1)?;
    // Before there is a recording in memory, which is larger than its file.
    let files = place::files(args)?;
    let (recorded, mut recording) = read(args)?;
    recording.limits.extend(place::doubts(args)?);
    let places = place::resolve(args, recording.at_once)?;
    let name = recording.program.first().map_or("program", |word| word.rsplit('/').next().unwrap_or(word));
    let workload = Arc::new(recorded.workload(name));
    let case = |(machine, workers): &(Arc<Machine>, usize), lock: &String| Case {
        machine: Arc::clone(machine),
        workload: Arc::clone(&workload),
        lock: lock.clone(),
        workers: *workers,
    };
    let cases = places.iter().flat_map(|place| locks.iter().map(move |lock| case(place, lock)));
    let cases: Vec<Case> = cases.collect();
    let cells = predict::all(&recording, &cases, &seeds(1), quiet);
    let mut report = Report::new(recording, cells, args.measured, args.seed);
    report.provenance.files = files;
    report.library.clone_from(&args.launch.library);
    report.chosen = args.lock.iter().filter(|name| *name != ALL).cloned().collect();
    // Another lock may be advised then, of which seeds differ elsewhere.
    let mut done = BTreeSet::new();
    while report.complete {
        let again: Vec<usize> = report.doubtful().into_iter().filter(|at| !done.contains(at)).collect();
        if again.is_empty() {
            break;
        }
        let doubtful: Vec<Case> = again.iter().map(|&at| cases[at].clone()).collect();
        let cells = predict::all(&report.recording, &doubtful, &seeds(MORE), quiet);
        match cells.into_iter().collect() {
            Some(cells) => report.replace(&again, cells),
            None => report.complete = false,
        }
        done.extend(again);
    }
    if report.complete && report.advice.as_ref().is_some_and(|advice| advice.outlook == Outlook::Open) {
        let times = if done.is_empty() { 1 } else { MORE };
        let free = free(&report, &cases, &seeds(times), quiet);
        report.settle(free);
    }
    if report.complete {
        report.what_if = what_if(&report, &cases, &seeds(1), quiet);
    }
    report.complete &= !interrupt::requested();
    if report.complete && (args.files.html.is_some() || args.files.out.is_some()) {
        report.timelines = timelines(&report, &cases, args.seed);
    }
    let failed = report.cells.iter().any(|cell| cell.failed.is_some());
    experiment.keep(&report);
    Ok(experiment.end(&answer::text(&report), report.complete, failed))
}

fn no_recording(path: &Path, why: &str) -> String {
    format!("{}: {why}; a program to record stands behind '--'", path.display())
}

/// The recording: the one that was named, or of the program, which is run first.
fn read(args: &Args) -> Result<(Recorded, Recording), String> {
    let alone = args.alone || args.cpu_limit.is_some();
    if let Some(path) = &args.trace {
        return load::load(path, &run::Places::default(), alone).map_err(|why| no_recording(path, &why));
    }
    let dir = tempfile::tempdir().map_err(|error| format!("no temporary directory can be made: {error}"))?;
    let path = args.keep.clone().unwrap_or_else(|| dir.path().join("trace.stn"));
    let how = run::Args {
        lock: vec![run::DEFAULT.to_owned()],
        record: Some(path.clone()),
        stats: true,
        launch: args.launch.clone(),
        files: Files {
            // The other files are ours.
            results: ResultFile { quiet: true, force: args.files.results.force, json: None },
            ..Files::default()
        },
        program: args.program.clone(),
        ..run::Args::default()
    };
    let named = |why: String| match why.strip_prefix("--record") {
        Some(why) if args.keep.is_some() => format!("--keep{why}"),
        _ => why,
    };
    let (code, places) = run::record(&how).map_err(named)?;
    let (recorded, mut recording) = load::load(&path, &places, alone)
        .map_err(|why| format!("the recording of {} {why}", args.program[0].display()))?;
    if ![0, run::TIMED_OUT].contains(&code) {
        recording.limits.insert(0, format!("the program failed, with exit code {code}"));
    }
    Ok((recorded, recording))
}

/// libc's, and those that were asked for.
fn locks(args: &Args) -> Result<Vec<String>, String> {
    let named = with_all(args.lock.iter().map(String::as_str), &run::lock_names());
    let locks = once([TODAY].into_iter().chain(named));
    if locks.len() < 2 {
        return Err(format!("--lock: {TODAY}'s are what others are compared with; name another one"));
    }
    locks.iter().try_for_each(|name| run::check_lock(name)).map_err(|why| format!("--lock: {why}"))?;
    Ok(locks.into_iter().map(str::to_owned).collect())
}

/// Pictures of the case that decided: what is today, and what is advised.
fn timelines(report: &Report, cases: &[Case], seed: u64) -> Vec<String> {
    let Some(advice) = &report.advice else { return Vec::new() };
    let picture = |&at: &usize| {
        let case = &cases[at];
        let outcome = predict::simulate(&report.recording, case, seed, true).ok()?;
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

/// What today's locks gain, in the case where that may be most, if sleeping and waking cost nothing. None if
/// it is not known of each case in which threads wait.
fn free(report: &Report, cases: &[Case], seeds: &[u64], quiet: bool) -> Option<Ratio> {
    let waits = |cell: &Cell| cell.lock == TODAY && cell.waiting >= WAITS && cell.failed.is_none();
    let places: Vec<usize> = (0..cases.len()).filter(|&at| waits(&report.cells[at])).collect();
    let freed = places.iter().map(|&at| {
        let mut case = cases[at].clone();
        let host = &mut Arc::make_mut(&mut case.machine).host;
        (host.kick_across, host.idle_entry) = (None, None);
        let waking = [&mut host.kick, &mut host.kick_idle, &mut host.wake_idle, &mut host.wake_busy];
        waking.into_iter().chain([&mut host.halt, &mut host.switch]).for_each(|time| *time = 0);
        case
    });
    let cells = predict::all(&report.recording, &freed.collect::<Vec<_>>(), seeds, quiet);
    let gains = places.iter().zip(cells).map(|(&at, cell)| gain_over(&cell?, &report.cells[at]));
    let gains: Vec<Ratio> = gains.collect::<Option<_>>()?;
    gains.into_iter().max_by(|a, b| a.ends().1.total_cmp(&b.ends().1))
}

type Change = (&'static str, fn(&mut Case));
const CHANGES: [Change; 3] = [
    ("twice the threads", |case| case.workers *= 2),
    ("holds twice as long", |case| case.workload = Arc::new(case.workload.holding(200))),
    ("twice the CPUs", |case| Arc::make_mut(&mut case.machine).topology.cores *= 2),
];

/// The case that decided, with one thing different.
fn what_if(report: &Report, cases: &[Case], seeds: &[u64], quiet: bool) -> Vec<WhatIf> {
    let Some(advice) = &report.advice else { return Vec::new() };
    let changed = CHANGES.iter().flat_map(|(_, change)| {
        [advice.today, advice.at].map(|at| {
            let mut case = cases[at].clone();
            change(&mut case);
            case
        })
    });
    let cells = predict::all(&report.recording, &changed.collect::<Vec<_>>(), seeds, quiet);
    let sound = |cell: &Option<Cell>| cell.clone().filter(|cell| cell.failed.is_none());
    let both = |((what, _), [today, advised]): (&Change, &[Option<Cell>; 2])| {
        Some(WhatIf { what, today: sound(today)?, advised: sound(advised)? })
    };
    CHANGES.iter().zip(cells.as_chunks().0).filter_map(both).collect()
}
