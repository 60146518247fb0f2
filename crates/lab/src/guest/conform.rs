//! Conformance tests as `cargo test` prints them.
use super::record::{Test, TestOutcome, WIDTH, shown};
use super::report::Report;
use core::fmt::Write;

/// `test pv_qspin::excludes ... ok`. A failure that is `expected` is not told as `cargo test` tells one: who
/// searches a log for what failed is not to find it.
pub(crate) fn line(test: &Test, expected: bool) -> String {
    let outcome = match test.outcome {
        TestOutcome::Ok => "ok",
        TestOutcome::Failed if expected => "failed, as expected",
        TestOutcome::Failed => "FAILED",
        TestOutcome::Ignored => "ignored",
    };
    format!("test {} ... {outcome}", test.name)
}

/// What failed and why, and how many passed.
pub(crate) fn summary(report: &Report, expected: bool) -> String {
    let all = || report.runs.iter().flat_map(|run| &run.told.tests);
    let tests = |outcome| all().filter(move |test| test.outcome == outcome);
    let mut text = String::new();
    if tests(TestOutcome::Failed).next().is_some() {
        text.push_str(if expected { "\nexpected failures:\n" } else { "\nfailures:\n" });
        for test in tests(TestOutcome::Failed) {
            let detail = test.detail.as_deref().unwrap_or("the guest did not say why");
            let _ = writeln!(text, "\n---- {} ----", test.name);
            for line in detail.lines() {
                let _ = writeln!(text, "{}", shown(line, WIDTH));
            }
        }
    }
    let [passed, failed, ignored] =
        [TestOutcome::Ok, TestOutcome::Failed, TestOutcome::Ignored].map(|outcome| tests(outcome).count());
    let verdict = match (report.failures().next().is_some(), report.complete) {
        (true, _) if expected => "failed, as expected",
        (true, _) => "FAILED",
        (false, true) => "ok",
        (false, false) => "interrupted",
    };
    let wall: f64 = report.runs.iter().map(|run| run.cost.qemu_wall_s).sum();
    let _ = writeln!(
        text,
        "\ntest result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; finished in {wall:.2}s"
    );
    text
}
