//! Two jobs at a time. Cargo has one build at a time in `target/debug`, so of the jobs that build there, one
//! runs at a time. All others build elsewhere, or nothing.
use super::command::{Shell, live};
use super::job::Job;
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
struct Queue<'a> {
    /// In order.
    jobs: Vec<&'a Job>,
    /// Whether a job runs that builds in `target/debug`.
    is_building: bool,
}

impl<'a> Queue<'a> {
    /// The next job that may run now.
    fn take(&mut self) -> Option<&'a Job> {
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
pub(super) fn run(root: &Path, jobs: &[&Job]) -> io::Result<Vec<Ended>> {
    let logs = crate::built::target(root).join("ci");
    fs::create_dir_all(&logs)?;
    let queue = Mutex::new(Queue { jobs: jobs.to_vec(), is_building: false });
    let lane = |run: &dyn Fn(&Job) -> Ended| {
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

fn beside(root: &Path, job: &Job, logs: &Path) -> Ended {
    let path = logs.join(&job.name).with_extension("log");
    let Ok(file) = File::create(&path) else { return one(root, job, live()) };
    let mut out = live();
    // A closed pipe does not stop the jobs.
    let _ = out.write_all(format!("=== {} runs beside: {}\n", job.name, path.display()).as_bytes());
    let ended = one(root, job, Arc::new(file));
    let _ = out.write_all(&fs::read(&path).unwrap_or_default());
    ended
}

fn one(root: &Path, job: &Job, out: Arc<File>) -> Ended {
    let mut shell = Shell { root, out, cpu: Duration::ZERO };
    shell.say(format_args!("\n=== {}: {}", job.name, job.shows));
    let start = Instant::now();
    let outcome = run_job(&mut shell, job);
    let took = start.elapsed();
    shell.say(format_args!("=== {}: {:.1} s", job.name, took.as_secs_f64()));
    Ended { name: job.name.clone(), outcome, took, cpu: shell.cpu }
}

/// Whether a job leaves `target/debug` alone. This program stands there too, but is not built again.
fn is_built_apart(job: &Job) -> bool {
    job.steps.iter().all(|step| match step.words().as_slice() {
        ["cargo", "xtask", name, ..] => !BUILD_THERE.contains(name),
        ["cargo", words @ ..] => words.iter().any(|word| ["--release", "--target-dir"].contains(word)),
        ["msrv", ..] => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::job::{self, Step};
    use crate::ci::summary::Outcome;
    use std::collections::BTreeMap;

    fn job(name: &str, line: &str) -> Job {
        let step = Step::try_from(line.to_owned()).expect("a command");
        Job {
            name: name.to_owned(),
            shows: String::new(),
            needs: None,
            steps: vec![step],
            runs: Vec::new(),
            env: BTreeMap::new(),
        }
    }

    #[test]
    fn of_what_builds_in_one_directory_one_runs_at_a_time() {
        let all = job::read(&crate::workspace::root()).expect("well-formed");
        let there = all.iter().filter(|job| !is_built_apart(job));
        let first: Vec<_> = there.map(|job| job.name.as_str()).collect();
        let day = ["fmt", "clippy", "unit", "test", "drop-in", "doc", "no-std", "msrv"];
        let night = ["aarch64", "musl", "release", "dependents"];
        assert_eq!(first, [day.as_slice(), &night].concat());
        let mut queue = Queue { jobs: all.iter().collect(), is_building: false };
        let taken: Vec<_> = (0..3).filter_map(|_| queue.take()).collect();
        assert_eq!(taken.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["fmt", "header", "capi"]);
        queue.ended(taken[1]);
        assert_eq!(queue.take().map(|job| job.name.as_str()), Some("python"), "fmt builds still");
        queue.ended(taken[0]);
        assert_eq!(queue.take().map(|job| job.name.as_str()), Some("clippy"));
    }

    #[test]
    fn all_jobs_run_and_the_result_has_their_order() {
        let (apart, first) = (job("apart", "sh -c 'echo why; false'"), job("first", "cargo --version"));
        let root = std::env::temp_dir().join(format!("stanchion-lanes-{}", std::process::id()));
        fs::create_dir_all(&root).expect("a directory");
        let ended = run(&root, &[&apart, &first]).expect("a directory for logs");
        fs::remove_dir_all(&root).expect("it is there");
        assert_eq!(ended.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["apart", "first"]);
        assert!(matches!(&ended[0].outcome, Outcome::Failed { last, .. } if last == &["why"]));
        assert_eq!(ended[1].outcome, Outcome::Ok);
    }

    #[test]
    fn what_is_printed_beside_is_in_a_file() {
        let job = job("beside", "sh -c 'echo why'");
        let logs = std::env::temp_dir().join(format!("stanchion-beside-{}", std::process::id()));
        fs::create_dir_all(&logs).expect("a directory for logs");
        let ended = beside(&logs, &job, &logs);
        let log = fs::read_to_string(logs.join("beside.log")).unwrap_or_default();
        fs::remove_dir_all(&logs).expect("it is there");
        assert_eq!(ended.outcome, Outcome::Ok);
        assert!(log.contains("\nwhy\n"), "{log}");
    }
}
