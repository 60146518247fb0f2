//! `--measure`: interleaved runs of each program under each lock, written down after every one.
use super::kit::Kit;
use super::play::{Lock, Verdict, play};
use super::table::Program;
use super::{Request, get_ready, levels, report, row};
use crate::process;
use lab_kit::progress::Progress;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// One run, as it is written down.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Run {
    pub(crate) program: String,
    /// Threads for each CPU.
    pub(crate) overcommit: usize,
    pub(crate) lock: String,
    pub(crate) repetition: u64,
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    /// Of the program's own kind, a second; more is better.
    pub(crate) rate: Option<f64>,
    pub(crate) seconds: f64,
    /// The most memory that a command under the lock was seen to have.
    pub(crate) peak_kib: u64,
}

/// Everything that is known about a measurement.
#[derive(Serialize)]
pub(crate) struct Results {
    pub(crate) machine: String,
    pub(crate) cpus: usize,
    pub(crate) commit: String,
    pub(crate) arguments: String,
    pub(crate) not_here: Vec<String>,
    /// Ended by Ctrl-C or before its last repetition.
    pub(crate) complete: bool,
    pub(crate) runs: Vec<Run>,
}

/// Measures, and writes programs.json and programs.md.
pub(super) fn run(
    root: &Path,
    kit: &mut Kit,
    programs: &[Program],
    absent: &[Program],
    locks: &[Lock],
    request: &Request,
) -> io::Result<ExitCode> {
    let out = request.out.clone().unwrap_or_else(|| crate::built::target(root).join("programs/measured"));
    if out.join("programs.json").exists() && !request.force {
        let what = format!("{} has results already; --force writes over them", out.display());
        return Err(io::Error::other(what));
    }
    if !locks.iter().any(|lock| lock.name == "libc") {
        return Err(io::Error::other("ratios are to libc; add it to --locks"));
    }
    fs::create_dir_all(&out)?;
    let mut results = Results {
        machine: machine(),
        cpus: kit.cpus,
        commit: said_by(
            "git",
            &["-C", &root.display().to_string(), "describe", "--always", "--dirty", "--abbrev=12"],
        ),
        arguments: env::args().skip(1).collect::<Vec<_>>().join(" "),
        not_here: absent.iter().map(|program| program.name.clone()).collect(),
        complete: false,
        runs: Vec::new(),
    };
    let progress =
        Progress::new((programs.len() * 2 * locks.len() * request.runs as usize) as u64, false).ticking();
    for program in programs {
        progress.now(format!("making ready {}", program.name));
        get_ready(kit, program, locks)?;
    }
    'all: for repetition in 0..request.runs {
        for program in programs {
            for overcommit in levels(program) {
                // Each lock comes first in turn: whatever drifts, drifts for all.
                let first = repetition as usize % locks.len();
                for lock in locks[first..].iter().chain(&locks[..first]) {
                    progress.now(format!(
                        "run {}: {} {overcommit}x {}",
                        repetition + 1,
                        program.name,
                        lock.name
                    ));
                    let stage = kit.stage(program, overcommit, lock)?;
                    let Some(played) = play(program, lock, &stage)? else { break 'all };
                    progress.done(&line(
                        program,
                        overcommit,
                        lock,
                        &played.verdict,
                        played.seconds,
                        played.rate,
                    ));
                    if played.verdict != Verdict::Right {
                        kit.keep(&stage, &format!("{}-{overcommit}x-{}", program.name, lock.name))?;
                    }
                    results.runs.push(Run {
                        program: program.name.clone(),
                        overcommit,
                        lock: lock.name.clone(),
                        repetition,
                        verdict: played.verdict,
                        rate: played.rate,
                        seconds: played.seconds,
                        peak_kib: played.peak_kib,
                    });
                    write(&out, &results, programs)?;
                }
            }
        }
    }
    progress.finish();
    results.complete = !process::interrupted();
    write(&out, &results, programs)?;
    print!("{}", report::markdown(&results, programs));
    println!("\nwritten to {}", out.display());
    let right = results.runs.iter().all(|run| run.verdict == Verdict::Right);
    Ok(if results.complete && right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(
    program: &Program,
    overcommit: usize,
    lock: &Lock,
    verdict: &Verdict,
    seconds: f64,
    rate: Option<f64>,
) -> String {
    let rate = rate.map_or_else(String::new, |rate| format!(", {}/s", report::short(rate)));
    row(&program.name, overcommit, &lock.name, verdict, seconds) + &rate
}

/// A reader never finds half a file.
fn write(out: &Path, results: &Results, programs: &[Program]) -> io::Result<()> {
    let json = serde_json::to_string_pretty(results).map_err(io::Error::other)?;
    for (name, text) in [("programs.json", json + "\n"), ("programs.md", report::markdown(results, programs))]
    {
        let draft = out.join(format!("{name}.new"));
        fs::write(&draft, text)?;
        fs::rename(&draft, out.join(name))?;
    }
    Ok(())
}

fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown CPU", |(_, model)| model);
    let glibc = said_by("getconf", &["GNU_LIBC_VERSION"]);
    format!("{model}, kernel {}, {glibc}", said_by("uname", &["-r"]))
}

fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let printed =
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if printed.is_empty() { "unknown".to_owned() } else { printed }
}
