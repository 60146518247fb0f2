//! `stanchion-model`: explores small programs under loom and prints a table.
#![forbid(unsafe_code)]

use clap::Parser;
use core::num::NonZero;
use core::time::Duration;
use stanchion_model::check::Report;
use stanchion_model::locks::{DEEPER, Lock, Planned, locks};
use stanchion_model::shapes::{self, Shape};
use stanchion_model::{Limits, Weakening};
use std::collections::VecDeque;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;

#[derive(Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(
    name = "stanchion-model",
    about = "Explores small programs with each lock under the loom model checker",
    after_help = "Exit status: 0 when no check failed, 1 when one did, 2 when the command line is unusable."
)]
struct Cli {
    /// Only these locks, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    lock: Vec<String>,
    /// Only these shapes, whether they are planned for the lock or not
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    shape: Vec<String>,
    /// At most so many preemptions in an execution, in place of what is planned; `any` for no bound
    #[arg(long, value_name = "NUMBER")]
    bound: Option<String>,
    /// Allow more preemptions where that takes minutes
    #[arg(long, conflicts_with = "bound")]
    deep: bool,
    /// Give up an exploration after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    seconds: Duration,
    /// Perform one ordering of the lock code weaker: FILE:LINE:OPERATION=KIND
    #[arg(long, value_name = "SITE")]
    weaken: Option<Weakening>,
    /// Explore so many programs at a time; as many as there are CPUs unless told otherwise
    #[arg(long, value_name = "NUMBER")]
    jobs: Option<usize>,
    /// Stop at the first check that fails
    #[arg(long)]
    first: bool,
    /// Print the lock events of each check
    #[arg(long)]
    events: bool,
    /// Print which sites each lock reaches
    #[arg(long)]
    sites: bool,
    /// Explore in this process, without a heading
    #[arg(long, hide = true)]
    alone: bool,
    /// List locks and shapes
    #[arg(long)]
    list: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.list {
        list();
        return ExitCode::SUCCESS;
    }
    match explore(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("stanchion-model: {error}");
            ExitCode::from(2)
        }
    }
}

fn list() {
    for lock in locks() {
        let shapes = lock.plan().map(|(shape, bound)| format!("{shape}:{}", bound_text(bound)));
        println!("{:<27}{}", lock.name, shapes.collect::<Vec<_>>().join(" "));
    }
    println!();
    for shape in shapes::all() {
        println!("{:<27}{}", shape.name, shape.about);
    }
}

fn bound_text(bound: Option<usize>) -> String {
    bound.map_or_else(|| "any".to_owned(), |bound| bound.to_string())
}

/// One exploration to be made.
struct Task {
    lock: &'static Lock,
    shape: &'static Shape,
    limits: Limits,
}

impl Task {
    /// The arguments that make another process explore it.
    fn arguments(&self, cli: &Cli) -> Vec<String> {
        let mut arguments = vec!["--alone".to_owned()];
        let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        add("--lock", self.lock.name.to_owned());
        add("--shape", self.shape.name.to_owned());
        add("--bound", bound_text(self.limits.preemptions));
        add("--seconds", cli.seconds.as_secs_f64().to_string());
        if let Some(weakening) = &cli.weaken {
            add("--weaken", weakening.to_string());
        }
        arguments.extend(cli.events.then(|| "--events".to_owned()));
        arguments.extend(cli.sites.then(|| "--sites".to_owned()));
        arguments
    }

    /// Explores it in this process and prints the row.
    fn explore(&self, cli: &Cli) -> bool {
        stanchion_model::weaken(cli.weaken.clone());
        if cli.sites {
            stanchion_model::note_sites();
        }
        let report = self.lock.check(self.shape, &self.limits);
        print(self, &report, cli.events);
        for (file, line, op) in stanchion_model::take_sites() {
            println!("site {} {} {file}:{line}:{op}", self.lock.name, self.shape.name);
        }
        if cli.weaken.is_some() {
            println!("weakened {} accesses", report.weakened);
        }
        report.failure.is_none()
    }
}

