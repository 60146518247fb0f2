//! One run of the command from what was asked for to its exit code.
use super::accel;
use super::args::Request;
use super::conform;
use super::record::Record;
use super::report::{Report, Run};
use super::session::{self, Timeouts};
use super::table;
use super::transcript::Ending;
use super::workload::Workload;
use core::fmt::Write;
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, PASSED, print};
use lab_kit::progress::Progress;
use std::process::ExitCode;

/// Boots as asked, and prints what came of it.
pub(crate) fn run(mut request: Request) -> ExitCode {
    interrupt::install();
    let setting = &mut request.report.setting;
    accel::settle(setting, &request.machine);
    setting.qemu = request.machine.version();
    if !request.quiet {
        announce(&request.report);
    }
    let done = all(&mut request);
    finish(request, &done)
}

/// Says what is going to happen, seed first, before anything does.
fn announce(report: &Report) {
    let setting = &report.setting;
    let runs = if setting.runs > 1 { format!(", {} runs each", setting.runs) } else { String::new() };
    let locks = if setting.workload == Workload::Boot {
        String::new()
    } else {
        format!(" of {}", setting.locks.join(", "))
    };
    eprintln!("guest: seed {}, {}{locks}{runs}, {}", setting.seed, setting.workload, setting.told());
    if let Some(reason) = &setting.accel_reason {
        eprintln!("guest: TCG, because KVM does not work here: {reason}");
    }
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
}

/// Parts that a boot is divided into on the bar.
const PARTS: u64 = 1000;

/// All boots; an interruption ends them, and so does a file that cannot be written.
fn all(request: &mut Request) -> Result<(), String> {
    let Request { machine, report, log, exports, expect_failure, quiet } = request;
    let setting = report.setting.clone();
    let timeouts =
        Timeouts { boot: Duration::from_secs_f64(setting.boot_limit_s), work: setting.work_limit() };
    let trials = setting.trials();
    // A guest may be silent for long.
    let progress = Progress::new(trials.len() as u64 * PARTS, *quiet).ticking();
    for (trial, before) in trials.iter().zip((0..).step_by(PARTS as usize)) {
        if interrupt::requested() {
            break;
        }
        let round = if setting.runs > 1 { format!(", run {}", trial.round + 1) } else { String::new() };
        let what = format!("{} {}{round}", setting.workload, setting.locks[trial.lock]);
        progress.now(&what);
        let mut audience = |record: Option<&Record>| {
            match record {
                Some(Record::Progress { done, of, what: part }) => {
                    let share = done.saturating_mul(PARTS).checked_div(*of).unwrap_or(0).min(PARTS);
                    progress.set(before + share);
                    progress.now(format!("{what}: {part}"));
                }
                Some(Record::Test(test)) if setting.workload == Workload::Conform => {
                    progress.say(&conform::line(test, *expect_failure));
                }
                _ => {}
            }
            interrupt::requested()
        };
        let mut command = machine.command(&setting, &setting.words(*trial, report.rate()));
        let session = session::run(&mut command, timeouts, log.as_mut(), &mut audience)
            .map_err(|error| format!("{}: {error}", machine.qemu.display()))?;
        if session.ending == Ending::Stopped {
            break;
        }
        let run = Run::of(&setting, *trial, session);
        progress.set(before + PARTS);
        progress.line(&format!("{what}: {}", table::in_short(&run)));
        report.runs.push(run);
        exports.write(report)?;
    }
    progress.finish();
    report.complete = report.runs.len() == trials.len();
    exports.write(report)
}

/// Prints the result and decides the exit code.
fn finish(mut request: Request, done: &Result<(), String>) -> ExitCode {
    let (report, expected) = (&request.report, request.expect_failure);
    let interrupted = interrupt::requested() && !report.complete;
    let mut text = String::new();
    if report.setting.workload == Workload::Conform {
        text.push_str(&conform::summary(report, expected));
    }
    if report.runs.is_empty() {
        request.exports.abandon();
    } else {
        text.push_str(&table::render(report));
    }
    for path in request.exports.paths() {
        let _ = writeln!(text, "written: {}", path.display());
    }
    let survivors = if expected { report.survivors() } else { Vec::new() };
    if !survivors.is_empty() {
        let _ = writeln!(text, "expected to be caught, but survived: {}", survivors.join(", "));
    }
    let failed = if expected { !survivors.is_empty() } else { report.failures().next().is_some() };
    let code = match interrupted {
        _ if failed || done.is_err() => FAILED,
        true => INTERRUPTED,
        false => PASSED,
    };
    let code = print(&text, ExitCode::from(code));
    if let Err(error) = done {
        eprintln!("stanchion guest: {error}");
    }
    if interrupted {
        let (made, asked) = (report.runs.len(), report.setting.trials().len());
        eprintln!("stanchion guest: interrupted; {made} of {asked} boots were finished and are kept");
    }
    code
}
