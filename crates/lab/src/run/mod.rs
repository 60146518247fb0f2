//! `stanchion run`: a program as it is, with its locks replaced.
//!
//! What was typed is checked in [`args`]: the program ([`program`], [`elf`], [`imports`]), the library
//! ([`library`], [`probe`]), what both are told ([`environment`], [`locks`]). [`single`] runs the program
//! once in our place; [`compare`] runs it many times under several locks. [`stats`] and [`record`] are what
//! the library tells of a program. [`child`] is a program while it runs, [`reap`] its end, [`signals`] what
//! reaches it through us.
mod args;
pub(crate) mod child;
mod compare;
mod elf;
mod environment;
mod imports;
mod library;
mod locks;
mod probe;
mod program;
mod reap;
mod record;
mod signals;
mod single;
mod stats;
#[cfg(test)]
mod testing;

use crate::output::{REFUSED, print};
pub(crate) use args::Args;
use args::Request;
pub(crate) use probe::work;
use program::Program;
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
