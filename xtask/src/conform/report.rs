//! The verdicts as a table, test by library, and as JSON.
use super::runner::Verdict;
use super::{Case, Column};
use core::fmt::Write as _;
use core::time::Duration;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;
use std::{fs, io};

/// The group of tests that published tables show, whose rows are always printed.
pub(super) const PROBE: &str = "probe.";
/// How often the file is written while the tests run.
const EVERY: Duration = Duration::from_secs(2);

/// All verdicts so far.
pub(super) struct Results {
    columns: Vec<(String, Option<String>)>,
    tests: Vec<String>,
    /// Of each column, of each test.
    verdicts: Vec<Vec<Option<Verdict>>>,
    written: Instant,
}

/// A line of the file.
#[derive(Serialize)]
struct Line<'a> {
    library: &'a str,
    path: Option<&'a str>,
    test: &'a str,
    verdict: String,
    what: &'a str,
}

impl Results {
    pub(super) fn new(columns: &[Column], cases: &[Case]) -> Self {
        let path = |column: &Column| column.setting.preload.as_ref().map(|path| path.display().to_string());
        Self {
            columns: columns.iter().map(|column| (column.name.clone(), path(column))).collect(),
            tests: cases.iter().map(|case| case.test.clone()).collect(),
            verdicts: vec![vec![None; cases.len()]; columns.len()],
            written: Instant::now(),
        }
    }

    pub(super) fn put(&mut self, column: usize, test: usize, verdict: Verdict) {
        self.verdicts[column][test] = Some(verdict);
    }

    /// Whether every test ran and nothing went wrong.
    pub(super) fn all_fine(&self) -> bool {
        self.verdicts.iter().flatten().all(|verdict| verdict.as_ref().is_some_and(Verdict::is_fine))
    }

    /// The table, then what was said of each failure, then the counts.
    pub(super) fn render(&self, all: bool) -> String {
        let mut out = String::new();
        let fine = |row: usize| {
            self.verdicts.iter().all(|column| column[row].as_ref().is_some_and(Verdict::is_fine))
        };
        let shown: Vec<usize> = (0..self.tests.len())
            .filter(|&row| all || !fine(row) || self.tests[row].starts_with(PROBE))
            .collect();
        let cell = |column: usize, row: usize| {
            self.verdicts[column][row].as_ref().map_or("-".to_owned(), Verdict::word)
        };
        let wide = shown.iter().map(|&row| self.tests[row].len()).max().unwrap_or(0).max("test".len());
        let widths: Vec<usize> =
            self.columns.iter().map(|(name, _)| name.len().max("SIGNAL 11".len())).collect();
        let mut line = |first: &str, cells: Vec<String>| {
            let cells = cells.iter().zip(&widths).fold(String::new(), |mut line, (cell, width)| {
                let _ = write!(line, "  {cell:<width$}");
                line
            });
            let _ = writeln!(out, "{}", format!("{first:<wide$}{cells}").trim_end());
        };
        if !shown.is_empty() {
            line("test", self.columns.iter().map(|(name, _)| name.clone()).collect());
        }
        for &row in &shown {
            line(&self.tests[row], (0..self.columns.len()).map(|column| cell(column, row)).collect());
        }
        for (column, (name, _)) in self.columns.iter().enumerate() {
            for &row in &shown {
                match &self.verdicts[column][row] {
                    Some(verdict) if !verdict.is_fine() => {
                        let text =
                            format!("{name}: {}: {}: {}", self.tests[row], verdict.word(), verdict.what());
                        let _ = writeln!(out, "{}", text.trim_end_matches([' ', ':']));
                    }
                    _ => {}
                }
            }
        }
        for (column, (name, _)) in self.columns.iter().enumerate() {
            let _ = writeln!(out, "conform: {name}: {}", self.counts(column));
        }
        out
    }

    fn counts(&self, column: usize) -> String {
        let verdicts = &self.verdicts[column];
        let count = |wanted: fn(&Verdict) -> bool| {
            verdicts.iter().flatten().filter(|verdict| wanted(verdict)).count()
        };
        format!(
            "{} tests, {} ok, {} failed, {} hung, {} died, {} skipped",
            verdicts.len(),
            count(|verdict| matches!(verdict, Verdict::Ok)),
            count(|verdict| matches!(verdict, Verdict::Fail(_))),
            count(|verdict| matches!(verdict, Verdict::Hang(_))),
            count(|verdict| matches!(verdict, Verdict::Signal(..))),
            count(|verdict| matches!(verdict, Verdict::Skip(_))),
        )
    }

    /// Writes the file unless that was just done: what is known stays when the run is interrupted.
    pub(super) fn write_now_and_then(&mut self, file: &Path) -> io::Result<()> {
        if self.written.elapsed() < EVERY {
            return Ok(());
        }
        self.written = Instant::now();
        self.write(file)
    }

    /// Writes one line of JSON for each verdict.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let mut text = String::new();
        for ((library, path), verdicts) in self.columns.iter().zip(&self.verdicts) {
            for (test, verdict) in self.tests.iter().zip(verdicts) {
                let Some(verdict) = verdict else { continue };
                let line = Line {
                    library,
                    path: path.as_deref(),
                    test,
                    verdict: verdict.word(),
                    what: verdict.what(),
                };
                text.push_str(&serde_json::to_string(&line)?);
                text.push('\n');
            }
        }
        fs::write(file, text).map_err(|error| io::Error::other(format!("--json {}: {error}", file.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let tests = ["probe.a", "mutex.b", "mutex.c"].map(str::to_owned).to_vec();
        let columns = vec![("libc".to_owned(), None), ("libx".to_owned(), Some("/libx.so".to_owned()))];
        let verdicts = vec![vec![None; 3]; 2];
        let mut results = Results { columns, tests, verdicts, written: Instant::now() };
        for column in 0..2 {
            for test in 0..3 {
                results.put(column, test, Verdict::Ok);
            }
        }
        results
    }

    #[test]
    fn what_is_right_everywhere_is_counted_only() {
        let results = results();
        assert!(results.all_fine());
        let expected = "\
test     libc       libx
probe.a  ok         ok
conform: libc: 3 tests, 3 ok, 0 failed, 0 hung, 0 died, 0 skipped
conform: libx: 3 tests, 3 ok, 0 failed, 0 hung, 0 died, 0 skipped
";
        assert_eq!(results.render(false), expected);
        assert!(results.render(true).contains("mutex.c  ok         ok\n"));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let mut results = results();
        results.put(1, 1, Verdict::Fail("a.c:1: no".to_owned()));
        results.put(1, 2, Verdict::Hang(String::new()));
        assert!(!results.all_fine());
        let rendered = results.render(false);
        assert!(rendered.contains("mutex.b  ok         FAIL\n"), "{rendered}");
        assert!(rendered.contains("libx: mutex.b: FAIL: a.c:1: no\nlibx: mutex.c: HANG\n"), "{rendered}");
        assert!(rendered.contains("libx: 3 tests, 1 ok, 1 failed, 1 hung, 0 died, 0 skipped"), "{rendered}");
    }

    #[test]
    fn a_test_that_did_not_run_is_not_fine() {
        let mut results = results();
        results.verdicts[0][0] = None;
        assert!(!results.all_fine());
    }
}
