//! `--self-test`: programs under libraries that are broken on purpose. A check that does not notice them
//! shows nothing.
use super::kit::Kit;
use super::play::{Lock, Played, Verdict, play};
use super::preloaded;
use super::table::Program;
use anyhow::Result;
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use std::process::ExitCode;

/// The broken libraries, in tests/programs/preload.
pub(crate) const BROKEN: [&str; 3] = ["no_exclusion", "gives_up", "lost_wakeups"];
/// Chance decides whether two threads meet in a lock that excludes nobody; so many runs must be enough.
const TRIES: usize = 5;
/// A hang is no end within so many times what the program takes under libc.
const TIMEOUT_FACTOR: f64 = 4.0;
const LEAST_TIMEOUT: Duration = Duration::from_secs(4);

/// Runs each program under libc and under each library that it is to notice.
///
/// Of `all` programs one at least has to notice by its output, with nothing that crashed or hung.
pub(crate) fn run(kit: &mut Kit, programs: &[Program], all: bool) -> Result<ExitCode> {
    let libc = Lock::libc();
    let progress =
        Progress::new(programs.iter().map(|program| program.notices.len() as u64).sum(), false).ticking();
    let (mut noticed, mut failed, mut by_output) = (0, 0, 0);
    for program in programs {
        if program.notices.is_empty() {
            progress.say(&format!("{:<26} {:<14} not asked to notice anything", program.name, "-"));
            continue;
        }
        kit.get_ready(program)?;
        let Some(sound) = once(kit, program, &libc, None)? else { return Ok(interrupted()) };
        if sound.verdict != Verdict::Right {
            progress.say(&format!("{:<26} {:<14} FAILED as it is: {}", program.name, "libc", sound.verdict));
            failed += 1;
            continue;
        }
        for library in &program.notices {
            progress.now(format!("{} under {library}", program.name));
            let broken = preloaded(library, &kit.compile_preload(library)?, false);
            let limit = Duration::from_secs_f64(sound.seconds * TIMEOUT_FACTOR).max(LEAST_TIMEOUT);
            let mut verdict = Verdict::Right;
            for _ in 0..TRIES {
                let Some(played) = once(kit, program, &broken, Some(limit))? else {
                    return Ok(interrupted());
                };
                verdict = played.verdict;
                if verdict != Verdict::Right {
                    break;
                }
            }
            let told = match &verdict {
                Verdict::Right => format!("NOT NOTICED in {TRIES} runs"),
                seen => format!("noticed, {seen}"),
            };
            progress.done(&format!("{:<26} {library:<14} {told}", program.name));
            match verdict {
                Verdict::Right => failed += 1,
                Verdict::Wrong(_) => (noticed, by_output) = (noticed + 1, by_output + 1),
                _ => noticed += 1,
            }
        }
    }
    println!("self-test: {noticed} noticed ({by_output} by their output alone), {failed} failed");
    Ok(if failed == 0 && noticed > 0 && (by_output > 0 || !all) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn once(kit: &Kit, program: &Program, lock: &Lock, limit: Option<Duration>) -> Result<Option<Played>> {
    let mut stage = kit.stage(program, program.overcommit, lock)?;
    stage.limit = limit.unwrap_or(stage.limit);
    play(program, lock, &stage)
}

fn interrupted() -> ExitCode {
    debug_assert!(interrupt::requested(), "only Ctrl-C ends a run without a verdict");
    println!("self-test: interrupted");
    ExitCode::from(130)
}
