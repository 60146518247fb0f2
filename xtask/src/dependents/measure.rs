//! `--bench`: a program for each crate that uses parking_lot, with 16 threads a CPU, built with the published
//! parking_lot and with the drop-in. Runs are interleaved, and compared within their round.
use super::{Subject, cargo};
use crate::built;
use crate::process::{self, shell};
use crate::workspace::provenance;
use anyhow::{Context as _, Error, Result, ensure};
use core::fmt::Write as _;
use core::time::Duration;
use lab_kit::output::create_for;
use lab_kit::stats::{Ratio, Summary};
use lab_kit::units::{three_figures, within};
use serde::Serialize;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{fs, thread};
use xshell::cmd;

const OVERCOMMIT: usize = 16;
/// How much longer than asked a program may take before it counts as hung.
const GRACE: Duration = Duration::from_mins(1);
/// Whose locks, in the order of all pairs here.
const WHOSE: [&str; 2] = ["without", "with"];

#[derive(clap::Args)]
pub(super) struct How {
    /// How often each program is measured with each parking_lot
    #[arg(long, value_name = "N", default_value = "5", value_parser = within(1_u32, 1000), requires = "bench")]
    rounds: u32,
    /// How long each time
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u64).range(1..), requires = "bench")]
    seconds: u64,
    /// Write what was measured into a file
    #[arg(long, value_name = "FILE", requires = "bench")]
    json: Option<PathBuf>,
    /// Write over that file
    #[arg(long, requires = "json")]
    force: bool,
}

#[derive(Serialize)]
struct Row {
    name: String,
    version: String,
    /// Steps a second of each round, with the published parking_lot.
    without: Vec<f64>,
    with: Vec<f64>,
    /// The geometric mean of the rounds' ratios, with the 95 % interval.
    ratio: Option<Ratio>,
}

pub(super) fn run(root: &Path, how: &How, chosen: &[Subject]) -> Result<bool> {
    let json = how.json.as_deref().map(|path| create_for("--json", path, how.force));
    let json = json.transpose().map_err(Error::msg)?;
    let threads = OVERCOMMIT * thread::available_parallelism()?.get();
    let mut measured = Vec::new();
    for subject in chosen.iter().filter(|subject| !subject.is_parking_lot()) {
        let programs = [build(root, subject, WHOSE[0])?, build(root, subject, WHOSE[1])?];
        measured.push((subject, programs, [Vec::new(), Vec::new()]));
    }
    ensure!(!measured.is_empty(), "none of these is a crate that uses parking_lot");
    for round in 0..how.rounds {
        for (subject, programs, rates) in &mut measured {
            // Each comes first in turn: whatever drifts, drifts for both.
            let first = round as usize % 2;
            for which in [first, 1 - first] {
                let rate = play(&programs[which], threads, how.seconds)?;
                println!("round {}: {} {} {}/s", round + 1, subject.name, WHOSE[which], three_figures(rate));
                rates[which].push(rate);
            }
        }
    }
    let rows: Vec<Row> = measured.into_iter().map(|(subject, _, rates)| row(subject, rates)).collect();
    if let Some(mut file) = json {
        let (provenance, seconds) = (provenance(root), how.seconds);
        let results =
            json!({ "provenance": provenance, "threads": threads, "seconds": seconds, "rows": rows });
        writeln!(file, "{results:#}")?;
    }
    print!("{}", table(threads, how.seconds, &rows));
    Ok(true)
}

fn build(root: &Path, subject: &Subject, whose: &str) -> Result<PathBuf> {
    let Subject { name, package, version, .. } = subject;
    let dir = built::target(root).join("dependents").join(name).join("bench").join(whose);
    let (sh, programs, with) = (shell(&dir)?, root.join("tests/dependents"), whose == "with");
    cargo::write_manifest(&sh, subject)?;
    sh.create_dir("src")?;
    sh.copy_file(programs.join(format!("{name}.rs")), "src/main.rs")?;
    sh.copy_file(programs.join("rounds.rs"), "src/rounds.rs")?;
    let patch = subject.patch(root);
    let words: &[&str] = if with { &[&patch] } else { &[] };
    cargo::settle(&dir, words)?;
    println!("--- building {package} {version} {whose} the drop-in");
    let cargo = cmd!(sh, "cargo build --quiet --release {words...}");
    cargo.env("CARGO_TARGET_DIR", dir.join("build")).run()?;
    let patched = cargo::is_patched(&sh.read_file("Cargo.lock")?, &subject.drop_in);
    ensure!(patched == with, "{name}: the other parking_lot is used {whose} the drop-in");
    Ok(dir.join("build/release/measured"))
}

/// Runs it once; what it checks itself has to be right.
fn play(program: &Path, threads: usize, seconds: u64) -> Result<f64> {
    let [out, err] = ["out", "err"].map(|name| program.with_extension(name));
    let mut command = Command::new(program);
    command.args([threads.to_string(), seconds.to_string()]).current_dir(program.parent().unwrap_or(program));
    let ended = process::run(&mut command, [&out, &err], Duration::from_secs(seconds) + GRACE)?.in_time();
    let printed = fs::read_to_string(&out)?;
    let rate = ended.filter(ExitStatus::success).and_then(|_| printed.trim().parse().ok());
    let told = ended.map_or("did not end in time".to_owned(), |status| format!("ended with {status}"));
    rate.with_context(|| format!("{} {told}; see {}", program.display(), err.display()))
}

fn row(subject: &Subject, [without, with]: [Vec<f64>; 2]) -> Row {
    let (name, version) = (subject.package.clone(), subject.version.clone());
    Row { name, version, ratio: Ratio::of(&[(&with, &without)]), without, with }
}

fn table(threads: usize, seconds: u64, rows: &[Row]) -> String {
    let mut text = format!(
        "\n{threads} threads ({OVERCOMMIT} a CPU), {seconds} s a run; steps a second, more is better\n\n\
         {:<20} {:>12} {:>12}   ratio (95 % interval), rounds\n",
        "", "parking_lot", "drop-in"
    );
    for Row { name, version, without, with, ratio } in rows {
        let [without, with] = [without, with].map(|rates| Summary::of(rates.clone()).middle(three_figures));
        let told = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio}, {}", ratio.pairs));
        let _ = writeln!(text, "{name:<13} {version:<6} {without:>12} {with:>12}   {told}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::choose;
    use super::*;

    #[test]
    fn a_program_that_fails_is_told_in_words() {
        let dir = std::env::temp_dir().join(format!("stanchion-measured-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a directory");
        std::os::unix::fs::symlink("/bin/false", dir.join("measured")).expect("a link");
        let error = play(&dir.join("measured"), 1, 1).expect_err("it fails").to_string();
        fs::remove_dir_all(&dir).expect("tidying up");
        assert!(error.contains("/measured ended with exit status: 1; see "), "{error}");
    }

    #[test]
    fn rounds_are_compared_within_themselves() {
        let subject = &choose(&crate::workspace::root(), &["r2d2".to_owned()], false).expect("one")[0];
        let rates = [vec![1e6, 1e5, 1e6], vec![2e6, 2e5, 2e6]];
        let told = table(32, 5, &[row(subject, rates)]);
        assert!(told.contains("   2.00 (2.00–2.00), 3"), "{told}");
        let single = table(32, 5, &[row(subject, [vec![1.0], vec![3.0]])]);
        assert!(single.contains("   3.00 (one value), 1"), "one round knows nothing of its spread");
    }
}
