//! Two jobs at a time, of those that build in `target/debug` one: cargo has one build at a time there.
use super::command::Shell;
use super::summary::{Ended, Outcome};
use super::{Job, run_job};
use core::iter;
use core::time::Duration;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

/// Commands of this program that build in `target/debug`, or share something there with a job that does.
const BUILD_THERE: &[&str] = &["aarch64", "dependents", "release", "wheel"];

/// How long what is printed may be unseen.
const MOMENT: Duration = Duration::from_millis(50);

/// Runs the jobs; the result has their order. One lane has those that build in `target/debug`, and then helps
/// with the others. What those print beside it is shown once each has ended.
pub(super) fn run(root: &Path, jobs: &[Job]) -> io::Result<Vec<Ended>> {
    let logs = crate::built::target(root).join("ci");
    fs::create_dir_all(&logs)?;
    let (apart, there): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|job| is_built_apart(job));
    let left = Mutex::new(apart.into_iter());
    let next = || left.lock().expect("no job panics").next();
    let mut ended = thread::scope(|scope| {
        let others = iter::from_fn(next).map(|job| one(root, job, &logs, false));
        let others = scope.spawn(|| others.collect::<Vec<_>>());
        let seen = there.into_iter().chain(iter::from_fn(next)).map(|job| one(root, job, &logs, true));
        let mut ended: Vec<_> = seen.collect();
        ended.extend(others.join().expect("no job panics"));
        ended
    });
    ended.sort_by_key(|ended| jobs.iter().position(|job| job.name == ended.name));
    Ok(ended)
}

/// Runs a job. What it prints goes to a file, without which it fails, and is shown: at once, or when it ends.
fn one(root: &Path, job: &Job, logs: &Path, in_sight: bool) -> Ended {
    let path = logs.join(&job.name).with_extension("log");
    let (log, mut shown) = match open(&path).and_then(|log| Ok((log, File::open(&path)?))) {
        Ok(files) => files,
        Err(error) => {
            let outcome = Outcome::failed(format!("{}: {error}", path.display()));
            return Ended { name: job.name.clone(), outcome, took: Duration::ZERO, cpu: Duration::ZERO };
        }
    };
    if !in_sight {
        show(&mut format!("=== {} runs beside: {}\n", job.name, path.display()).as_bytes());
    }
    let mut shell = Shell { root, log: &log, cpu: Duration::ZERO };
    shell.say(format_args!("\n=== {}: {}", job.name, job.shows));
    let start = Instant::now();
    let (over, ends) = mpsc::channel::<()>();
    let outcome = thread::scope(|scope| {
        let shown = &mut shown;
        scope.spawn(move || {
            while in_sight && ends.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
                show(shown);
            }
        });
        let _over = over;
        run_job(&mut shell, job)
    });
    let took = start.elapsed();
    shell.say(format_args!("=== {}: {:.1} s", job.name, took.as_secs_f64()));
    show(&mut shown);
    Ended { name: job.name.clone(), outcome, took, cpu: shell.cpu }
}

/// An empty file for what a job prints.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    file.set_len(0)?;
    Ok(file)
}

fn show(text: &mut impl Read) {
    let mut out = io::stdout().lock();
    // A closed pipe does not stop the jobs.
    let _ = io::copy(text, &mut out).and_then(|_| out.flush());
}

/// Whether a job leaves `target/debug` alone. This program stands there too, but is not built again.
fn is_built_apart(job: &Job) -> bool {
    job.steps.iter().all(|step| match step.words().as_slice() {
        ["cargo", "xtask", name, ..] => !BUILD_THERE.contains(name),
        ["cargo", "deny", ..] => true,
        ["cargo", words @ ..] => words.iter().any(|word| ["--release", "--target-dir"].contains(word)),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::{Step, read};
    use std::collections::BTreeMap;

    fn run_there(name: &str, jobs: &[Job]) -> Vec<Ended> {
        let root = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&root).expect("a directory");
        let ended = run(&root, jobs).expect("a directory for logs");
        fs::remove_dir_all(&root).expect("it is there");
        ended
    }

    fn job(name: &str, lines: &[&str]) -> Job {
        let step = |line: &&str| Step::try_from((*line).to_owned()).expect("a command");
        Job {
            name: name.to_owned(),
            shows: String::new(),
            needs: None,
            steps: lines.iter().map(step).collect(),
            runs: Vec::new(),
            env: BTreeMap::new(),
        }
    }

    #[test]
    fn of_what_builds_in_one_directory_one_runs_at_a_time() {
        let all = read(&crate::workspace::root()).expect("well-formed");
        let there = all.iter().filter(|job| !is_built_apart(job));
        let first: Vec<_> = there.map(|job| job.name.as_str()).collect();
        let day = ["fmt", "clippy", "unit", "test", "drop-in", "doc", "no-std", "python", "msrv", "model"];
        let night = ["aarch64", "musl", "release", "python-ray", "dependents"];
        assert_eq!(first, [day.as_slice(), &night].concat());
        let building = "sh -c 'mkdir building && sleep 0.2 && rmdir building'";
        let jobs = ["one", "other"].map(|name| job(name, &["cargo --version", building]));
        let ended = run_there("stanchion-building", &jobs);
        assert!(ended.iter().all(|job| job.outcome == Outcome::Ok), "they do not meet");
    }

    #[test]
    fn all_jobs_run_and_the_result_has_their_order() {
        let jobs = [job("apart", &["sh -c 'echo why; false'"]), job("first", &["cargo --version"])];
        let ended = run_there("stanchion-lanes", &jobs);
        assert_eq!(ended.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["apart", "first"]);
        assert!(matches!(&ended[0].outcome, Outcome::Failed { last, .. } if last == &["why"]));
        assert_eq!(ended[1].outcome, Outcome::Ok);
    }

    #[test]
    fn what_is_printed_beside_is_in_a_file() {
        let job = job("beside", &["sh -c 'echo why'"]);
        let logs = std::env::temp_dir().join(format!("stanchion-beside-{}", std::process::id()));
        fs::create_dir_all(&logs).expect("a directory for logs");
        let ended = one(&logs, &job, &logs, false);
        let log = fs::read_to_string(logs.join("beside.log")).unwrap_or_default();
        fs::remove_dir_all(&logs).expect("it is there");
        assert_eq!(ended.outcome, Outcome::Ok);
        assert!(log.contains("\nwhy\n"), "{log}");
    }
}
