//! How a CI run ended, job by job: the table at its end, and the one in [`PATH`].
use super::Speed;
use core::fmt::Write as _;
use core::time::Duration;
use lab_kit::provenance::Provenance;
use std::path::Path;
use std::{fs, io};

/// How long the jobs of the last recorded run of each speed took.
const PATH: &str = "docs/ci-times.md";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    /// A step failed; which one, and the last lines that it printed, if they are known.
    Failed {
        step: String,
        last: Vec<String>,
    },
    Skipped(String),
}

impl Outcome {
    /// This step failed, and what it printed is known to whoever reads on.
    pub(crate) fn failed(step: String) -> Self {
        Self::Failed { step, last: Vec::new() }
    }

    fn told(&self) -> (&'static str, &str) {
        match self {
            Self::Ok => ("ok", ""),
            Self::Failed { step, .. } => ("FAILED", step),
            Self::Skipped(why) => ("skipped", why),
        }
    }
}

pub(crate) struct Ended {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
    pub(crate) cpu: Duration,
}

pub(crate) struct Summary {
    pub(crate) jobs: Vec<Ended>,
    /// Less than the sum of the jobs, which run side by side.
    pub(crate) took: Duration,
}

impl Summary {
    /// How the failures ended, then the table and its closing line: who has only the end of it sees why.
    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        for job in &self.jobs {
            if let Outcome::Failed { last, .. } = &job.outcome
                && !last.is_empty()
            {
                let _ = writeln!(out, "=== how {} ended:\n{}\n", job.name, last.join("\n"));
            }
        }
        for job in &self.jobs {
            let (word, detail) = job.outcome.told();
            let (took, cpu) = (job.took.as_secs_f64(), job.cpu.as_secs_f64());
            let line = format!("{:<15} {word:<8} {took:>7.1} s {cpu:>7.1} s of CPU  {detail}", job.name);
            let _ = writeln!(out, "{}", line.trim_end());
        }
        let count = |word| self.jobs.iter().filter(|job| job.outcome.told().0 == word).count();
        let (ok, failed, skipped) = (count("ok"), count("FAILED"), count("skipped"));
        let (took, cpu) = (self.took.as_secs_f64(), self.cpu());
        let ended = format!("ci: {ok} ok, {failed} failed, {skipped} skipped in {took:.0} s");
        out + &format!("{ended}, {cpu:.0} s of CPU time\n")
    }

    /// Whether the run as a whole passes. A skipped job fails it only if the jobs were `named` one by one.
    pub(crate) fn passes(&self, named: bool) -> bool {
        !self.jobs.iter().any(|job| match job.outcome {
            Outcome::Ok => false,
            Outcome::Failed { .. } => true,
            Outcome::Skipped(_) => named,
        })
    }

    fn cpu(&self) -> f64 {
        self.jobs.iter().map(|job| job.cpu).sum::<Duration>().as_secs_f64()
    }

    /// Writes the table of this run into the page, and keeps those of other speeds.
    pub(super) fn record(&self, root: &Path, speed: Speed) -> io::Result<()> {
        let path = root.join(PATH);
        let old = fs::read_to_string(&path).unwrap_or_default();
        let Provenance { cpu_model, cpus, rustc, commit, .. } = crate::workspace::provenance(root);
        let place = format!("{cpu_model}, {cpus} CPUs, {rustc}, commit {commit}");
        fs::write(&path, replaced(&old, speed, &self.section(&place)))?;
        println!("{PATH} is written");
        Ok(())
    }

    fn section(&self, place: &str) -> String {
        let mut out = format!("\n{place}\n\n| job | seconds | of CPU | |\n|---|---:|---:|---|\n");
        for job in &self.jobs {
            let how = match job.outcome.told().0 {
                "ok" => String::new(),
                word => word.to_lowercase(),
            };
            let (took, cpu) = (job.took.as_secs_f64(), job.cpu.as_secs_f64());
            let _ = writeln!(out, "| {} | {took:.0} | {cpu:.0} | {how} |", job.name);
        }
        let _ = writeln!(out, "| all | {:.0} | {:.0} | |", self.took.as_secs_f64(), self.cpu());
        out
    }
}

fn replaced(old: &str, speed: Speed, section: &str) -> String {
    let mut out = old.split("\n## ").next().unwrap_or_default().to_owned();
    for (each, title) in [
        (Speed::Quick, "\n## quick\n"),
        (Speed::Landing, "\n## what lands\n"),
        (Speed::Night, "\n## the night\n"),
    ] {
        let kept = old.split_once(title).map(|(_, rest)| rest.split("\n## ").next().unwrap_or_default());
        if let Some(section) = if each == speed { Some(section) } else { kept } {
            out += title;
            out += section;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(name: &str, outcome: Outcome) -> Ended {
        let (took, cpu) = (Duration::from_millis(1260), Duration::from_secs(2));
        Ended { name: name.to_owned(), outcome, took, cpu }
    }

    #[test]
    fn each_job_has_a_line() {
        let jobs = vec![
            ended("fmt", Outcome::Ok),
            ended(
                "test",
                Outcome::Failed {
                    step: "cargo test --workspace".to_owned(),
                    last: vec!["failures:".to_owned(), "    a".to_owned()],
                },
            ),
            ended("tidy", Outcome::failed("cargo xtask tidy".to_owned())),
            ended("tsan", Outcome::Skipped("no nightly".to_owned())),
        ];
        let all = Summary { jobs, took: Duration::from_secs(3) };
        let expected = "\
=== how test ended:
failures:
    a

fmt             ok           1.3 s     2.0 s of CPU
test            FAILED       1.3 s     2.0 s of CPU  cargo test --workspace
tidy            FAILED       1.3 s     2.0 s of CPU  cargo xtask tidy
tsan            skipped      1.3 s     2.0 s of CPU  no nightly
ci: 1 ok, 2 failed, 1 skipped in 3 s, 8 s of CPU time
";
        assert_eq!(all.render(), expected);
        assert!(!all.passes(false));
    }

    #[test]
    fn a_skip_fails_only_who_named_the_job() {
        let jobs = vec![ended("fmt", Outcome::Ok), ended("tsan", Outcome::Skipped("no nightly".to_owned()))];
        let all = Summary { jobs, took: Duration::ZERO };
        assert!(all.passes(false) && !all.passes(true));
    }

    #[test]
    fn a_run_replaces_the_table_of_its_speed_only() {
        let of = |seconds| {
            let took = Duration::from_secs(seconds);
            let fmt = Ended { name: "fmt".to_owned(), outcome: Outcome::Ok, took, cpu: took * 2 };
            Summary { jobs: vec![fmt], took }.section("a machine")
        };
        let one = replaced("# Times\n\nOf CI.\n", Speed::Landing, &of(3));
        assert!(
            one.starts_with("# Times\n\nOf CI.\n\n## ")
                && one.contains("## what lands")
                && one.contains("| fmt | 3 | 6 |  |"),
            "{one}"
        );
        let two = replaced(&one, Speed::Quick, &of(1));
        let again = replaced(&two, Speed::Landing, &of(2));
        assert!(two.contains("| fmt | 3 |") && two.contains("| fmt | 1 |"), "{two}");
        assert!(
            again.contains("| fmt | 2 |") && again.contains("| fmt | 1 |") && !again.contains("| fmt | 3 |")
        );
        assert_eq!(again.matches("## ").count(), 2);
    }
}
