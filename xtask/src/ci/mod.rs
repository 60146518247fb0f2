//! `cargo xtask ci`: runs every job, never stops early, and sums up at the end.
mod command;
mod lanes;
mod summary;

use crate::files::entries;
use anyhow::{Error, Result};
use clap::Args;
use command::Shell;
use lab_kit::names::chosen;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;
use summary::{Outcome, Summary};

/// Path of the jobs, whose head says what each field means.
const PATH: &str = "xtask/ci.toml";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    name: String,
    shows: String,
    needs: Option<Step>,
    steps: Vec<Step>,
    #[serde(default = "all_but_quick")]
    runs: Vec<Speed>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn all_but_quick() -> Vec<Speed> {
    vec![Speed::Landing, Speed::Night]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Speed {
    Quick,
    Landing,
    Night,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Step {
    line: String,
    words: Vec<String>,
}

impl Step {
    fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

impl TryFrom<String> for Step {
    type Error = String;

    fn try_from(line: String) -> Result<Self, String> {
        let line = match line.strip_prefix("stanchion ") {
            Some(words) => format!("cargo run --release -p stanchion-lab -- {words}"),
            None => line,
        };
        match shlex::split(&line) {
            Some(words) if !words.is_empty() => Ok(Self { line, words }),
            _ => Err(format!("`{line}` is no command")),
        }
    }
}

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Request {
    /// Run only these jobs, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Only what is known in a minute or two: format, lints, the rules, unit tests, generated files
    #[arg(long, conflicts_with_all = ["nightly", "only"])]
    quick: bool,
    /// Run the long jobs of the night as well
    #[arg(long)]
    nightly: bool,
    /// Write docs/ci-times.md
    #[arg(long, conflicts_with = "only")]
    record: bool,
    /// List the jobs and what each shows
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(root: &Path, request: &Request) -> Result<bool> {
    let jobs = read(root)?;
    if request.list {
        for Job { name, shows, runs, .. } in &jobs {
            let when = match runs.as_slice() {
                [Speed::Quick] => " (only quick)",
                [Speed::Quick, ..] => " (also quick)",
                [Speed::Night] => " (nightly)",
                _ => "",
            };
            println!("{name:<15} {shows}{when}");
        }
        return Ok(true);
    }
    let speed = match (request.quick, request.nightly) {
        (true, _) => Speed::Quick,
        (_, true) => Speed::Night,
        _ => Speed::Landing,
    };
    let jobs = select(jobs, &request.only, speed)?;
    let start = Instant::now();
    let summary = Summary { jobs: lanes::run(root, &jobs)?, took: start.elapsed() };
    // Who reads it may be gone; the record is written all the same.
    let _ = write!(io::stdout(), "\n{}", summary.render());
    if request.record {
        summary.record(root, speed)?;
    }
    Ok(summary.passes(!request.only.is_empty()))
}

/// The jobs of the workspace at `root`, which is an absolute path.
fn read(root: &Path) -> Result<Vec<Job>> {
    let mut jobs: Vec<Job> = entries(root, PATH, "job")?;
    for value in jobs.iter_mut().flat_map(|job| job.env.values_mut()) {
        *value = value.replace("{root}", &root.to_string_lossy());
    }
    Ok(jobs)
}

/// The jobs named in `only`, in their order; when it is empty, those of `speed`.
fn select(jobs: Vec<Job>, only: &[String], speed: Speed) -> Result<Vec<Job>> {
    let mut jobs = chosen("job", jobs, only, |job| &job.name).map_err(Error::msg)?;
    jobs.retain(|job| !only.is_empty() || job.runs.contains(&speed));
    Ok(jobs)
}

/// Runs the steps until one fails.
fn run_job(shell: &mut Shell<'_>, job: &Job) -> Outcome {
    if let Some(probe) = job.needs.as_ref().filter(|probe| !shell.succeeds(probe)) {
        return Outcome::Skipped(format!("`{}` fails here", probe.line));
    }
    let mut ended = job.steps.iter().map(|step| shell.run(step, &job.env));
    ended.find(|outcome| *outcome != Outcome::Ok).unwrap_or(Outcome::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;
    use core::time::Duration;
    use std::fs;

    fn all() -> Vec<Job> {
        read(&workspace::root()).unwrap_or_else(|error| panic!("{error:#}"))
    }

    fn names(only: &[&str]) -> Result<Vec<String>> {
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        select(all(), &only, Speed::Landing).map(|jobs| jobs.into_iter().map(|job| job.name).collect())
    }

    #[test]
    fn all_jobs_run_unless_some_are_named() {
        let count = |speed: Speed| select(all(), &[], speed).map_or(0, |jobs| jobs.len());
        assert_eq!(names(&[]).expect("all").len(), count(Speed::Landing));
        assert!(count(Speed::Quick) < count(Speed::Landing) && count(Speed::Landing) < count(Speed::Night));
        assert!(names(&["explore-nightly", "unit"]).is_ok());
        assert!(all().is_sorted_by_key(|job| job.runs == [Speed::Night]), "those of the night come last");
        assert_eq!(names(&["tidy", "fmt"]).expect("two"), ["fmt", "tidy"]);
    }

    #[test]
    fn an_unknown_job_is_answered_with_near_ones() {
        assert_eq!(
            names(&["tydi"]).unwrap_err().to_string(),
            "unknown job 'tydi': nearest are tidy, capi, test"
        );
    }

    #[test]
    fn job_names_are_distinct_and_told() {
        let all = all();
        let mut names: Vec<&str> = all.iter().map(|job| job.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|job| !job.shows.is_empty() && !job.steps.is_empty()));
    }

    #[test]
    fn paths_in_variables_are_those_of_the_workspace() {
        let all = all();
        let options: Vec<&String> = all.iter().filter_map(|job| job.env.get("TSAN_OPTIONS")).collect();
        assert_eq!(options.len(), 1);
        for options in options {
            let (_, path) = options.rsplit_once("suppressions=").expect("a file of suppressions");
            assert!(Path::new(path).is_absolute() && Path::new(path).is_file(), "{path}");
        }
    }

    #[test]
    fn a_crate_that_only_seems_to_say_no_std_is_noticed() {
        let file = std::env::temp_dir().join(format!("stanchion-no-std-{}.rs", std::process::id()));
        let log = lanes::open(&file.with_extension("log")).expect("a directory for files");
        let mut shell = Shell { root: Path::new("/"), log: &log, cpu: Duration::ZERO };
        let job = all().into_iter().find(|job| job.name == "no-std").expect("there is one");
        let looks: Vec<Step> = job.steps.into_iter().filter(|step| step.words[0] == "grep").collect();
        assert_eq!(looks.len(), 4);
        for mut step in looks {
            let attribute = step.words[2].clone();
            *step.words.last_mut().expect("a file") = file.to_string_lossy().into_owned();
            for (text, says) in
                [(format!("//! Doc.\n{attribute}\n"), true), (format!("// {attribute}\n"), false)]
            {
                fs::write(&file, &text).expect("a directory for files");
                assert_eq!(shell.run(&step, &job.env) == Outcome::Ok, says, "{text}");
            }
        }
        fs::remove_file(file.with_extension("log")).expect("it is there");
        fs::remove_file(file).expect("it is there");
    }

    #[test]
    fn words_are_split_as_a_shell_does_and_the_laboratory_is_built() {
        let step = |line: &str| Step::try_from(line.to_owned());
        assert_eq!(step("sh -c 'a && b'").expect("a command").words, ["sh", "-c", "a && b"]);
        let lab = step("stanchion explore --seed 1").expect("a command").words;
        assert_eq!(lab, ["cargo", "run", "--release", "-p", "stanchion-lab", "--", "explore", "--seed", "1"]);
        assert!(step("").is_err() && step("sh -c 'a").is_err());
    }
}
