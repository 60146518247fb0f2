//! How a CI run ended, job by job.
use core::fmt::Write as _;
use core::time::Duration;

/// How one job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All steps passed.
    Ok,
    /// A step failed; which one, and the last lines that it printed, if they are known.
    Failed { step: String, last: Vec<String> },
    /// The job could not run here; why.
    Skipped(String),
}

impl Outcome {
    /// This step failed, and what it printed is known to whoever reads on.
    pub(crate) fn failed(step: String) -> Self {
        Self::Failed { step, last: Vec::new() }
    }
}

/// One line of the summary.
pub(crate) struct Ended {
    /// Name of the job.
    pub(crate) name: &'static str,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// How long it took.
    pub(crate) took: Duration,
    /// The CPU time of its commands.
    pub(crate) cpu: Duration,
}

/// How the failures ended, then the summary table and its closing line: who has only the end of it sees why.
/// `took` is the time of the whole run: less than the sum of the jobs, which run side by side.
pub(crate) fn render(ended: &[Ended], took: Duration) -> String {
    let mut out = String::new();
    for job in ended {
        if let Outcome::Failed { last, .. } = &job.outcome
            && !last.is_empty()
        {
            let _ = writeln!(out, "=== how {} ended:\n{}\n", job.name, last.join("\n"));
        }
    }
    let (mut failed, mut skipped) = (0, 0);
    for job in ended {
        let (word, detail) = match &job.outcome {
            Outcome::Ok => ("ok", ""),
            Outcome::Failed { step, .. } => {
                failed += 1;
                ("FAILED", step.as_str())
            }
            Outcome::Skipped(why) => {
                skipped += 1;
                ("skipped", why.as_str())
            }
        };
        let (took, cpu) = (job.took.as_secs_f64(), job.cpu.as_secs_f64());
        let line = format!("{:<15} {word:<8} {took:>7.1} s {cpu:>7.1} s of CPU  {detail}", job.name);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let passed = ended.len() - failed - skipped;
    let cpu: Duration = ended.iter().map(|job| job.cpu).sum();
    let (took, cpu) = (took.as_secs_f64(), cpu.as_secs_f64());
    let _ = writeln!(
        out,
        "ci: {passed} ok, {failed} failed, {skipped} skipped in {took:.0} s, {cpu:.0} s of CPU time"
    );
    out
}

/// Whether the run as a whole passes: a skipped job does not fail it.
pub(crate) fn passes(ended: &[Ended]) -> bool {
    !ended.iter().any(|job| matches!(job.outcome, Outcome::Failed { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(name: &'static str, outcome: Outcome) -> Ended {
        Ended { name, outcome, took: Duration::from_millis(1260), cpu: Duration::from_secs(2) }
    }

    #[test]
    fn each_job_has_a_line() {
        let all = [
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
        assert_eq!(render(&all, Duration::from_secs(3)), expected);
        assert!(!passes(&all));
    }

    #[test]
    fn a_skip_fails_nothing() {
        assert!(passes(&[
            ended("fmt", Outcome::Ok),
            ended("tsan", Outcome::Skipped("no nightly".to_owned()))
        ]));
    }
}
