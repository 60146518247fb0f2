//! `cargo xtask dependents`: the tests of parking_lot, and of published crates that use it, with it and with
//! the drop-in in its place.
//!
//! [`subjects`] is the list, [`place`] fetches and copies, [`own_tests`] makes parking_lot's tests a program,
//! [`outcome`] reads what cargo printed. [`measure`] measures programs that use the crates, with `--bench`.
mod measure;
mod outcome;
mod own_tests;
mod place;
mod subjects;

use crate::built;
use crate::process::{self, Ended};
use core::time::Duration;
use lab_kit::names::unknown;
use outcome::{Again, Outcome, Test, Verdict, count, lost, passes};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};
use subjects::{Kind, SUBJECTS, Subject};

/// What is asked for.
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
    #[arg(long, value_name = "MINUTES", default_value_t = 45)]
    minutes: u64,
    /// Measure programs that use the crates, with 16 threads a CPU, instead of running tests
    #[arg(long, conflicts_with_all = ["night", "list"])]
    bench: bool,
    #[command(flatten)]
    how: measure::How,
}

/// One row of the result.
struct Row {
    subject: &'static Subject,
    without: Outcome,
    with: Outcome,
    lost: Vec<Test>,
    /// Tests that chance decides on, without the drop-in as well.
    unsteady: Vec<Again>,
}

/// How often a lost test is run again without the drop-in and with it, at most.
const AGAIN: u32 = 30;