/// Explores everything that was asked for, each program in a process of its own: loom maps and unmaps a stack
/// for each context of each execution, which threads of one process would have to take turns at.
fn explore(cli: &Cli) -> Result<bool, String> {
    let tasks = tasks(cli)?;
    if cli.alone {
        return Ok(tasks.iter().filter(|task| !task.explore(cli)).count() == 0);
    }
    let program =
        std::env::current_exe().map_err(|error| format!("this program is not to be found: {error}"))?;
    println!("{:<27}{:<23}{:>5}{:>12}{:>9}  result", "lock", "shape", "bound", "executions", "seconds");
    let mut passed = true;
    let mut running: VecDeque<Child> = VecDeque::new();
    let mut waiting = tasks.iter();
    let jobs = cli.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    loop {
        while running.len() < jobs.max(1)
            && let Some(task) = waiting.next()
        {
            let child = Command::new(&program).args(task.arguments(cli)).stdout(Stdio::piped()).spawn();
            running.push_back(child.map_err(|error| format!("no process for {}: {error}", task.lock.name))?);
        }
        let Some(child) = running.pop_front() else { return Ok(passed) };
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        passed &= output.status.success();
        if !output.status.success() && output.status.code() != Some(1) {
            println!("a process of the check before ended with {}", output.status);
        }
        if cli.first && !passed {
            for mut child in running {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            }
            return Ok(false);
        }
    }
}

fn tasks(cli: &Cli) -> Result<Vec<Task>, String> {
    if let Some(unknown) = cli.lock.iter().find(|name| !locks().any(|lock| lock.name == **name)) {
        return Err(format!("there is no lock `{unknown}`; see --list"));
    }
    let bound = cli.bound.as_deref().map(parse_bound).transpose()?;
    let mut tasks = Vec::new();
    for lock in locks().filter(|lock| cli.lock.is_empty() || cli.lock.iter().any(|name| name == lock.name)) {
        for (shape, planned) in plan(lock, &cli.shape)? {
            let limits = Limits {
                preemptions: bound.unwrap_or(if cli.deep { deeper(shape, planned) } else { planned }),
                time: cli.seconds,
            };
            tasks.push(Task { lock, shape, limits });
        }
    }
    Ok(tasks)
}

/// The greater one of two bounds on preemptions.
fn deeper(shape: &Shape, planned: Option<usize>) -> Option<usize> {
    let same = |deeper: &&Planned| deeper.0 == shape.name;
    match (planned, DEEPER.iter().find(same).and_then(|deeper| deeper.1)) {
        (Some(planned), Some(deeper)) => Some(planned.max(deeper)),
        _ => planned,
    }
}

fn parse_bound(text: &str) -> Result<Option<usize>, String> {
    match text {
        "any" => Ok(None),
        number => number.parse().map(Some).map_err(|_| format!("`{number}` is neither a number nor `any`")),
    }
}

fn plan(lock: &Lock, chosen: &[String]) -> Result<Vec<(&'static Shape, Option<usize>)>, String> {
    let planned: Vec<_> = lock.plan().collect();
    let find = |name: &str| shapes::by_name(name).ok_or(format!("there is no shape `{name}`; see --list"));
    if chosen.is_empty() {
        return planned.into_iter().map(|(name, bound)| Ok((find(name)?, bound))).collect();
    }
    let bound =
        |name: &str| planned.iter().find(|(planned, _)| *planned == name).and_then(|(_, bound)| *bound);
    chosen.iter().map(|name| Ok((find(name)?, bound(name)))).collect()
}

fn print(task: &Task, report: &Report, events: bool) {
    let result = match &report.failure {
        Some(failure) => format!("FAILED {}: {}", failure.kind, failure.message),
        None if report.exhausted => "ok".to_owned(),
        None => "ok so far, not exhausted".to_owned(),
    };
    println!(
        "{:<27}{:<23}{:>5}{:>12}{:>9.1}  {result}",
        task.lock.name,
        task.shape.name,
        bound_text(task.limits.preemptions),
        report.executions,
        report.time.as_secs_f64(),
    );
    if events {
        let counted = report.events.iter().map(|(event, times)| format!("{}={times}", event.name()));
        println!("    {}", counted.collect::<Vec<_>>().join(" "));
    }
}
