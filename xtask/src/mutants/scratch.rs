//! A copy of the workspace in which mutants are built and run: nobody's own tree is touched.
use super::shelf::{Check, Detector};
use crate::{files, process};
use anyhow::{Result, ensure};
use core::time::Duration;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What the detectors are built from, and the manifests of the others, without which cargo refuses.
const COPIED: &[&str] = &[".cargo", "Cargo.lock", "Cargo.toml", "crates", "machines", "workloads", "xtask"];
const PROFILE: &str = "mutants";
/// The first seed of every exploration: a run is to be repeatable.
const SEED: &str = "1";
/// When a detector is given up. The longest exploration takes 90 s alone, and more on a busy machine.
const LONGEST: Duration = Duration::from_mins(10);
/// The same for a build, which no fault makes longer.
const LONGEST_BUILD: Duration = Duration::from_hours(1);
/// When the model checker gives up a program, in seconds: a fault that is worth a place shows soon, and the
/// locks as they are need not be checked to the end here.
const MODEL_SECONDS: &str = "20";

pub(super) struct Scratch {
    pub(super) tree: PathBuf,
    target: PathBuf,
    threads: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Clean,
    /// It noticed a failure of this kind; details.
    Noticed(String, String),
    /// It, or its build, ended in a way that says nothing about the lock.
    Crashed(String),
}

/// Where copies are is ours alone as long as this file is open.
pub(super) fn claim(place: &Path) -> Result<File> {
    fs::create_dir_all(place)?;
    let ours = File::create(place.join("lock"))?;
    let is_ours = ours.try_lock().is_ok();
    ensure!(is_ours, "another `cargo xtask mutants` works in {}; wait for its end", place.display());
    Ok(ours)
}

impl Scratch {
    pub(super) fn new(root: &Path, place: &Path, threads: usize) -> Result<Self> {
        let (tree, target) = (place.join("tree"), place.join("target"));
        fs::create_dir_all(&tree)?;
        fs::create_dir_all(&target)?;
        let mut stale = files::below(&tree)?;
        for name in COPIED {
            let from = root.join(name);
            let paths = if from.is_dir() { files::below(&from)? } else { vec![from] };
            for path in paths {
                let (copy, bytes) = (tree.join(path.strip_prefix(root)?), fs::read(&path)?);
                // What stays as it is keeps its time, so that nothing is built again because of it.
                if !fs::read(&copy).is_ok_and(|old| old == bytes) {
                    files::put(&copy, &bytes)?;
                }
                stale.retain(|old| *old != copy);
            }
        }
        stale.iter().try_for_each(fs::remove_file)?;
        Ok(Self { tree, target, threads })
    }

    pub(super) fn run(&self, check: &Check) -> Result<Ended> {
        let Check { detector, lock, schedules, fault, shape, .. } = check;
        let mut cargo = Command::new("cargo");
        // Each build differs in a line from the one before; `.ci/run` turns this off.
        cargo.current_dir(&self.tree).env("CARGO_INCREMENTAL", "1").env("CARGO_TARGET_DIR", &self.target);
        cargo.args(["build", "--quiet", "--locked", "--profile", PROFILE, "--package", detector.package()]);
        cargo.args(detector.example().into_iter().flat_map(|example| ["--example", example]));
        cargo.args(["--jobs", &self.threads.to_string()]);
        let (built, _, printed) = self.ended(&mut cargo, LONGEST_BUILD)?;
        match built {
            None => return Ok(Ended::Crashed("its build took longer than an hour".to_owned())),
            Some(status) if status.success() => {}
            Some(_) => return Ok(Ended::Crashed(format!("it does not build:\n{}", printed.trim()))),
        }
        let mut command = Command::new(self.target.join(PROFILE).join(detector.program()));
        match detector {
            Detector::Explore => command.args([lock, &*schedules.to_string(), SEED]).args(fault),
            Detector::Model => command.args(["--lock", lock, "--shape", shape]).args([
                "--seconds",
                MODEL_SECONDS,
                "--jobs",
                "1",
            ]),
        };
        let (ended, out, err) = self.ended(&mut command, LONGEST)?;
        Ok(match ended {
            Some(status) => read_verdict(*detector, status.code(), &out, &err),
            None => Ended::Crashed(format!("it took longer than {} s", LONGEST.as_secs())),
        })
    }

