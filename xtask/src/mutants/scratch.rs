//! A copy of the workspace in which mutants are built and run: nobody's own tree is touched.
use super::shelf::{Check, Detector};
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{env, fs, io, thread};

/// What the detectors are built from, and the manifests of the others, without which cargo refuses.
const COPIED: &[&str] = &[".cargo", "Cargo.lock", "Cargo.toml", "crates", "machines", "workloads", "xtask"];
/// The profile of the manifest that is made for this.
const PROFILE: &str = "mutants";
/// The first seed of every exploration: a run is to be repeatable.
const SEED: &str = "1";
/// When a detector is given up; a model check stops by itself earlier.
const LONGEST: Duration = Duration::from_secs(150);
/// When the model checker gives up a program, in seconds: a fault that is worth a place shows soon, and the
/// locks as they are need not be checked to the end here.
const MODEL_SECONDS: &str = "20";

pub(super) struct Scratch {
    tree: PathBuf,
    target: PathBuf,
    threads: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Clean,
    /// It noticed a failure of this kind; details.
    Noticed(String, String),
    /// It ended in a way that says nothing about the lock.
    Crashed(String),
}

impl Scratch {
    pub(super) fn new(root: &Path, index: usize, threads: usize) -> io::Result<Self> {
        let place = crate::built::target(root).join("mutants").join(index.to_string());
        let scratch = Self { tree: place.join("tree"), target: place.join("target"), threads };
        let mut stale = files(&scratch.tree)?;
        for name in COPIED {
            let from = root.join(name);
            let paths = if from.is_dir() { files(&from)? } else { vec![from] };
            for path in paths {
                let relative = path.strip_prefix(root).map_err(io::Error::other)?;
                write_if_other(&scratch.tree.join(relative), &fs::read(&path)?)?;
                stale.retain(|old| *old != scratch.tree.join(relative));
            }
        }
        stale.iter().try_for_each(fs::remove_file)?;
        Ok(scratch)
    }

    pub(super) fn tree(&self) -> &Path {
        &self.tree
    }

    pub(super) fn read(&self, file: &str) -> io::Result<String> {
        fs::read_to_string(self.tree.join(file))
    }

    pub(super) fn write(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.tree.join(file), text)
    }

    /// Builds a detector. The error is what the compiler said.
    pub(super) fn build(&self, detector: Detector) -> io::Result<Result<(), String>> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        // Each build differs in a line from the one before; `.ci/run` turns this off.
        command.current_dir(&self.tree).env("CARGO_INCREMENTAL", "1").args([
            "build",
            "--quiet",
            "--locked",
            "--profile",
            PROFILE,
            "--jobs",
        ]);
        command.arg(self.threads.to_string()).arg("--target-dir").arg(&self.target);
        command.args(["--package", detector.package()]);
        command.args(detector.example().into_iter().flat_map(|example| ["--example", example]));
        let output = command.output()?;
        let printed = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Ok(if output.status.success() { Ok(()) } else { Err(printed) })
    }

    pub(super) fn run(&self, check: &Check) -> io::Result<Ended> {
        let built = self.target.join(PROFILE);
        let mut command = match check.detector {
            Detector::Explore => {
                let mut command = Command::new(built.join("examples/explore_one"));
                command.args([&check.lock, &check.schedules.to_string(), SEED]).args(&check.fault);
                command
            }
            Detector::Model => {
                let mut command = Command::new(built.join("stanchion-model"));
                command.args(["--lock", &check.lock, "--shape", &check.shape]);
                command.args(["--seconds", MODEL_SECONDS, "--jobs", "1"]);
                command
            }
        };
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let Some(child) = wait(child, LONGEST)? else {
            return Ok(Ended::Crashed(format!("it took longer than {} s", LONGEST.as_secs())));
        };
        let output = child.wait_with_output()?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok(read_verdict(check.detector, output.status.code(), &out, &err))
    }
}

/// Waits for a child that prints a few lines at most. `None`: it took too long and was killed.
fn wait(mut child: Child, longest: Duration) -> io::Result<Option<Child>> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > longest {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(Some(child))
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

/// Every file under `directory`; none if it does not exist.
pub(super) fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !directory.exists() {
        return Ok(found);
    }
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// A file that stays as it is keeps its time, so that nothing is built again because of it.
fn write_if_other(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_child_that_takes_too_long_is_ended() {
        let spawn = |seconds: &str| Command::new("sleep").arg(seconds).spawn().expect("sleep exists");
        assert!(wait(spawn("100"), Duration::from_millis(30)).expect("it is ours").is_none());
        assert!(wait(spawn("0"), Duration::from_secs(100)).expect("it is ours").is_some());
    }
}
