//! Two lanes of jobs, side by side. Cargo has one build at a time in `target/debug`, so the jobs that build
//! there are one lane. All others are the second: they build elsewhere, or nothing.
use super::command::{Out, Shell};
use super::job::{Job, Step};
use super::run_job;
use super::summary::Ended;
use std::io::Write as _;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Instant;

/// Runs the jobs; the result has their order. What one of the second lane prints is printed once it has
/// ended.
pub(super) fn run(root: &Path, jobs: &[&'static Job]) -> Vec<Ended> {
    let (apart, first): (Vec<_>, Vec<_>) = jobs.iter().copied().partition(|job| is_built_apart(job));
    let beside = |job: &&'static Job| {
        println!("=== {} begins beside", job.name);
        let text = Arc::default();
        let ended = one(root, job, Out::Kept(Arc::clone(&text)));
        let text = text.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = Out::Live.write_all(&text);
        ended
    };
    let mut ended = thread::scope(|scope| {
        let second = scope.spawn(|| apart.iter().map(beside).collect::<Vec<_>>());
        let mut ended: Vec<_> = first.iter().map(|job| one(root, job, Out::Live)).collect();
        ended.extend(second.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended
    });
    ended.sort_by_key(|ended| jobs.iter().position(|job| job.name == ended.name));
    ended
}

fn one(root: &Path, job: &'static Job, out: Out) -> Ended {
    let mut shell = Shell::new(root, out);
    shell.say(format_args!("\n=== {}: {}", job.name, job.shows));
    let start = Instant::now();
    let outcome = run_job(&mut shell, job);
    let took = start.elapsed();
    shell.say(format_args!("=== {}: {:.1} s", job.name, took.as_secs_f64()));
    Ended { name: job.name, outcome, took, cpu: shell.cpu() }
}

/// Whether a job leaves `target/debug` alone. This program is there, and is run as it is.
fn is_built_apart(job: &Job) -> bool {
    job.steps.iter().all(|step| match step {
        Step::Run(["cargo", "xtask", ..]) => true,
        Step::Run(words) => words.iter().any(|word| ["--release", "--target-dir"].contains(word)),
        Step::SaysNoStd(_) | Step::Msrv => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::jobs::JOBS;

    #[test]
    fn what_builds_in_the_directory_of_the_first_lane_is_in_it() {
        let first: Vec<_> = JOBS.iter().filter(|job| !is_built_apart(job)).map(|job| job.name).collect();
        assert_eq!(first, ["fmt", "clippy", "unit", "test", "drop-in", "doc", "no-std", "msrv"]);
    }
}
