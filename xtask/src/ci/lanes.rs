//! Two lanes of jobs, side by side. Cargo has one build at a time in `target/debug`, so the jobs that build
//! there are one lane. All others are the second: they build elsewhere, or nothing.
use super::command::{Out, Shell};
use super::job::{Job, Step};
use super::run_job;
use super::summary::Ended;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;
use std::{fs, io, thread};

/// Commands of this program that build in `target/debug`, or share what is below `target` with a job that
/// does.
const OF_THE_FIRST: &[&str] = &["aarch64", "dependents", "release"];

/// Runs the jobs; the result has their order. What one of the second lane prints goes to a file, and is
/// printed once the job has ended.
pub(super) fn run(root: &Path, jobs: &[&'static Job]) -> io::Result<Vec<Ended>> {
    let logs = crate::built::target(root).join("ci");
    fs::create_dir_all(&logs)?;
    let (apart, first): (Vec<_>, Vec<_>) = jobs.iter().copied().partition(|job| is_built_apart(job));
    let mut ended = thread::scope(|scope| {
        let second = scope.spawn(|| apart.iter().map(|job| beside(root, job, &logs)).collect());
        let mut ended: Vec<_> = first.iter().map(|job| one(root, job, Out::Live)).collect();
        ended.extend::<Vec<_>>(second.join().expect("no job panics"));
        ended
    });
    ended.sort_by_key(|ended| jobs.iter().position(|job| job.name == ended.name));
    Ok(ended)
}

fn beside(root: &Path, job: &'static Job, logs: &Path) -> Ended {
    let path = logs.join(job.name).with_extension("log");
    let Ok(out) = Out::kept(&path) else { return one(root, job, Out::Live) };
    // Nobody reads what we print, perhaps; the jobs are to go on all the same.
    let _ = writeln!(Out::Live, "=== {} begins beside: {}", job.name, path.display());
    let ended = one(root, job, out);
    let _ = Out::Live.write_all(&fs::read(&path).unwrap_or_default());
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
        Step::Run(["cargo", "xtask", name, ..]) => !OF_THE_FIRST.contains(name),
        Step::Run(["cargo", words @ ..]) => {
            words.iter().any(|word| ["--release", "--target-dir"].contains(word))
        }
        Step::Run(_) => true,
        Step::SaysNoStd(_) | Step::Msrv => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::all;
    use crate::ci::job::PLAIN;
    use crate::ci::summary::Outcome;

    #[test]
    fn what_builds_in_the_directory_of_the_first_lane_is_in_it() {
        let first: Vec<_> = all().filter(|job| !is_built_apart(job)).map(|job| job.name).collect();
        let day = ["fmt", "clippy", "unit", "test", "drop-in", "doc", "no-std", "msrv"];
        let night = ["aarch64", "musl", "release", "dependents"];
        assert_eq!(first, [day.as_slice(), &night].concat());
    }

    #[test]
    fn both_lanes_run_and_the_result_has_the_order_of_the_jobs() {
        const APART: Job =
            Job { name: "apart", steps: &[Step::Run(&["sh", "-c", "echo why; false"])], ..PLAIN };
        const FIRST: Job = Job { name: "first", steps: &[Step::Run(&["cargo", "--version"])], ..PLAIN };
        let root = std::env::temp_dir().join(format!("stanchion-lanes-{}", std::process::id()));
        let ended = run(&root, &[&APART, &FIRST]).expect("a directory for logs");
        let log = fs::read_to_string(crate::built::target(&root).join("ci/apart.log")).unwrap_or_default();
        fs::remove_dir_all(&root).expect("it is there");
        assert_eq!(ended.iter().map(|job| job.name).collect::<Vec<_>>(), ["apart", "first"]);
        assert!(matches!(&ended[0].outcome, Outcome::Failed { last, .. } if last == &["why"]));
        assert_eq!(ended[1].outcome, Outcome::Ok);
        assert!(log.contains("\nwhy\n"), "{log}");
    }
}
