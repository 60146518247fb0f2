//! `--self-test`: programs under libraries that are broken on purpose. A check that does not notice them
//! shows nothing.
use super::kit::Kit;
use super::play::{Lock, Stage, Verdict};
use super::table::Program;
use crate::exit_code;
use anyhow::Result;
use core::time::Duration;
use lab_kit::output::INTERRUPTED;
use lab_kit::progress::Progress;
use std::process::ExitCode;

/// The broken libraries, in tests/programs/preload.
pub(crate) const BROKEN: [&str; 3] = ["no_exclusion", "gives_up", "lost_wakeups"];
/// Chance decides whether two threads meet in a lock that excludes nobody; so many runs must be enough.
const TRIES: usize = 5;
/// A hang is no end within so many times what the program takes under libc.
const TIMEOUT_FACTOR: f64 = 4.0;
const LEAST_TIMEOUT: Duration = Duration::from_secs(4);

/// Of `all` programs one at least has to notice by its output, with nothing that crashed or hung.
pub(crate) fn run(kit: &mut Kit, programs: &[Program], all: bool) -> Result<ExitCode> {
    let libc = Lock { name: "libc".to_owned(), ..Lock::default() };
    let tried: usize = programs.iter().map(|program| program.notices.len()).sum();
    let progress = Progress::new(tried as u64, false).ticking();
    let (mut noticed, mut failed, mut by_output) = (0, 0, 0);
    for program in programs {
        let (name, [_, overcommit]) = (&program.name, program.levels());
        if program.notices.is_empty() {
            progress.say(&format!("{name:<26} {:<14} not asked to notice anything", "-"));
            continue;
        }
        kit.get_ready(program, &[])?;
        let Some(sound) = kit.stage(program, overcommit, &libc)?.play()? else { return Ok(interrupted()) };
        if sound.verdict != Verdict::Right {
            progress.say(&format!("{name:<26} {:<14} FAILED as it is: {}", "libc", sound.verdict));
            failed += 1;
            continue;
        }
        let limit = Duration::from_secs_f64(sound.seconds * TIMEOUT_FACTOR).max(LEAST_TIMEOUT);
        for library in &program.notices {
            progress.now(format!("{name} under {library}"));
            let preload = Some(kit.compile_preload(library)?);
            let broken = Lock { name: library.clone(), library: preload, ..Lock::default() };
            let mut verdict = Verdict::Right;
            for _ in 0..TRIES {
                if verdict == Verdict::Right {
                    let stage = Stage { limit, ..kit.stage(program, overcommit, &broken)? };
                    let Some(played) = stage.play()? else { return Ok(interrupted()) };
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
    println!("self-test: {noticed} noticed ({by_output} by their output alone), {failed} failed");
    Ok(exit_code(failed == 0 && noticed > 0 && (by_output > 0 || !all)))
}

fn interrupted() -> ExitCode {
    println!("self-test: interrupted");
    ExitCode::from(INTERRUPTED)
}
