//! `cargo xtask ci`: runs every job, never stops early, and sums up at the end.
mod command;
mod job;
mod jobs;
mod lanes;
mod msrv;
mod night;
mod summary;
mod times;

use command::Shell;
pub(crate) use job::Speed;
use job::{Job, Step, When};
use lab_kit::names::unknown;
use msrv::Plan;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;
use summary::Outcome;

/// Every job, in the order of tables.
fn all() -> impl Iterator<Item = &'static Job> {
    jobs::JOBS.iter().chain(night::JOBS)
}

/// Prints the jobs and what each shows.
pub(crate) fn list() {
    for job in all() {
        let when = match job.when {
            When::Always => " (also quick)",
            When::QuickOnly => " (only quick)",
            When::Landing => "",
            When::Night => " (nightly)",
        };
        println!("{:<15} {}{when}", job.name, job.shows);
    }
}

/// Runs the jobs named in `only`; when it is empty, those of `speed`. Writes down how long they took if
/// `record`.
pub(crate) fn run(root: &Path, only: &[String], speed: Speed, record: bool) -> ExitCode {
    let jobs = match select(only, speed) {
        Ok(jobs) => jobs,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    // Commands start in the root and are given its path: it has to be absolute.
    let ended = match fs::canonicalize(root).and_then(|root| lanes::run(&root, &jobs)) {
        Ok(ended) => ended,
        Err(error) => {
            eprintln!("{}: {error}", root.display());
            return ExitCode::from(2);
        }
    };
    let took = start.elapsed();
    print!("\n{}", summary::render(&ended, took));
    if record && let Err(error) = times::record(root, speed, &ended, took) {
        eprintln!("{}: {error}", times::PATH);
        return ExitCode::from(2);
    }
    if summary::passes(&ended) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The jobs of these names, in the order of the table.
fn select(only: &[String], speed: Speed) -> Result<Vec<&'static Job>, String> {
    for name in only {
        if !all().any(|job| job.name == name) {
            return Err(unknown("job", name, all().map(|job| job.name)));
        }
    }
    let wanted = |job: &&Job| match only {
        [] => speed.has(job),
        only => only.iter().any(|name| name == job.name),
    };
    Ok(all().filter(wanted).collect())
}

fn run_job(shell: &mut Shell<'_>, job: &Job) -> Outcome {
    if let Some(probe) = job.needs
        && !shell.succeeds(probe)
    {
        return Outcome::Skipped(format!("`{}` fails here", probe.join(" ")));
    }
    for step in job.steps {
        let outcome = run_step(shell, job, step);
        if outcome != Outcome::Ok {
            return outcome;
        }
    }
    Outcome::Ok
}

fn run_step(shell: &mut Shell<'_>, job: &Job, step: &Step) -> Outcome {
    match step {
        Step::Run(words) => shell.run(words, job.env),
        Step::SaysNoStd(path) => {
            shell.say(format_args!("--- does {path} say no_std?"));
            let text = fs::read_to_string(shell.root.join(path)).unwrap_or_default();
            if says_no_std(&text) {
                Outcome::Ok
            } else {
                Outcome::failed(format!("{path} does not say no_std"))
            }
        }
        Step::Msrv => run_msrv(shell),
    }
}

/// Whether a crate root is `no_std`, always or without the `std` feature.
fn says_no_std(text: &str) -> bool {
    let plain: String = text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let plain: String = plain.chars().filter(|c| !c.is_whitespace()).collect();
    ["#![no_std]", "#![cfg_attr(not(feature=\"std\"),no_std)]"]
        .iter()
        .any(|attribute| plain.contains(attribute))
}

/// What promises an oldest toolchain of its own: a manifest, and what to check of it.
const PROMISES: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["--workspace", "--exclude", "stanchion-core", "--exclude", "stanchion-family"]),
    ("crates/core/Cargo.toml", &["-p", "stanchion-core"]),
    ("crates/family/Cargo.toml", &["-p", "stanchion-family"]),
];

