//! `stanchion run`: a program as it is, with its locks replaced.
//!
//! What was typed is checked in [`args`]: the program ([`program`], [`elf`], [`imports`]), the library
//! ([`library`]), what both are told ([`environment`], [`locks`]). [`single`] runs the program once
//! in our place; [`compare`] runs it many times under several locks. [`stats`] and [`record`] are what the
//! library tells of a program. [`child`] is a program while it runs and when it has ended, [`signals`] what
//! reaches it through us.
mod args;
pub(crate) mod child;
mod compare;
mod elf;
mod environment;
mod imports;
mod library;
mod locks;
mod program;
pub(crate) mod record;
mod signals;
mod single;
pub(crate) mod stats;
#[cfg(test)]
mod testing;

pub(crate) use args::{Args, Launch};
use lab_kit::output::{REFUSED, print};
pub(crate) use library::work;
pub(crate) use locks::{DEFAULT, check_word as check_lock, taken_names as lock_names};
use program::Program;
use stats::Places;
use std::ffi::OsString;
use std::process::ExitCode;

/// What is run.
pub(crate) struct Target {
    pub program: Program,
    /// As typed: its name, and its arguments.
    pub words: Vec<OsString>,
}

/// Runs a program once and records it, as the command does that; also where its locks were first taken. The
/// error is the one line to print.
pub(crate) fn record(args: &Args) -> Result<Places, String> {
    let mut single = args.single()?;
    let stats = single.stats.take();
    single::run(&single);
    Ok(stats.map(|stats| stats.places()).unwrap_or_default())
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    let code = match &args.show {
        _ if args.list => Ok(print(&locks::list(), ExitCode::SUCCESS)),
        Some(trace) => record::show(trace, args.json.as_deref(), args.force),
        None if args.compare => args.comparison().map(compare::run),
        None => args.single().map(|single| single::run(&single)),
    };
    code.unwrap_or_else(|line| {
        eprintln!("stanchion: {line}");
        ExitCode::from(REFUSED)
    })
}