/// Does what is asked for.
pub(crate) fn run(root: &Path, request: &Request) -> io::Result<ExitCode> {
    let chosen = choose(&request.only, request.night || request.bench)?;
    if request.list {
        for subject in chosen {
            let (package, version) = subject.package;
            println!(
                "{:<18} {package} {version}{}",
                subject.name,
                if subject.night { " (night)" } else { "" }
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    process::catch_interrupts()?;
    if request.bench {
        return measure::run(root, &request.how, &chosen);
    }
    let limit = Duration::from_secs(request.minutes * 60);
    let mut rows = Vec::new();
    for subject in chosen {
        rows.push(Bench { root, subject, limit }.compare()?);
    }
    print!("{}", table(&rows));
    Ok(if rows.iter().all(|row| row.lost.is_empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn choose(only: &[String], night: bool) -> io::Result<Vec<&'static Subject>> {
    for name in only {
        if !SUBJECTS.iter().any(|subject| subject.name == name) {
            return Err(io::Error::other(unknown(
                "dependent",
                name,
                SUBJECTS.iter().map(|subject| subject.name),
            )));
        }
    }
    let wanted = |subject: &&Subject| match only {
        [] => night || !subject.night,
        only => only.iter().any(|name| name == subject.name),
    };
    Ok(SUBJECTS.iter().filter(wanted).collect())
}

/// Where one subject is tried.
struct Bench<'a> {
    root: &'a Path,
    subject: &'static Subject,
    limit: Duration,
}

impl Bench<'_> {
    fn dir(&self) -> PathBuf {
        built::target(self.root).join("dependents").join(self.subject.name)
    }

    fn compare(&self) -> io::Result<Row> {
        let source = place::fetch(&self.dir().join("fetch"), self.subject.package)?;
        let [without, with] = ["without", "with"].map(|name| self.dir().join(name));
        for copy in [&without, &with] {
            place::copy(&source, copy)?;
        }
        let drop_in = self.root.join("crates").join(self.subject.drop_in);
        let patch = format!("patch.crates-io.parking_lot.path=\"{}\"", drop_in.display());
        let words = self.subject.words;
        if matches!(self.subject.kind, Kind::Dependent { .. }) {
            place::settle(&without, &[])?;
        }
        let before = self.test(&without, "log", &[words])?;
        let (after, left_out) = match self.subject.kind {
            Kind::Dependent { .. } => {
                place::settle(&with, &["--config", &patch])?;
                (self.test(&with, "log", &[words, &["--config", &patch]])?, &[][..])
            }
            Kind::Itself { helpers, inside } => {
                let features = words.last().copied().unwrap_or_default();
                place::rename(&with, &drop_in, &self.root.join("crates/stanchion"), features)?;
                own_tests::write(&with.join("src"), &with.join("tests/own.rs"), helpers, inside)?;
                let programs = self.test(&with, "log", &[words, &["--test", "*"]])?;
                let programs = programs.into_iter().map(|((target, name), verdict)| {
                    let target = if target == "tests/own.rs" { "src/lib.rs".to_owned() } else { target };
                    ((target, name), verdict)
                });
                let mut all: Outcome = programs.collect();
                all.extend(self.test(&with, "doc.log", &[words, &["--doc"]])?);
                (all, inside)
            }
        };
        let lock = fs::read_to_string(with.join("Cargo.lock"))?;
        let version = self.subject.drop_in.rsplit('-').next().unwrap_or_default();
        if !place::is_patched(&lock, &format!("{version}.")) {
            return Err(io::Error::other(format!("{}: the drop-in is not used", self.subject.name)));
        }
        let (mut lost, mut unsteady) = (lost(&before, &after, left_out), Vec::new());
        if matches!(self.subject.kind, Kind::Dependent { .. }) && !lost.is_empty() {
            let sides: [(&Path, &[&str]); 2] = [(&without, &[]), (&with, &["--config", &patch])];
            let again: Vec<Again> =
                lost.iter().map(|test| self.again(test, sides)).collect::<io::Result<_>>()?;
            unsteady = again.into_iter().filter(|again| !again.is_lost()).collect();
            lost.retain(|test| unsteady.iter().all(|again| again.test != *test));
        }
        Ok(Row { subject: self.subject, without: before, with: after, lost, unsteady })
    }

    /// Runs one test again until it is known that chance decides on both sides, or so often that it is not.
    fn again(&self, test: &Test, sides: [(&Path, &[&str]); 2]) -> io::Result<Again> {
        let mut again = Again { test: test.clone(), runs: 0, failed: [0; 2] };
        while again.runs < AGAIN && again.is_lost() {
            again.runs += 1;
            for ((copy, patch), failed) in sides.iter().zip(&mut again.failed) {
                let only = ["--", "--exact", &test.1];
                let outcome = self.test(copy, "again.log", &[self.subject.words, patch, &only])?;
                *failed += u32::from(!passes(&outcome, test));
            }
        }
        Ok(again)
    }

    /// Runs the tests there; what cargo prints is kept beside the copy.
    fn test(&self, copy: &Path, log: &str, words: &[&[&str]]) -> io::Result<Outcome> {
        let mut all = vec!["cargo", "test", "--no-fail-fast"];
        all.extend(words.iter().flat_map(|words| words.iter()));
        let all: Vec<String> = all.into_iter().map(str::to_owned).collect();
        let log = copy.with_extension(log);
        println!("--- {}: {}", copy.strip_prefix(self.root).unwrap_or(copy).display(), all.join(" "));
        let target = self.dir().join("build").display().to_string();
        let set = [
            ("CARGO_TARGET_DIR", &*target),
            ("CARGO_INCREMENTAL", "0"),
            ("CARGO_PROFILE_DEV_DEBUG", "false"),
        ];
        let env = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (ended, _) = process::start(&all, &env, copy, &log, &log)?.wait(self.limit)?;
        let outcome = outcome::read(&fs::read_to_string(&log)?);
        let told = format!("see {}", log.display());
        match ended {
            Ended::Exited(_) if !outcome.is_empty() => Ok(outcome),
            Ended::Exited(_) => Err(io::Error::other(format!("{}: no test ran; {told}", self.subject.name))),
            Ended::Interrupted => Err(io::Error::other("interrupted")),
            Ended::TimedOut | Ended::Signalled(_) => {
                Err(io::Error::other(format!("{}: the tests did not end in time; {told}", self.subject.name)))
            }
        }
    }
}

fn table(rows: &[Row]) -> String {
    let head = ["passed", "failed", "passed", "failed", "lost"].map(str::to_owned);
    let mut lines =
        vec![String::new(), format!("{:<18} {:>19} {:>19}", "", "parking_lot", "drop-in"), line("", &head)];
    for Row { subject, without, with, lost, .. } in rows {
        let counts = [without, with]
            .map(|outcome| [Verdict::Passed, Verdict::Failed].map(|kind| count(outcome, kind)));
        let [[passed, failed], [still, less]] = counts;
        lines.push(line(
            subject.name,
            &[passed, failed, still, less, lost.len()].map(|count| count.to_string()),
        ));
    }
    for row in rows {
        let name = row.subject.name;
        let told =
            |(target, test): &Test| format!("{name}: passes without the drop-in only: {target}: {test}");
        lines.extend(row.lost.iter().map(told));
        lines.extend(row.unsteady.iter().map(|Again { test: (target, test), runs, failed: [without, with] }| {
            format!("{name}: chance decides: {target}: {test}: of {runs} more runs, {without} fail without the drop-in and {with} with it")
        }));
    }
    lines.join("\n") + "\n"
}

fn line(name: &str, cells: &[String; 5]) -> String {
    let [passed, failed, still, less, lost] = cells;
    format!("{name:<18} {passed:>9} {failed:>9} {still:>9} {less:>9} {lost:>9}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_night_run_when_asked_for() {
        let names = |only: &[&str], night| {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            choose(&only, night).map(|chosen| chosen.iter().map(|subject| subject.name).collect::<Vec<_>>())
        };
        let by_day = names(&[], false).expect("all");
        assert!(by_day.contains(&"prometheus") && !by_day.contains(&"tokio"));
        assert!(names(&[], true).expect("all").contains(&"tokio"));
        assert_eq!(names(&["tokio"], false).expect("one"), ["tokio"]);
        assert!(names(&["tokyo"], false).expect_err("unknown").to_string().contains("tokio"));
    }

    #[test]
    fn what_is_lost_is_told() {
        let outcome = outcome::read("     Running tests/a.rs (x)\ntest one ... ok\ntest two ... ok\n");
        let mut with = outcome.clone();
        with.insert(("tests/a.rs".to_owned(), "two".to_owned()), Verdict::Failed);
        let lost = lost(&outcome, &with, &[]);
        let told =
            table(&[Row { subject: &SUBJECTS[0], without: outcome, with, lost, unsteady: Vec::new() }]);
        assert!(told.contains("passes without the drop-in only: tests/a.rs: two"), "{told}");
    }
}
