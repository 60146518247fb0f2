//! `cargo xtask dependents`: tests of parking_lot and of crates that use it, with it and with the drop-in.
//!
//! `tests/dependents/subjects.toml` is the list, [`mod@cargo`] fetches, copies and reads results,
//! [`own_tests`] makes parking_lot's tests a program, [`measure`] measures programs that use the crates.
mod cargo;
mod measure;
mod own_tests;

use crate::built;
use crate::files::entries;
use crate::process;
use anyhow::{Error, Result, bail, ensure};
use cargo::{Again, OWN_TESTS, Outcome, Test, lost};
use core::fmt::Write as _;
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::names::chosen;
use lab_kit::units::within;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIST: &str = "tests/dependents/subjects.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subject {
    name: String,
    package: String,
    version: String,
    /// The version of parking_lot that it uses, and a drop-in takes the place of.
    drop_in: String,
    /// Separated by commas.
    #[serde(default)]
    features: String,
    /// More words for `cargo test`.
    #[serde(default)]
    words: Vec<String>,
    /// Of parking_lot's own tests those that look inside: they are left out.
    #[serde(default)]
    inside: Vec<String>,
    /// It takes long: only with `--night`, or by name.
    #[serde(default)]
    night: bool,
}

impl Subject {
    /// Whether this is parking_lot, whose tests are compiled against the drop-in, and no crate that uses it.
    fn is_parking_lot(&self) -> bool {
        self.package == "parking_lot"
    }

    fn drop_in(&self, root: &Path) -> String {
        root.join(format!("crates/parking_lot-{}", self.drop_in)).display().to_string()
    }

    fn patch(&self, root: &Path) -> String {
        format!("--config=patch.crates-io.parking_lot.path={:?}", self.drop_in(root))
    }
}

#[derive(clap::Args)]
pub(crate) struct Request {
    /// Only these, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Those that take long as well
    #[arg(long)]
    night: bool,
    /// List them and run none
    #[arg(long)]
    list: bool,
    /// How long one run of the tests of one crate may take, building included
    #[arg(long, value_name = "MINUTES", default_value_t = 45, value_parser = within(1_u64, 1440))]
    minutes: u64,
    /// Measure programs that use the crates, with 16 threads a CPU, instead of running tests
    #[arg(long, conflicts_with_all = ["night", "list"])]
    bench: bool,
    #[command(flatten)]
    how: measure::How,
}

struct Row {
    subject: String,
    without: Outcome,
    with: Outcome,
    lost: Vec<Test>,
    /// Tests that chance decides on, without the drop-in as well.
    unsteady: Vec<Again>,
}

/// How often a lost test is run again without the drop-in and with it, at most.
const AGAIN: u32 = 30;

pub(crate) fn run(root: &Path, request: &Request) -> Result<bool> {
    let chosen = choose(root, &request.only, request.night || request.bench)?;
    if request.list {
        for Subject { name, package, version, night, .. } in &chosen {
            println!("{name:<18} {package} {version}{}", if *night { " (night)" } else { "" });
        }
        return Ok(true);
    }
    process::catch_interrupts()?;
    if request.bench {
        return measure::run(root, &request.how, &chosen);
    }
    let limit = Duration::from_secs(request.minutes * 60);
    let (mut rows, mut failed) = (Vec::new(), false);
    for subject in &chosen {
        let dir = built::target(root).join("dependents").join(&subject.name);
        match (Bench { root, subject, dir, limit }).compare() {
            Ok(row) => rows.push(row),
            Err(error) if interrupt::requested() => return Err(error),
            Err(error) => {
                println!("{}: {error:#}", subject.name);
                failed = true;
            }
        }
    }
    print!("{}", table(&rows));
    Ok(!failed && rows.iter().all(|row| row.lost.is_empty()))
}

/// Those named in `only`, or all that run by day, or at night.
fn choose(root: &Path, only: &[String], night: bool) -> Result<Vec<Subject>> {
    let all: Vec<Subject> = entries(root, LIST, "subject")?;
    let mut subjects = chosen("dependent", all, only, |subject| &subject.name).map_err(Error::msg)?;
    subjects.retain(|subject| !only.is_empty() || night || !subject.night);
    Ok(subjects)
}

struct Bench<'a> {
    root: &'a Path,
    subject: &'a Subject,
    dir: PathBuf,
    limit: Duration,
}

