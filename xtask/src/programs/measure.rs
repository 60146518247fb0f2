//! `--check` and `--measure`: interleaved runs of each program under each lock, at two loads, each load a
//! comparison as `stanchion run --compare` makes them. `--self-test`: programs under libraries that are
//! broken on purpose. A check that does not notice them shows nothing.
use super::kit::Kit;
use super::play::{Lock, Played, Stage, Verdict};
use super::table::Program;
use super::{Request, report};
use crate::files::put;
use crate::{built, workspace};
use anyhow::{Result, ensure};
use core::fmt::Write as _;
use core::time::Duration;
use lab_kit::compare::{self, Comparison, Metric, Setting, TrialError};
use lab_kit::export::json;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use lab_kit::units::three_figures;
use serde::Serialize;

/// The lock that the others are set in relation to.
pub(super) const LIBC: &str = "libc";
/// The broken libraries, in tests/programs/preload.
pub(crate) const BROKEN: [&str; 3] = ["no_exclusion", "gives_up", "lost_wakeups"];
/// Chance decides whether two threads meet in a lock that excludes nobody; so many runs must be enough. Most
/// are noticed in the first; once, five in a row were not.
const TRIES: usize = 30;
/// A hang is no end within so many times what the program takes under libc.
const TIMEOUT_FACTOR: f64 = 4.0;
const LEAST_TIMEOUT: Duration = Duration::from_secs(4);

/// What came of a program with so many threads for each CPU.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    pub(crate) program: String,
    pub(crate) overcommit: usize,
    #[serde(flatten)]
    pub(crate) comparison: Comparison,
}

impl Measured {
    pub(super) fn of(&self, lock: &str) -> Option<&compare::Row> {
        self.comparison.locks.iter().find(|row| row.lock == lock)
    }
}

#[derive(Serialize)]
pub(crate) struct Results {
    pub(crate) provenance: Provenance,
    /// Those that the programs may use.
    pub(crate) cpus: usize,
    pub(crate) not_here: Vec<String>,
    /// Not ended by Ctrl-C, and after its last repetition.
    pub(crate) complete: bool,
    pub(crate) measured: Vec<Measured>,
}

/// What is run: a program with so many threads for each CPU, under these locks.
pub(super) type Row<'a> = (&'a Program, usize, &'a [Lock]);

fn rows<'a>(programs: &'a [Program], locks: &'a [Lock]) -> Vec<Row<'a>> {
    let of = |program: &'a Program| program.levels().map(|overcommit| (program, overcommit, locks));
    programs.iter().flat_map(of).collect()
}

pub(super) fn check(kit: &mut Kit, programs: &[Program], locks: &[Lock]) -> Result<bool> {
    let all = interleaved(kit, &rows(programs, locks), 1, |_| Ok(()))?;
    let rows = || all.iter().flat_map(|measured| &measured.comparison.locks);
    let right: usize = rows().map(|row| row.runs.len()).sum();
    let wrong: usize = rows().map(|row| row.failures.len()).sum();
    println!("programs: {}, runs: {right} right, {wrong} not", programs.len());
    Ok(wrong == 0 && (right > 0 || interrupt::requested()))
}

/// Measures, and writes programs.json and programs.md after every run.
pub(super) fn run(
    kit: &mut Kit,
    programs: &[Program],
    absent: &[Program],
    locks: &[Lock],
    request: &Request,
) -> Result<bool> {
    let out = request.out.clone().unwrap_or_else(|| built::target(&kit.root).join("programs/measured"));
    let free = request.force || !out.join("programs.json").exists();
    ensure!(free, "{} has results already; --force writes over them", out.display());
    // What the others are set in relation to is first.
    let mut locks = locks.to_vec();
    locks.sort_by_key(|lock| lock.name != LIBC);
    ensure!(locks.first().is_some_and(|lock| lock.name == LIBC), "ratios are to libc; add it to --lock");
    let mut results = Results {
        provenance: workspace::provenance(&kit.root),
        cpus: kit.cpus,
        not_here: absent.iter().map(|program| program.name.clone()).collect(),
        complete: false,
        measured: Vec::new(),
    };
    let write = |results: &Results| {
        put(&out.join("programs.json"), json(results).as_bytes())?;
        put(&out.join("programs.md"), report::markdown(results, programs).as_bytes())
    };
    let measured = interleaved(kit, &rows(programs, &locks), request.runs, |measured| {
        results.measured = measured.to_vec();
        write(&results)
    })?;
    results.measured = measured;
    results.complete = !interrupt::requested();
    write(&results)?;
    print!("{}", report::markdown(&results, programs));
    println!("\nwritten to {}", out.display());
    ensure!(!results.measured.is_empty(), "nothing was measured");
    Ok(!results.measured.iter().any(|measured| measured.comparison.failed()))
}