/// Checks each promise for which the toolchain is here. Skipped, and said so, if one is not and none fails.
fn run_msrv(shell: &mut Shell<'_>) -> Outcome {
    let mut all = Outcome::Ok;
    for (manifest, what) in PROMISES {
        match run_promise(shell, manifest, what) {
            Outcome::Ok => {}
            Outcome::Skipped(why) => all = Outcome::Skipped(why),
            failed @ Outcome::Failed { .. } => return failed,
        }
    }
    all
}

fn run_promise(shell: &mut Shell<'_>, path: &str, what: &[&str]) -> Outcome {
    let root = shell.root;
    let output = |words: &[&str]| {
        let output = Command::new(words[0]).args(&words[1..]).current_dir(root).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let manifest = fs::read_to_string(root.join(path)).unwrap_or_default();
    let Some(minimum) = rust_version(&manifest) else {
        return Outcome::failed(format!("{path} promises no rust-version"));
    };
    let rustc = output(&["rustc", "--version"]);
    match msrv::plan(&rustc, &minimum, &output(&["rustup", "toolchain", "list"])) {
        Plan::RunningIsMinimum => {
            let rustc = rustc.trim();
            shell.say(format_args!("--- {path}: the running {rustc} is the promised minimum {minimum}"));
            Outcome::Ok
        }
        Plan::Check(toolchain) => {
            let mut words = vec!["cargo".to_owned(), format!("+{toolchain}"), "check".to_owned()];
            words.extend(what.iter().map(|&word| word.to_owned()));
            shell.run(&words.iter().map(String::as_str).collect::<Vec<_>>(), &[])
        }
        Plan::Skip(why) => {
            shell.say(format_args!("--- {path}: {why}"));
            Outcome::Skipped(format!("{path}: {why}"))
        }
        Plan::TooOld(why) => Outcome::failed(why),
    }
}

/// The `rust-version` of a workspace or of a package.
fn rust_version(manifest: &str) -> Option<String> {
    let manifest: toml::Table = manifest.parse().ok()?;
    let package = match manifest.get("workspace") {
        Some(workspace) => workspace.get("package")?,
        None => manifest.get("package")?,
    };
    Some(package.get("rust-version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str]) -> Result<Vec<&'static str>, String> {
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        select(&only, Speed::Landing).map(|jobs| jobs.iter().map(|job| job.name).collect())
    }

    #[test]
    fn all_jobs_run_unless_some_are_named() {
        let count = |speed: Speed| select(&[], speed).map_or(0, |jobs| jobs.len());
        assert_eq!(names(&[]).expect("all").len(), count(Speed::Landing));
        assert!(count(Speed::Quick) < count(Speed::Landing) && count(Speed::Landing) < count(Speed::Night));
        assert!(names(&["explore-nightly", "unit"]).is_ok());
        let of_the_night = |job: &Job| job.when == When::Night;
        assert!(!jobs::JOBS.iter().any(of_the_night) && night::JOBS.iter().all(of_the_night));
        assert_eq!(names(&["tidy", "fmt"]).expect("two"), ["fmt", "tidy"]);
    }

    #[test]
    fn an_unknown_job_is_answered_with_near_ones() {
        assert_eq!(names(&["tydi"]).unwrap_err(), "unknown job 'tydi': nearest are tidy, capi, test");
    }

    #[test]
    fn job_names_are_distinct_and_told() {
        let mut names: Vec<&str> = all().map(|job| job.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|job| !job.shows.is_empty() && !job.steps.is_empty()));
    }

    #[test]
    fn no_std_is_recognised() {
        assert!(says_no_std("//! Doc.\n#![no_std]\n"));
        assert!(says_no_std("#![cfg_attr(\n    not(feature = \"std\"),\n    no_std\n)]\n"));
        assert!(!says_no_std("// #![no_std]\n"));
    }

    #[test]
    fn the_promised_version_is_read() {
        let manifest = "[workspace.package]\nrust-version = \"1.95\"\n";
        assert_eq!(rust_version(manifest).as_deref(), Some("1.95"));
        assert_eq!(rust_version("[package]\nrust-version = \"1.88\"\n").as_deref(), Some("1.88"));
        assert_eq!(rust_version("[package]\nrust-version.workspace = true\n"), None);
    }
}
