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
use lab_kit::experiment::Experiment;
use lab_kit::interrupt;
use lab_kit::output::{create_for, tell, warn};
use lab_kit::provenance::Provenance;
use std::process::ExitCode;

/// Everything that can be refused is refused, with one line, before anything is started.
pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    let mut setting = args.setting.clone();
    setting.resolve(args.cpus.clone(), args.limit)?;
    let machine = Machine::find(args.qemu.as_deref(), args.image.as_deref())?;
    setting.image = machine.image.display().to_string();
    // Files come last, because a refusal leaves none behind.
    args.files.apart(&FORMATS, &args.log)?;
    let mut experiment = Experiment::open(&args.files, &FORMATS, setting.trials().len())?;
    let log = args.log.as_deref().map(|path| create_for("--log", path, args.files.results.force));
    let mut log = log.transpose()?;
    let provenance = Provenance::collect(setting.seed);
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
    let setting = report.setting.clone();
    // A guest that was told to end has to notice, and to write its records.
    let work = setting.limit_s + (setting.limit_s / 4.0).clamp(1.0, 15.0);
    let limits = [setting.boot_limit_s, work].map(Duration::from_secs_f64);
    let trials = setting.trials();
    experiment.run(&mut report, &trials, |report, number, &trial @ (lock, round), progress| {
        let run = if setting.runs > 1 { format!(", run {}", round + 1) } else { String::new() };
        let what = format!("{} {lock}{run}", setting.workload);
        progress.now(&what);
        let mut audience = |record: Option<&Record>| {
            match record {
                Some(Record::Progress { done, of, what: part }) => {
                    progress.part(number, *of).set(*done);
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
            return Ok(false);
        }
        let run = run.checked(&setting);
        progress.part(number, 1).set(1);
        progress.line(&format!("{what}: {}", table::in_short(&run)));
        report.runs.push(run);
        report.complete = report.runs.len() == trials.len();
        Ok(true)
    });
    let (text, failed) = told(&report, args.expect_failure, &experiment.written());
    Ok(experiment.end(&text, report.complete, failed))
}

/// Says what is going to happen, seed first, before anything does.
fn announce(report: &Report) {
    let setting = &report.setting;
    let runs = if setting.runs > 1 { format!(", {} runs each", setting.runs) } else { String::new() };
    let takes_any = setting.workload != Workload::Boot;
    let locks = if takes_any { format!(" of {}", setting.locks.join(", ")) } else { String::new() };
    tell!("guest: seed {}, {}{locks}{runs}, {}", setting.seed, setting.workload, setting.told());
    if let Some(reason) = &setting.accel_reason {
        tell!("guest: TCG, because KVM does not work here: {reason}");
    }
    warn(&report.warnings);
}

/// What is printed in the end, and whether a boot failed, or with `expected` was not caught failing.
fn told(report: &Report, expected: bool, written: &str) -> (String, bool) {
    let mut text = String::new();
    if report.setting.workload == Workload::Conform {
        text.push_str(&table::tests(report, expected));
    }
    if !report.runs.is_empty() {
        text.push_str(&table::render(report));
    }
    text.push_str(written);
    if !expected {
        return (text, report.failures().next().is_some());
    }
    let survivors = report.survivors();
    if !survivors.is_empty() {
        let _ = writeln!(text, "expected to be caught, but survived: {}", survivors.join(", "));
    }
    (text, !survivors.is_empty())
}