    /// How a command ends within this time, and what it prints.
    fn ended(&self, command: &mut Command, limit: Duration) -> Result<(Option<ExitStatus>, String, String)> {
        let [out, err] = ["out", "err"].map(|name| self.target.join(name));
        let gone = process::run(command, [&out, &err], limit)?;
        Ok((gone.in_time(), files::text(&out)?, files::text(&err)?))
    }
}

fn read_verdict(detector: Detector, code: Option<i32>, out: &str, err: &str) -> Ended {
    let crashed = || {
        let last = err.lines().last().unwrap_or_default();
        Ended::Crashed(format!(
            "it ended with {}: {last}",
            code.map_or("a signal".to_owned(), |code| code.to_string())
        ))
    };
    match code {
        Some(0) => return Ended::Clean,
        Some(1) => {}
        _ => return crashed(),
    }
    let noticed = match detector {
        // `KIND SCHEDULE: DETAILS`
        Detector::Explore => out.lines().next().and_then(|line| {
            let (kind, rest) = line.split_once(' ')?;
            let (schedule, what) = rest.split_once(": ")?;
            Some((kind, format!("at schedule {schedule}: {what}")))
        }),
        // A row of the table: `LOCK SHAPE BOUND EXECUTIONS SECONDS  FAILED KIND: DETAILS`
        Detector::Model => out.lines().find_map(|line| {
            let (row, result) = line.split_once("  FAILED ")?;
            let (kind, what) = result.split_once(": ")?;
            let mut words = row.split_whitespace().skip(1);
            let (shape, executions) = (words.next()?, words.nth(1)?);
            Some((kind, format!("in `{shape}` at execution {executions}: {what}")))
        }),
    };
    noticed.map_or_else(crashed, |(kind, what)| Ended::Noticed(kind.to_owned(), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_do_not_share_their_copies() {
        let place = std::env::temp_dir().join(format!("stanchion-mutants-{}", std::process::id()));
        let ours = claim(&place).expect("nobody else works there");
        let refused = claim(&place).expect_err("somebody does").to_string();
        assert!(refused.starts_with("another `cargo xtask mutants` works in "), "{refused}");
        drop(ours);
        fs::remove_dir_all(&place).expect("tidying up");
    }

    #[test]
    fn what_detectors_print_is_read() {
        let explored = "exclusion 12: c1 entered while c0 was inside\n";
        assert_eq!(
            read_verdict(Detector::Explore, Some(1), explored, ""),
            Ended::Noticed("exclusion".into(), "at schedule 12: c1 entered while c0 was inside".into())
        );
        let modelled = "lock  shape  bound  executions  seconds  result\n\
                        byte  two    any    17          0.1      FAILED race: Causality violation\n";
        assert_eq!(
            read_verdict(Detector::Model, Some(1), modelled, ""),
            Ended::Noticed("race".into(), "in `two` at execution 17: Causality violation".into())
        );
        assert_eq!(read_verdict(Detector::Explore, Some(0), "none 100\n", ""), Ended::Clean);
    }

    #[test]
    fn an_end_that_says_nothing_is_no_verdict() {
        for (code, out) in
            [(None, ""), (Some(101), ""), (Some(2), ""), (Some(1), ""), (Some(1), "nonsense\n")]
        {
            for detector in [Detector::Explore, Detector::Model] {
                assert!(
                    matches!(read_verdict(detector, code, out, "why"), Ended::Crashed(_)),
                    "{code:?} {out}"
                );
            }
        }
    }
}
