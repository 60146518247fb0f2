//! Whether the library can be loaded, and understands what it is told: asked with this command as the
//! program.
//!
//! A word that the library does not know costs one line on standard error, and then the program runs with
//! libc's locks. In a comparison that would be libc under another name, so it is found out before.
use super::environment::Environment;
use super::record::cost::SECTIONS;
use crate::bench;
use std::process::{Command, Stdio};

/// The word with which this command starts itself for it.
const WORD: &str = "run-probe";

/// Takes pthread locks and ends the process, if this is the word with which the command starts itself. The
/// library may read what it is told at the first lock only, and what it records of so many tells what that
/// costs.
pub(crate) fn work(mut words: impl Iterator<Item = String>) {
    if words.next().as_deref() == Some(WORD) {
        bench::take_pthread_locks(SECTIONS);
        std::process::exit(0);
    }
}

/// Takes a lock in the environment of the program; the error is what loader or library had to say.
pub(crate) fn probe(environment: &Environment) -> Result<(), String> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(WORD).stdin(Stdio::null());
    environment.apply(&mut command);
    let output = command.output().map_err(|error| format!("the library cannot be tried: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let printed = printed.lines().map(str::trim).find(|line| !line.is_empty());
    match printed {
        Some(line) => {
            Err(format!("the library does not do as asked: {}", line.trim_start_matches("stanchion: ")))
        }
        None if !output.status.success() => {
            Err(format!("this command does not run with the library: {}", output.status))
        }
        None => Ok(()),
    }
}
