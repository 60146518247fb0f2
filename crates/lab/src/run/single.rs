//! One run of a program under one lock, as if it had been started without us.
use super::Target;
use super::child::{End, Gone, Limits, Running};
use super::environment::Environment;
use super::record::Record;
use super::signals::Caught;
use super::stats::Stats;
use core::time::Duration;
use lab_kit::output::REFUSED;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Instant;

/// The exit code of a program that took too long.
const TIMED_OUT: u8 = 124;

pub(crate) struct Single {
    pub target: Target,
    pub environment: Environment,
    pub timeout: Option<Duration>,
    pub stats: Option<Stats>,
    pub record: Option<Record>,
    /// To be said before the start.
    pub warning: Option<String>,
}

/// Runs it, and returns the program's own exit code.
pub(crate) fn run(single: &Single) -> ExitCode {
    if let Some(warning) = &single.warning {
        eprintln!("stanchion: warning: {warning}");
    }
    let code = match supervise(single) {
        Ok(Gone { end: End::TimedOut, .. }) => {
            let timeout = single.timeout.unwrap_or_default();
            eprintln!("stanchion: ended the program after --timeout {} s", timeout.as_secs_f64());
            TIMED_OUT
        }
        Ok(gone) => code_of(gone.status),
        Err(error) => {
            eprintln!("stanchion: {}: {error}", single.target.program.path.display());
            // There was no program to have an exit code.
            REFUSED
        }
    };
    if let Some(stats) = &single.stats {
        stats.finish();
    }
    if let Some(record) = &single.record {
        record.finish(&single.target.words);
    }
    ExitCode::from(code)
}

/// As a shell tells it.
fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => (128 + signal) as u8,
        (None, None) => u8::MAX,
    }
}

fn supervise(single: &Single) -> io::Result<Gone> {
    let caught = Caught::install()?;
    let mut command = single.target.command();
    single.environment.apply(&mut command);
    // Only a group of its own can be ended as a whole. Without need it stays in ours, where the terminal's
    // keys reach it and a shell can stop and continue both.
    let limits = single.timeout.map(|timeout| Limits { timeout: Some(timeout), stop: &|| false });
    if limits.is_some() {
        command.process_group(0);
    }
    let start = Instant::now();
    let running = Running::new(command.spawn()?, start);
    std::thread::scope(|scope| {
        let tell = single.stats.as_ref().map(|stats| || _ = stats.tell());
        let end = caught.pass_to(scope, running.pid(), limits.is_some(), tell);
        running.wait(limits.as_ref(), end)
    })
}

impl Target {
    /// The program with its arguments, by the name that was typed.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program.path);
        command.arg0(&self.words[0]).args(&self.words[1..]);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_a_shells() {
        assert_eq!(code_of(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(code_of(ExitStatus::from_raw(15)), 143);
        assert_eq!(code_of(ExitStatus::from_raw(0)), 0);
    }
}