/// Runs everything so many times, prints a line for each run, and keeps what one that was not right left.
/// What came of all so far goes to `done` after each. Ctrl-C ends it.
pub(super) fn interleaved(
    kit: &mut Kit,
    rows: &[Row<'_>],
    runs: usize,
    mut done: impl FnMut(&[Measured]) -> Result<()>,
) -> Result<Vec<Measured>> {
    let mut all = Vec::new();
    let each: usize = rows.iter().map(|(_, _, locks)| locks.len()).sum();
    let progress = Progress::new((each * runs) as u64, false).ticking();
    for &(program, overcommit, locks) in rows {
        progress.now(format!("making ready {}", program.name));
        kit.get_ready(program, locks)?;
        let names = locks.iter().map(|lock| lock.name.clone()).collect();
        let usual = Setting::new(names, Metric::Rate, runs);
        let setting = Setting { timeout_s: kit.limit.as_secs_f64(), check_output: true, ..usual };
        let comparison = Comparison::new(setting, Vec::new());
        all.push(Measured { program: program.name.clone(), overcommit, comparison });
    }
    for round in 0..runs {
        for (row, &(program, overcommit, locks)) in rows.iter().enumerate() {
            let mut trials = all[row].comparison.setting.trials();
            trials.retain(|trial| trial.round == round);
            for trial in trials {
                let lock = &locks[trial.lock];
                let (name, lock_name) = (&program.name, &lock.name);
                progress.now(format!("run {}: {name} {overcommit}x {lock_name}", round + 1));
                let stage = kit.stage(program, overcommit, lock)?;
                let Some(Played { verdict, figures }) = stage.play()? else {
                    progress.finish();
                    return Ok(all);
                };
                let (load, seconds) = (format!("{overcommit}x"), figures.wall_s);
                let mut line = format!("{name:<26} {load:>4} {lock_name:<12} {seconds:>6.1} s  {verdict}");
                if let Some(rate) = figures.picked {
                    let _ = write!(line, ", {}/s", three_figures(rate));
                }
                let came = if verdict == Verdict::Right {
                    Ok(figures)
                } else {
                    let kept = kit.keep(&stage, &format!("{name}-{load}-{lock_name}"))?;
                    let _ = write!(line, "\n{:26} what it left: {}", "", kept.display());
                    Err(TrialError::Failed(verdict.to_string()))
                };
                progress.done(&line);
                let comparison = &mut all[row].comparison;
                comparison.take(trial, came);
                comparison.refresh(0);
                done(&all)?;
            }
            all[row].comparison.complete = round + 1 == runs;
        }
    }
    progress.finish();
    Ok(all)
}

/// Of `all` programs one at least has to notice by its output, with nothing that crashed or hung.
pub(super) fn self_test(kit: &mut Kit, programs: &[Program], all: bool) -> Result<bool> {
    let libc = Lock { name: LIBC.to_owned(), ..Lock::default() };
    let tried: usize = programs.iter().map(|program| program.notices.len()).sum();
    let progress = Progress::new(tried as u64, false).ticking();
    let (mut noticed, mut failed, mut by_output) = (0, 0, 0);
    'programs: for program in programs {
        let (name, [_, overcommit]) = (&program.name, program.levels());
        if program.notices.is_empty() {
            progress.say(&format!("{name:<26} {:<14} not asked to notice anything", "-"));
            continue;
        }
        kit.get_ready(program, &[])?;
        let Some(sound) = kit.stage(program, overcommit, &libc)?.play()? else { break };
        if sound.verdict != Verdict::Right {
            progress.say(&format!("{name:<26} {:<14} FAILED as it is: {}", "libc", sound.verdict));
            failed += 1;
            continue;
        }
        let limit = Duration::from_secs_f64(sound.figures.wall_s * TIMEOUT_FACTOR).max(LEAST_TIMEOUT);
        for library in &program.notices {
            progress.now(format!("{name} under {library}"));
            let preload = Some(kit.compile_preload(library)?);
            let broken = Lock { name: library.clone(), library: preload, ..Lock::default() };
            let mut verdict = Verdict::Right;
            for _ in 0..TRIES {
                if verdict == Verdict::Right {
                    let stage = Stage { limit, ..kit.stage(program, overcommit, &broken)? };
                    let Some(played) = stage.play()? else { break 'programs };
                    verdict = played.verdict;
                }
            }
            let told = if verdict == Verdict::Right {
                failed += 1;
                format!("NOT NOTICED in {TRIES} runs")
            } else {
                noticed += 1;
                by_output += u32::from(matches!(verdict, Verdict::Wrong(_)));
                format!("noticed, {verdict}")
            };
            progress.done(&format!("{name:<26} {library:<14} {told}"));
        }
    }
    progress.finish();
    println!("self-test: {noticed} noticed ({by_output} by their output alone), {failed} failed");
    Ok(failed == 0 && (noticed > 0 && (by_output > 0 || !all) || interrupt::requested()))
}
