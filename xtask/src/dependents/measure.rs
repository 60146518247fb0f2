//! `--bench`: a program for each crate that uses parking_lot (`tests/dependents`), with 16 threads a CPU,
//! built with the published parking_lot and with the drop-in. Runs are interleaved, and compared within
//! their round.
use super::place;
use super::subjects::{Kind, Subject};
use crate::built;
use crate::capi::must_succeed;
use crate::process::{self, Ended};
use core::fmt::Write as _;
use core::time::Duration;
use lab_kit::output::create_json;
use lab_kit::provenance::Provenance;
use lab_kit::stats::{Ratio, median};
use lab_kit::units::three_figures;
use serde::Serialize;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io, thread};

const OVERCOMMIT: usize = 16;
/// How much longer than asked a program may take before it counts as hung.
const GRACE: Duration = Duration::from_mins(1);
const SHARED: &str = include_str!("../../../tests/dependents/rounds.rs");
/// Whose locks, in the order of all pairs here.
const WHOSE: [&str; 2] = ["without", "with"];

/// How to measure.
#[derive(clap::Args)]
pub(super) struct How {
    /// How often each program is measured with each parking_lot
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..), requires = "bench")]
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
struct Results {
    provenance: Provenance,
    threads: usize,
    seconds: u64,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    version: &'static str,
    /// Steps a second of each round, with the published parking_lot.
    without: Vec<f64>,
    with: Vec<f64>,
    /// The median of the rounds' ratios.
    median: f64,
    /// Their geometric mean, with the 95 % interval.
    ratio: Option<Ratio>,
}

pub(super) fn run(root: &Path, how: &How, chosen: &[&'static Subject]) -> io::Result<ExitCode> {
    let json =
        how.json.clone().map(|path| create_json(path, how.force)).transpose().map_err(io::Error::other)?;
    let threads = OVERCOMMIT * thread::available_parallelism()?.get();
    let mut built = Vec::new();
    for subject in chosen {
        if let Kind::Dependent { program } = subject.kind {
            built.push((*subject, build(root, subject, program)?));
        }
    }
    if built.is_empty() {
        return Err(io::Error::other("none of these is a crate that uses parking_lot"));
    }
    let mut rates = vec![[Vec::new(), Vec::new()]; built.len()];
    for round in 0..how.rounds {
        for ((subject, programs), rates) in built.iter().zip(&mut rates) {
            // Each comes first in turn: whatever drifts, drifts for both.
            let first = round as usize % 2;
            for which in [first, 1 - first] {
                let rate = play(&programs[which], threads, how.seconds)?;
                println!("round {}: {} {} {}/s", round + 1, subject.name, WHOSE[which], three_figures(rate));
                rates[which].push(rate);
            }
        }
    }
    let rows = built.iter().zip(rates).map(|((subject, _), rates)| row(subject, rates)).collect();
    // What is measured is built in release mode, whatever this command is.
    let provenance = Provenance { build: "release".to_owned(), ..Provenance::collect(0) };
    let results = Results { provenance, threads, seconds: how.seconds, rows };
    if let Some((_, mut file)) = json {
        writeln!(file, "{}", serde_json::to_string_pretty(&results)?)?;
    }
    print!("{}", table(&results));
    Ok(ExitCode::SUCCESS)
}

/// Builds the program with each parking_lot, and says where both are.
fn build(root: &Path, subject: &Subject, program: &str) -> io::Result<[PathBuf; 2]> {
    let (name, version) = subject.package;
    let below = built::target(root).join("dependents").join(subject.name).join("bench");
    let drop_in = root.join("crates").join(subject.drop_in);
    let patch = format!("patch.crates-io.parking_lot.path=\"{}\"", drop_in.display());
    let features = features(subject.words);
    let make = |whose: &str| -> io::Result<PathBuf> {
        let dir = below.join(whose);
        fs::create_dir_all(dir.join("src"))?;
        fs::write(
            dir.join("Cargo.toml"),
            format!(
                "[workspace]\n[package]\nname = \"measured\"\nedition = \"2024\"\n[dependencies]\n{name} = {{ version = \"={version}\", features = {features:?} }}\n"
            ),
        )?;
        fs::write(dir.join("src/main.rs"), program)?;
        fs::write(dir.join("src/rounds.rs"), SHARED)?;
        let words: &[&str] = if whose == "with" { &["--config", &patch] } else { &[] };
        place::settle(&dir, words)?;
        println!("--- building {name} {version} {whose} the drop-in");
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet", "--release"]).args(words).current_dir(&dir);
        must_succeed(cargo.env("CARGO_TARGET_DIR", dir.join("build")))?;
        let lock = fs::read_to_string(dir.join("Cargo.lock"))?;
        let kind = subject.drop_in.rsplit('-').next().unwrap_or_default();
        if place::is_patched(&lock, &format!("{kind}.")) != (whose == "with") {
            return Err(io::Error::other(format!(
                "{name}: the other parking_lot is used {whose} the drop-in"
            )));
        }
        Ok(dir.join("build/release/measured"))
    };
    let [without, with] = WHOSE.map(make);
    Ok([without?, with?])
}

/// Those that the words for cargo ask for.
fn features<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let asked = words.windows(2).filter(|pair| pair[0] == "--features");
    asked.flat_map(|pair| pair[1].split(',')).collect()
}

