//! One run of the command from what was asked for to its exit code.
use super::accel;
use super::args::Request;
use super::conform;
use super::record::Record;
use super::report::{Report, Run, SCHEMA, Setting, Trial};
use super::session::{self, Audience};
use super::table;
use super::transcript::Ending;
use super::workload::Workload;
use core::fmt::Write;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, PASSED, print};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Boots as asked, and prints what came of it.
pub(crate) fn run(mut request: Request) -> ExitCode {
    interrupt::install();
    let setting = settle(&request);
    let mut report = Report {
        schema: SCHEMA,
        complete: false,
        provenance: Provenance::collect(setting.seed),
        warnings: warnings(&setting),
        runs: Vec::new(),
        setting,
    };
    if !request.quiet {
        announce(&report);
    }
    let done = all(&mut request, &mut report);
    finish(request, &report, &done)
}

/// What will be done, now that it is known who runs the guest.
fn settle(request: &Request) -> Setting {
    let machine = &request.machine;
    let (accel, accel_reason) = accel::choose(request.wish, machine);
    Setting {
        workload: request.workload,
        locks: request.locks.clone(),
        runs: request.runs,
        vcpus: machine.vcpus,
        nodes: machine.nodes,
        cpus: machine.cpus.clone(),
        memory_mib: machine.memory_mib,
        seed: request.seed,
        seconds: request.seconds,
        limit_s: request.limit_s,
        boot_limit_s: request.timeouts.boot.as_secs_f64(),
        words: request.words.clone(),
        accel,
        accel_reason,
        qemu: version(&machine.qemu),
        image: machine.image.display().to_string(),
    }
}

/// What the emulator says that it is.
fn version(qemu: &Path) -> String {
    let output = Command::new(qemu).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().map_or_else(|| "unknown".to_owned(), |line| super::lines::shown(line, 120))
}

/// What gives reason to doubt the figures before there are any.
fn warnings(setting: &Setting) -> Vec<String> {
    let mut warnings = Vec::new();
    if setting.cpus.len() < 2 && setting.vcpus > 1 {
        warnings.push("one CPU of the host: no two vCPUs ever run at the same time".to_owned());
    }
    warnings
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
fn all(request: &mut Request, report: &mut Report) -> Result<(), String> {
    let mut watcher = Watcher {
        // A guest may be silent for long.
        progress: Progress::new(report.setting.trials().len() as u64 * PARTS, request.quiet).ticking(),
        boots: 0,
        what: String::new(),
        tells_tests: report.setting.workload == Workload::Conform,
        expects_failure: request.expect_failure,
    };
    for trial in report.setting.trials() {
        if interrupt::requested() {
            break;
        }
        watcher.starts(&report.setting, &trial);
        let run = one(request, report, &trial, &mut watcher)?;
        let Some(run) = run else { break };
        watcher.ended(&run);
        report.runs.push(run);
        request.exports.write(report)?;
    }
    watcher.progress.finish();
    report.complete = report.runs.len() == report.setting.trials().len();
    request.exports.write(report)
}

/// One boot; nothing if the user ended it.
fn one(
    request: &mut Request,
    report: &Report,
    trial: &Trial,
    watcher: &mut Watcher,
) -> Result<Option<Run>, String> {
    let setting = &report.setting;
    let mut command = request.machine.command(setting.accel, &setting.words(trial, report.rate()));
    let log = request.log.as_mut().map(|(_, file)| file);
    let session = session::run(&mut command, request.timeouts, log, watcher)
        .map_err(|error| format!("{}: {error}", request.machine.qemu.display()))?;
    if session.ending == Ending::Stopped {
        return Ok(None);
    }
    Ok(Some(Run::of(setting, trial, session)))
}

/// Prints the result and decides the exit code.
fn finish(mut request: Request, report: &Report, done: &Result<(), String>) -> ExitCode {
    let interrupted = interrupt::requested() && !report.complete;
    if report.runs.is_empty() {
        request.exports.abandon();
    }
    let mut text = String::new();
    if report.setting.workload == Workload::Conform {
        text.push_str(&conform::summary(report, request.expect_failure));
    }
    if !report.runs.is_empty() {
        text.push_str(&table::render(report));
    }
    for path in request.exports.paths() {
        let _ = writeln!(text, "written: {}", path.display());
    }
    let survivors = if request.expect_failure { report.survivors() } else { Vec::new() };
    if !survivors.is_empty() {
        let _ = writeln!(text, "expected to be caught, but survived: {}", survivors.join(", "));
    }
    let failed = if request.expect_failure { !survivors.is_empty() } else { report.failed() };
    let code = match (done, failed, interrupted) {
        (Err(_), ..) | (_, true, _) => FAILED,
        (Ok(()), false, true) => INTERRUPTED,
        (Ok(()), false, false) => PASSED,
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

/// Shows what comes while a guest is at work.
struct Watcher {
    progress: Progress,
    /// Boots that are over.
    boots: u64,
    /// What is booted.
    what: String,
    tells_tests: bool,
    expects_failure: bool,
}

impl Watcher {
    fn starts(&mut self, setting: &Setting, trial: &Trial) {
        let run = if setting.runs > 1 { format!(", run {}", trial.round + 1) } else { String::new() };
        self.what = format!("{} {}{run}", setting.workload, setting.locks[trial.lock]);
        self.progress.now(&self.what);
    }

    fn ended(&mut self, run: &Run) {
        self.boots += 1;
        self.progress.set(self.boots * PARTS);
        self.progress.line(&format!("{}: {}", self.what, table::in_short(run)));
    }
}

impl Audience for Watcher {
    fn record(&mut self, record: &Record) {
        if let Record::Progress { done, of, what } = record {
            let part = done.saturating_mul(PARTS).checked_div(*of).unwrap_or(0).min(PARTS);
            self.progress.set(self.boots * PARTS + part);
            self.progress.now(format!("{}: {what}", self.what));
        }
        if let (true, Record::Test(test)) = (self.tells_tests, record) {
            self.progress.say(&conform::line(test, self.expects_failure));
        }
    }

    fn idle(&mut self) {}

    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }
}
