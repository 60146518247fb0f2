//! What later jobs run is built while earlier ones test: at the lowest priority there is, so it takes the
//! time that they leave. A job that comes before its build has ended waits for it, as cargo does.
use super::job::{Job, Step};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Begins with what these jobs run. A build that fails is told of by the job that needs it.
pub(super) fn start(root: &Path, jobs: &[&'static Job]) {
    let builds = builds(jobs);
    let root: PathBuf = root.to_owned();
    thread::spawn(move || {
        for (words, job) in builds {
            let mut build = Command::new("chrt");
            build.args(["--idle", "0"]).args(words).envs(job.env.iter().copied()).current_dir(&root);
            let _ = build.stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    });
}

/// Each once, in the order of the jobs.
fn builds(jobs: &[&'static Job]) -> Vec<(Vec<&'static str>, &'static Job)> {
    let mut builds: Vec<(Vec<&str>, &Job)> = Vec::new();
    for &job in jobs {
        for step in job.steps {
            if let Step::Run(words) = step
                && let Some(build) = build_of(words)
                && !builds.iter().any(|(known, of)| *known == build && of.env == job.env)
            {
                builds.push((build, job));
            }
        }
    }
    builds
}

/// The command that builds what this one runs, if it is built apart from what the first jobs build and test:
/// cargo has one build at a time there.
fn build_of(words: &[&'static str]) -> Option<Vec<&'static str>> {
    let mut build: Vec<&str> = words.iter().copied().take_while(|&word| word != "--").collect();
    if !build.iter().any(|word| ["--release", "--target-dir"].contains(word)) {
        return None;
    }
    if let Some(run) = build.iter_mut().find(|word| **word == "run") {
        *run = "build";
    } else if build.contains(&"test") {
        build.retain(|&word| word != "--no-fail-fast");
        build.push("--no-run");
    }
    Some(build)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::job::SANITIZER;
    use crate::ci::jobs::JOBS;

    #[test]
    fn what_the_jobs_run_optimised_or_elsewhere_is_built_once() {
        let builds = builds(&JOBS.iter().collect::<Vec<_>>());
        let of = |package: &str| {
            let has = |words: &[&str]| words.ends_with(&["build", "--release", "-p", package]);
            builds.iter().filter(|(words, _)| has(words)).count()
        };
        assert_eq!((of("stanchion-lab"), of("stanchion-model")), (1, 1), "whatever they do");
        let sanitized: Vec<_> = builds.iter().filter(|(_, job)| job.env == SANITIZER).collect();
        assert!(sanitized.iter().all(|(words, _)| words.ends_with(&["target/tsan", "--no-run"])));
        assert_eq!(sanitized.len(), 1);
    }

    #[test]
    fn what_the_first_jobs_build_is_left_to_them() {
        assert_eq!(build_of(&["cargo", "test", "--workspace", "--no-fail-fast"]), None);
        assert_eq!(build_of(&["cargo", "xtask", "conform"]), None);
    }
}
