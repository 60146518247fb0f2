//! `stanchion run`: a program as it is, with its locks replaced.
//!
//! [`args`] checks what was typed: program ([`program`], [`elf`]) and library ([`library`], [`locks`]).
//! [`single`] runs the program once in our place, [`compare`] many times under several locks. The library
//! tells of it in [`stats`] and [`record`]. Errors are the one line to print.
mod args;
mod compare;
mod elf;
mod library;
mod locks;
mod program;
pub(crate) mod record;
mod single;
pub(crate) mod stats;

pub(crate) use args::{Args, Launch};
use lab_kit::output::print;
pub(crate) use library::work;
pub(crate) use locks::{DEFAULT, check_word as check_lock, taken_names as lock_names};
pub(crate) use single::TIMED_OUT;
pub(crate) use stats::Places;
use std::process::{ExitCode, exit};

/// Runs a program once and records it, as the command does that: its exit code, and where its locks were
/// first taken.
pub(crate) fn record(args: &Args) -> Result<(u8, Places), String> {
    let mut single = args.single()?;
    let stats = single.stats.take();
    let (code, is_recorded) = single::run(single);
    if !is_recorded {
        return Err("there is no recording".to_owned());
    }
    Ok((code, stats.map(|stats| stats.places()).unwrap_or_default()))
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    match &args.show {
        _ if args.list => Ok(print(&locks::list(), ExitCode::SUCCESS)),
        Some(trace) => record::show(trace, args.files.results.json.as_deref(), args.files.results.force),
        None if args.compare => args.comparison(),
        // The program's own code, whatever became of our files.
        None => args.single().map(|single| exit(single::run(single).0.into())),
    }
}