/// Runs it once; what it checks itself has to be right.
fn play(program: &Path, threads: usize, seconds: u64) -> io::Result<f64> {
    let words = [program.display().to_string(), threads.to_string(), seconds.to_string()];
    let [out, err] = ["out", "err"].map(|name| program.with_extension(name));
    let dir = program.parent().unwrap_or(program);
    let limit = Duration::from_secs(seconds) + GRACE;
    let (ended, _) = process::start(&words, &[], dir, &out, &err)?.wait(limit)?;
    let rate = fs::read_to_string(&out)?.trim().parse().ok().filter(|_| ended == Ended::Exited(0));
    rate.ok_or_else(|| io::Error::other(format!("{}: {ended:?}; see {}", program.display(), err.display())))
}

fn row(subject: &Subject, [without, with]: [Vec<f64>; 2]) -> Row {
    let ratios: Vec<f64> = with.iter().zip(&without).map(|(with, without)| with / without).collect();
    let (name, version) = subject.package;
    let ratio = Ratio::of(&[(&with, &without)]);
    Row { name, version, median: median(&ratios), ratio, without, with }
}

fn table(results: &Results) -> String {
    let Results { threads, seconds, rows, .. } = results;
    let mut text = format!(
        "\n{threads} threads ({OVERCOMMIT} a CPU), {seconds} s a run; steps a second, more is better\n\n\
         {:<20} {:>12} {:>12} {:>13}   geometric mean (95 % interval), rounds\n",
        "", "parking_lot", "drop-in", "median ratio"
    );
    for Row { name, version, without, with, median: middle, ratio } in rows {
        let [without, with] = [without, with].map(|rates| three_figures(median(rates)));
        let told = ratio.and_then(|ratio| ratio.told()).unwrap_or_else(|| "not known".to_owned());
        let rounds = ratio.map_or(0, |ratio| ratio.pairs);
        let middle = three_figures(*middle);
        let _ = writeln!(
            text,
            "{name:<13} {version:<6} {without:>12} {with:>12} {middle:>13}   {told}, {rounds}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::subjects::SUBJECTS;
    use super::*;

    #[test]
    fn rounds_are_compared_within_themselves() {
        let rates = [vec![1e6, 1e5, 1e6], vec![2e6, 2e5, 2e6]];
        let results = Results {
            provenance: Provenance::collect(0),
            threads: 32,
            seconds: 5,
            rows: vec![row(&SUBJECTS[2], rates)],
        };
        let told = table(&results);
        assert!(told.contains(" 2.00   2.00 (2.00–2.00), 3"), "{told}");
        let single = Results { rows: vec![row(&SUBJECTS[2], [vec![1.0], vec![3.0]])], ..results };
        assert!(table(&single).contains(" 3.00   not known, 1"), "one round knows nothing of its spread");
    }

    #[test]
    fn a_program_has_the_features_of_the_tests() {
        assert_eq!(features(&["--features", "full,test", "--config", "x"]), ["full", "test"]);
        assert!(features(&["--config", "x"]).is_empty());
    }
}