impl Bench<'_> {
    fn compare(&self) -> Result<Row> {
        let subject = self.subject;
        let source = cargo::fetch(&self.dir.join("fetch"), subject)?;
        let [without, with] = ["without", "with"].map(|name| self.dir.join(name));
        for copy in [&without, &with] {
            cargo::copy(&source, copy)?;
        }
        let (patch, is_parking_lot) = (subject.patch(self.root), subject.is_parking_lot());
        let patch = [patch.as_str()];
        if !is_parking_lot {
            cargo::settle(&without, &[])?;
            cargo::settle(&with, &patch)?;
        }
        let before = self.test(&without, "log", &[])?;
        let after = if is_parking_lot { self.own_tests(&with)? } else { self.test(&with, "log", &patch)? };
        let lock = fs::read_to_string(with.join("Cargo.lock"))?;
        ensure!(cargo::is_patched(&lock, &subject.drop_in), "{}: the drop-in is not used", subject.name);
        let (mut lost, mut unsteady) = (lost(&before, &after, &subject.inside), Vec::new());
        for test in lost.iter().filter(|_| !is_parking_lot) {
            let again = self.again(test, [(&without, &[]), (&with, &patch)])?;
            unsteady.extend((!again.is_lost()).then_some(again));
        }
        lost.retain(|test| unsteady.iter().all(|again| again.test != *test));
        Ok(Row { subject: subject.name.clone(), without: before, with: after, lost, unsteady })
    }

    fn own_tests(&self, with: &Path) -> Result<Outcome> {
        let Self { root, subject, .. } = self;
        let features: Vec<&str> = subject.features.split(',').collect();
        let stanchion = root.join("crates/stanchion").display().to_string();
        cargo::rename(with, &subject.drop_in(root), &stanchion, &features)?;
        let helpers = root.join(LIST).with_file_name(format!("helpers-{}.rs", subject.drop_in));
        let helpers = fs::read_to_string(helpers)?;
        own_tests::write(&with.join("src"), &with.join(OWN_TESTS), &helpers, &subject.inside)?;
        let mut all = self.test(with, "log", &["--test", "*"])?;
        let Outcome { passed, failed } = self.test(with, "doc.log", &["--doc"])?;
        all.passed.extend(passed);
        all.failed += failed;
        Ok(all)
    }

    /// Runs one test again until it is known that chance decides on both sides, or so often that it is not.
    fn again(&self, test: &Test, sides: [(&Path, &[&str]); 2]) -> Result<Again> {
        let mut again = Again { test: test.clone(), runs: 0, failed: [0; 2] };
        while again.runs < AGAIN && again.is_lost() {
            again.runs += 1;
            for ((copy, patch), failed) in sides.iter().zip(&mut again.failed) {
                let words = [patch, &["--", "--exact", &test.1][..]].concat();
                let passes = match self.test(copy, "again.log", &words) {
                    Err(error) if interrupt::requested() => return Err(error),
                    // It ended its process, or did not end in time.
                    outcome => outcome.is_ok_and(|outcome| outcome.passed.contains(test)),
                };
                *failed += u32::from(!passes);
            }
        }
        Ok(again)
    }

    /// Runs the tests there; what cargo prints is kept beside the copy.
    fn test(&self, copy: &Path, log: &str, words: &[&str]) -> Result<Outcome> {
        let Subject { name, features, words: own, .. } = self.subject;
        let log = copy.with_extension(log);
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--no-fail-fast", "--features", features]).args(own).args(words);
        println!("--- {}: {cargo:?}", copy.strip_prefix(self.root).unwrap_or(copy).display());
        cargo.current_dir(copy).env("CARGO_TARGET_DIR", self.dir.join("build"));
        cargo.envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "false")]);
        let ended = process::run(&mut cargo, [&log, &log], self.limit)?.in_time();
        let outcome = cargo::read(&fs::read_to_string(&log)?);
        let told = format!("see {}", log.display());
        match ended.and_then(|status| status.code()) {
            Some(_) if outcome.passed.len() + outcome.failed > 0 => Ok(outcome),
            Some(_) => bail!("{name}: no test ran; {told}"),
            None => bail!("{name}: the tests did not end in time; {told}"),
        }
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "\n{:<18} {:>19} {:>19}\n{:<18} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "", "parking_lot", "drop-in", "", "passed", "failed", "passed", "failed", "lost"
    );
    for Row { subject, without, with, lost, .. } in rows {
        let counts = [without.passed.len(), without.failed, with.passed.len(), with.failed, lost.len()];
        let _ = writeln!(text, "{subject:<18}{}", counts.map(|count| format!(" {count:>9}")).concat());
    }
    for Row { subject, lost, unsteady, .. } in rows {
        for (target, test) in lost {
            let _ = writeln!(text, "{subject}: passes without the drop-in only: {target}: {test}");
        }
        for Again { test: (target, test), runs, failed: [without, with] } in unsteady {
            let _ = writeln!(
                text,
                "{subject}: chance decides: {target}: {test}: of {runs} more runs, {without} fail without the drop-in and {with} with it"
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_night_run_when_asked_for() {
        let names = |only: &[&str], night| {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            choose(&crate::workspace::root(), &only, night)
                .map(|chosen| chosen.into_iter().map(|subject| subject.name).collect::<Vec<_>>())
        };
        let by_day = names(&[], false).expect("all");
        assert!(by_day.iter().any(|name| name == "prometheus") && !by_day.iter().any(|name| name == "tokio"));
        assert!(names(&[], true).expect("all").iter().any(|name| name == "tokio"));
        assert_eq!(names(&["tokio"], false).expect("one"), ["tokio"]);
        assert!(names(&["tokyo"], false).expect_err("unknown").to_string().contains("tokio"));
    }

    #[test]
    fn what_is_lost_is_told() {
        let outcome = cargo::read("     Running tests/a.rs (x)\ntest one ... ok\ntest two ... ok\n");
        let mut with = outcome.clone();
        with.passed.remove(&("tests/a.rs".to_owned(), "two".to_owned()));
        let lost = lost(&outcome, &with, &[]);
        let told =
            table(&[Row { subject: "a".to_owned(), without: outcome, with, lost, unsteady: Vec::new() }]);
        assert!(told.contains("passes without the drop-in only: tests/a.rs: two"), "{told}");
    }
}
