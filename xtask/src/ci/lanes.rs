//! Two jobs at a time. Cargo has one build at a time in `target/debug`, so of the jobs that build there, one
//! runs at a time. All others build elsewhere, or nothing.
use super::command::{Shell, live};
use super::job::{Job, Step};
use super::run_job;
use super::summary::Ended;
use core::time::Duration;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// Commands of this program that build in `target/debug`, or share what is below `target` with a job that
/// does.
const BUILD_THERE: &[&str] = &["aarch64", "dependents", "release"];

/// The jobs that are left.
struct Queue {
    /// In order.
    jobs: Vec<&'static Job>,
    /// Whether a job runs that builds in `target/debug`.
    is_building: bool,
}

impl Queue {
    /// The next job that may run now.
    fn take(&mut self) -> Option<&'static Job> {
        let at = self.jobs.iter().position(|job| is_built_apart(job) || !self.is_building)?;
        let job = self.jobs.remove(at);
        self.is_building |= !is_built_apart(job);
        Some(job)
    }

    /// A job has ended.
    fn ended(&mut self, job: &Job) {
        self.is_building &= is_built_apart(job);
    }
}

/// Runs the jobs; the result has their order. What half of them print goes to files, and is printed once each
/// has ended.
pub(super) fn run(root: &Path, jobs: &[&'static Job]) -> io::Result<Vec<Ended>> {
    let logs = crate::built::target(root).join("ci");
    fs::create_dir_all(&logs)?;
    let queue = Mutex::new(Queue { jobs: jobs.to_vec(), is_building: false });
    let lane = |run: &dyn Fn(&'static Job) -> Ended| {
        let mut all = Vec::new();
        let lock = || queue.lock().expect("no job panics");
        while let Some(job) = { lock().take() } {
            all.push(run(job));
            lock().ended(job);
        }
        all
    };
    let mut ended = thread::scope(|scope| {
        let beside = scope.spawn(|| lane(&|job| beside(root, job, &logs)));
        let mut ended = lane(&|job| one(root, job, live()));
        ended.extend(beside.join().expect("no job panics"));
        ended
    });
    ended.sort_by_key(|ended| jobs.iter().position(|job| job.name == ended.name));
    Ok(ended)
}

fn beside(root: &Path, job: &'static Job, logs: &Path) -> Ended {
    let path = logs.join(job.name).with_extension("log");
    let Ok(file) = File::create(&path) else { return one(root, job, live()) };
    let mut out = live();
    // A closed pipe does not stop the jobs.
    let _ = out.write_all(format!("=== {} runs beside: {}\n", job.name, path.display()).as_bytes());
    let ended = one(root, job, Arc::new(file));
    let _ = out.write_all(&fs::read(&path).unwrap_or_default());
    ended
}

fn one(root: &Path, job: &'static Job, out: Arc<File>) -> Ended {
    let mut shell = Shell { root, out, cpu: Duration::ZERO };
    shell.say(format_args!("\n=== {}: {}", job.name, job.shows));
    let start = Instant::now();
    let outcome = run_job(&mut shell, job);
    let took = start.elapsed();
    shell.say(format_args!("=== {}: {:.1} s", job.name, took.as_secs_f64()));
    Ended { name: job.name, outcome, took, cpu: shell.cpu }
}

/// Whether a job leaves `target/debug` alone. This program stands there too, but is not built again.
fn is_built_apart(job: &Job) -> bool {
    job.steps.iter().all(|step| match step {
        Step::Run(["cargo", "xtask", name, ..]) => !BUILD_THERE.contains(name),
        Step::Run(["cargo", words @ ..]) => {
            words.iter().any(|word| ["--release", "--target-dir"].contains(word))
        }
        Step::Run(_) | Step::SaysNoStd(_) => true,
        Step::Msrv => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::all;
    use crate::ci::job::PLAIN;
    use crate::ci::summary::Outcome;

    #[test]
    fn of_what_builds_in_one_directory_one_runs_at_a_time() {
        let first: Vec<_> = all().filter(|job| !is_built_apart(job)).map(|job| job.name).collect();
        let day = ["fmt", "clippy", "unit", "test", "drop-in", "doc", "no-std", "msrv"];
        let night = ["aarch64", "musl", "release", "dependents"];
        assert_eq!(first, [day.as_slice(), &night].concat());
        let mut queue = Queue { jobs: all().collect(), is_building: false };
        let taken: Vec<_> = (0..3).filter_map(|_| queue.take()).collect();
        assert_eq!(taken.iter().map(|job| job.name).collect::<Vec<_>>(), ["fmt", "header", "capi"]);
        queue.ended(taken[1]);
        assert_eq!(queue.take().map(|job| job.name), Some("python"), "fmt builds still");
        queue.ended(taken[0]);
        assert_eq!(queue.take().map(|job| job.name), Some("clippy"));
    }

    #[test]
    fn all_jobs_run_and_the_result_has_their_order() {
        const APART: Job =
            Job { name: "apart", steps: &[Step::Run(&["sh", "-c", "echo why; false"])], ..PLAIN };
        const FIRST: Job = Job { name: "first", steps: &[Step::Run(&["cargo", "--version"])], ..PLAIN };
        let root = std::env::temp_dir().join(format!("stanchion-lanes-{}", std::process::id()));
        fs::create_dir_all(&root).expect("a directory");
        let ended = run(&root, &[&APART, &FIRST]).expect("a directory for logs");
        fs::remove_dir_all(&root).expect("it is there");
        assert_eq!(ended.iter().map(|job| job.name).collect::<Vec<_>>(), ["apart", "first"]);
        assert!(matches!(&ended[0].outcome, Outcome::Failed { last, .. } if last == &["why"]));
        assert_eq!(ended[1].outcome, Outcome::Ok);
    }

    #[test]
    fn what_is_printed_beside_is_in_a_file() {
        const JOB: Job = Job { name: "beside", steps: &[Step::Run(&["sh", "-c", "echo why"])], ..PLAIN };
        let logs = std::env::temp_dir().join(format!("stanchion-beside-{}", std::process::id()));
        fs::create_dir_all(&logs).expect("a directory for logs");
        let ended = beside(&logs, &JOB, &logs);
        let log = fs::read_to_string(logs.join("beside.log")).unwrap_or_default();
        fs::remove_dir_all(&logs).expect("it is there");
        assert_eq!(ended.outcome, Outcome::Ok);
        assert!(log.contains("\nwhy\n"), "{log}");
    }
}
