//! `stanchion run`: a program as it is, with its locks replaced.
//!
//! What was typed is checked in [`args`] and [`launch`]: the program ([`program`], [`elf`], [`imports`]), the
//! library ([`library`], [`probe`]), what both are told ([`environment`], [`locks`]). [`single`] runs the
//! program once in our place; [`compare`] runs it many times under several locks. [`stats`] and [`record`]
//! are what the library tells of a program. [`child`] is a program while it runs, [`reap`] its end,
//! [`signals`] what reaches it through us.
mod args;
pub(crate) mod child;
mod compare;
mod elf;
mod environment;
mod imports;
mod launch;
mod library;
mod locks;
mod probe;
mod program;
mod reap;
pub(crate) mod record;
mod signals;
mod single;
pub(crate) mod stats;
#[cfg(test)]
mod testing;

pub(crate) use args::Args;
use args::Request;
use lab_kit::output::{REFUSED, print};
pub(crate) use launch::Launch;
pub(crate) use locks::{DEFAULT, check_word as check_lock, taken_names as lock_names};
pub(crate) use probe::work;
use program::Program;
use stats::Places;
use std::ffi::OsString;
use std::process::ExitCode;

/// The exit code when there was no program to have one.
const NOT_STARTED: u8 = REFUSED;

/// What is run.
#[derive(Debug)]
pub(crate) struct Target {
    pub program: Program,
    /// As typed: its name, and its arguments.
    pub words: Vec<OsString>,
}

/// Runs a program once and records it, as the command does that; also where its locks were first taken. The
/// error is the one line to print.
pub(crate) fn record(args: &Args) -> Result<(ExitCode, Places), String> {
    let Request::Single(mut single) = args.resolve()? else {
        return Err("only one run can be recorded".to_owned());
    };
    let stats = single.stats.take();
    let code = single::run(&single);
    Ok((code, stats.map(|stats| stats.places()).unwrap_or_default()))
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    match args.resolve() {
        Ok(Request::List) => print(&locks::list(), ExitCode::SUCCESS),
        Ok(Request::Show(show)) => record::show(&show),
        Ok(Request::Single(single)) => single::run(&single),
        Ok(Request::Compare(comparison)) => compare::run(*comparison),
        Err(line) => {
            eprintln!("stanchion: {line}");
            ExitCode::from(REFUSED)
        }
    }
}
