//! One run of a program under one lock, as if it had been started without us.
use super::library::Environment;
use super::program::Program;
use super::record::Record;
use super::stats::Stats;
use core::time::Duration;
use lab_kit::child::{End, Gone, Limits, Running};
use lab_kit::interrupt::is_ignored;
use lab_kit::output::{REFUSED, note, tell};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread::Scope;

pub(crate) const TIMED_OUT: u8 = 124;
const PASSED: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

pub(crate) struct Single {
    pub program: Program,
    pub environment: Environment,
    /// In seconds.
    pub timeout: Option<f64>,
    pub stats: Option<Stats>,
    pub record: Option<Record>,
    pub warning: Option<String>,
}

/// Runs it, and returns the program's own exit code, and whether there is a trace of it.
pub(crate) fn run(mut single: Single) -> (u8, bool) {
    if let Some(warning) = &single.warning {
        tell!("stanchion: warning: {warning}");
    }
    let ended = supervise(&single);
    if let Some(record) = &mut single.record {
        record.note_end();
    }
    // Files come first: whoever reads what is told may be slow.
    let stats = single.stats.as_mut().map(Stats::finish);
    let record = single.record.map(|record| record.finish(&single.program.words));
    let code = match ended {
        Ok(Gone { end: End::TimedOut, .. }) => {
            let timeout = single.timeout.unwrap_or_default();
            tell!("stanchion: ended the program after --timeout {timeout}s");
            TIMED_OUT
        }
        Ok(gone) => code_of(gone.status),
        Err(error) => {
            tell!("stanchion: {}: {error}", single.program.path.display());
            // There was no program to have an exit code.
            REFUSED
        }
    };
    let is_recorded = matches!(record, Some(Ok(_)));
    let record = record.map(|told| told.unwrap_or_else(|why| format!("stanchion: --record: {why}\n")));
    stats.iter().chain(&record).for_each(|text| note(format_args!("{text}")));
    (code, is_recorded)
}

/// As a shell tells it.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.map_or(u8::MAX, |code| code as u8)
}

fn supervise(single: &Single) -> io::Result<Gone> {
    // Caught before the program starts, so that none comes between. Those that are ignored, as under nohup,
    // stay so here and in the program.
    let caught = SignalsInfo::new(PASSED.into_iter().filter(|signal| !is_ignored(*signal)))?;
    let mut command = single.program.command();
    single.environment.apply(&mut command);
    // Only a group of its own can be ended as a whole. Without need it stays in ours, where the terminal's
    // keys reach it and a shell can stop and continue both.
    let timeout = single.timeout.map(Duration::from_secs_f64);
    let limits = timeout.is_some().then_some(Limits { timeout, stop: &|| false });
    let start = if limits.is_some() { Running::lead } else { Running::start };
    let mut running = start(&mut command)?;
    running.spares = true;
    std::thread::scope(|scope| {
        let tell = single.stats.as_ref().map(|stats| || note(format_args!("{}", stats.told())));
        let end = pass_on(caught, scope, running.pid, limits.is_some(), tell);
        running.wait(limits.as_ref(), end)
    })
}

/// Passes on what was caught, and what is yet to come, until what is returned is called. A program in our own
/// process group has what the terminal sends already; one that `leads` its own has not, and the group gets
/// it. SIGUSR2 is kept from it if we have something to `tell` then: most programs would end.
fn pass_on<'scope>(
    mut caught: SignalsInfo<WithRawSiginfo>,
    scope: &'scope Scope<'scope, '_>,
    pid: Pid,
    leads: bool,
    tell: Option<impl Fn() + Send + 'scope>,
) -> impl FnOnce() {
    let handle = caught.handle();
    let thread = scope.spawn(move || {
        for info in caught.forever() {
            if let (SIGUSR2, Some(tell)) = (info.si_signo, &tell) {
                tell();
                continue;
            }
            let Some(signal) = Signal::from_named_raw(info.si_signo) else { continue };
            // The program may have ended already; then there is nobody to tell.
            if leads {
                let _ = kill_process_group(pid, signal);
            } else if info.si_code != libc::SI_KERNEL {
                let _ = kill_process(pid, signal);
            }
        }
    });
    move || {
        handle.close();
        let _ = thread.join();
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
