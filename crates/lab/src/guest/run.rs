//! One run of the command from what was typed to its exit code.
use super::export::FORMATS;
use super::qemu::Machine;
use super::record::Record;
use super::report::{Report, SCHEMA};
use super::session;
use super::setting::Args;
use super::table;
use super::transcript::Ending;
use super::workload::Workload;
use core::fmt::Write;
use core::time::Duration;
use lab_kit::export::Exports;
use lab_kit::interrupt;
use lab_kit::output::{create_for, warn};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use std::fs::File;
use std::process::ExitCode;

/// Everything that can be refused is refused, with one line, before anything is started.
pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    let mut setting = args.setting.clone();
    setting.resolve(args.cpus, args.limit)?;
    let machine = Machine::find(args.qemu.as_deref(), args.image.as_deref())?;
    setting.image = machine.image.display().to_string();
    // Files come last, because a refusal leaves none behind.
    let mut exports = args.files.open(&FORMATS)?;
    let log = args.log.as_deref().map(|path| create_for("--log", path, args.files.results.force)).transpose();
    let log = log.inspect_err(|_| exports.abandon())?;
    let provenance = Provenance::collect(setting.seed);
    interrupt::install();
    machine.settle(&mut setting);
    setting.qemu = machine.version();
    let alone = setting.cpus.len() < 2 && setting.vcpus > 1;
    let warning = alone.then(|| "one CPU of the host: no two vCPUs ever run at the same time".to_owned());
    let warnings = warning.into_iter().collect();
    let mut report =
        Report { schema: SCHEMA, complete: false, provenance, setting, runs: Vec::new(), warnings };
    if !args.files.results.quiet {
        announce(&report);
    }
    let done = all(args, &machine, &mut report, log, &mut exports);
    Ok(finish(args.expect_failure, &report, &mut exports, done.err().as_deref()))
}

/// Says what is going to happen, seed first, before anything does.
fn announce(report: &Report) {
    let setting = &report.setting;
    let runs = if setting.runs > 1 { format!(", {} runs each", setting.runs) } else { String::new() };
    let takes_any = setting.workload != Workload::Boot;
    let locks = if takes_any { format!(" of {}", setting.locks.join(", ")) } else { String::new() };
    eprintln!("guest: seed {}, {}{locks}{runs}, {}", setting.seed, setting.workload, setting.told());
    if let Some(reason) = &setting.accel_reason {
        eprintln!("guest: TCG, because KVM does not work here: {reason}");
    }
    warn(&report.warnings);
}

/// Parts that a boot is divided into on the bar.
const PARTS: u64 = 1000;

/// All boots; an interruption ends them, and so does a file that cannot be written.
fn all(
    args: &Args,
    machine: &Machine,
    report: &mut Report,
    mut log: Option<File>,
    exports: &mut Exports<Report>,
) -> Result<(), String> {
    let setting = report.setting.clone();
    // A guest that was told to end has to notice, and to write its records.
    let work = setting.limit_s + (setting.limit_s / 4.0).clamp(1.0, 15.0);
    let limits = [setting.boot_limit_s, work].map(Duration::from_secs_f64);
    let trials = setting.trials();
    // A guest may be silent for long.
    let progress = Progress::new(trials.len() as u64 * PARTS, args.files.results.quiet).ticking();
    for (&trial @ (lock, round), before) in trials.iter().zip((0..).step_by(PARTS as usize)) {
        if interrupt::requested() {
            break;
        }
        let run = if setting.runs > 1 { format!(", run {}", round + 1) } else { String::new() };
        let what = format!("{} {lock}{run}", setting.workload);
        progress.now(&what);
        let mut audience = |record: Option<&Record>| {
            match record {
                Some(Record::Progress { done, of, what: part }) => {
                    let share = done.saturating_mul(PARTS).checked_div(*of).unwrap_or(0).min(PARTS);
                    progress.set(before + share);
                    progress.now(format!("{what}: {part}"));
                }
                Some(Record::Test(test)) if setting.workload == Workload::Conform => {
                    let outcome = test.outcome.told(args.expect_failure);
                    progress.say(&format!("test {} ... {outcome}", test.name));
                }
                _ => {}
            }
            interrupt::requested()
        };
        let mut command = machine.command(&setting, &setting.words(lock, round, report.rate()));
        let run = session::run(&mut command, trial, limits, log.as_mut(), &mut audience)
            .map_err(|error| format!("{}: {error}", machine.qemu.display()))?;
        if run.ending == Ending::Stopped {
            break;
        }
        let run = run.checked(&setting);
        progress.set(before + PARTS);
        progress.line(&format!("{what}: {}", table::in_short(&run)));
        report.runs.push(run);
        exports.write(report)?;
    }
    progress.finish();
    report.complete = report.runs.len() == trials.len();
    exports.write(report)
}

fn finish(expected: bool, report: &Report, exports: &mut Exports<Report>, error: Option<&str>) -> ExitCode {
    let mut text = String::new();
    if report.setting.workload == Workload::Conform {
        text.push_str(&table::tests(report, expected));
    }
    if report.runs.is_empty() {
        exports.abandon();
    } else {
        text.push_str(&table::render(report));
    }
    text.push_str(&exports.written());
    let survivors = if expected { report.survivors() } else { Vec::new() };
    if !survivors.is_empty() {
        let _ = writeln!(text, "expected to be caught, but survived: {}", survivors.join(", "));
    }
    let failed = if expected { !survivors.is_empty() } else { report.failures().next().is_some() };
    if !report.complete && interrupt::requested() {
        let (made, asked) = (report.runs.len(), report.setting.trials().len());
        eprintln!("stanchion: {made} of {asked} boots were finished and are kept");
    }
    exports.end(&text, report.complete, failed, error)
}
