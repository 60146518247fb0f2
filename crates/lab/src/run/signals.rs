//! Signals to us that are meant for the program.
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;
use std::fs;
use std::io;
use std::thread::Scope;

/// What is passed on.
const PASSED: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// The signals of this process, caught from now on.
pub(crate) struct Caught(SignalsInfo<WithRawSiginfo>);

impl Caught {
    /// Catches them, so that none comes between here and the start of the program. Those that are ignored, as
    /// under nohup, stay so here and in the program.
    pub(crate) fn install() -> io::Result<Self> {
        let ignored = ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default());
        let wanted = PASSED.iter().filter(|&&signal| ignored >> (signal - 1) & 1 == 0);
        SignalsInfo::<WithRawSiginfo>::new(wanted).map(Self)
    }

    /// Passes on what was caught, and what is yet to come. A program in our own process group has what the
    /// terminal sends already; one that leads a group of its own (`leads`) has not, and the group gets it.
    /// SIGUSR2 is kept from it if we have something to `tell` then: most programs would end. What is returned
    /// ends it.
    pub(crate) fn pass_to<'scope>(
        mut self,
        scope: &'scope Scope<'scope, '_>,
        pid: Pid,
        leads: bool,
        tell: Option<impl Fn() + Send + 'scope>,
    ) -> impl FnOnce() {
        let handle = self.0.handle();
        let thread = scope.spawn(move || {
            for info in self.0.forever() {
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
}

/// The signals that a process ignores, one bit each, from its `status`.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\tff\n"), 0x1001);
        assert_eq!(ignored("Name:\tx\n"), 0);
    }
}
