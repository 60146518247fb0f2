//! The verdicts as a table, test by library, and as JSON.
use super::Case;
use super::runner::{Setting, Verdict};
use anyhow::{Context as _, Result};
use core::fmt::Write as _;
use core::time::Duration;
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// The group of tests that published tables show, whose rows are always printed.
pub(super) const PROBE: &str = "probe.";
/// How often the file is written while the tests run.
const EVERY: Duration = Duration::from_secs(2);

/// All verdicts so far.
pub(super) struct Results<'a> {
    columns: &'a [Setting],
    cases: &'a [Case],
    /// Of each column, of each test.
    pub(super) verdicts: Vec<Vec<Option<Verdict>>>,
    written: Instant,
}

/// A line of the file.
#[derive(Serialize)]
struct Line<'a> {
    library: &'a str,
    path: Option<&'a Path>,
    test: &'a str,
    verdict: String,
    what: &'a str,
}

impl<'a> Results<'a> {
    pub(super) fn new(columns: &'a [Setting], cases: &'a [Case]) -> Self {
        let verdicts = vec![vec![None; cases.len()]; columns.len()];
        Self { columns, cases, verdicts, written: Instant::now() }
    }

    /// Whether every test ran and nothing went wrong.
    pub(super) fn all_fine(&self) -> bool {
        (0..self.cases.len()).all(|row| self.fine(row))
    }

    fn fine(&self, row: usize) -> bool {
        self.verdicts.iter().all(|column| column[row].as_ref().is_some_and(Verdict::is_fine))
    }

    /// The table, then what was said of each failure, then the counts.
    pub(super) fn render(&self, all: bool) -> String {
        let shown = |row: &usize| all || !self.fine(*row) || self.cases[*row].test.starts_with(PROBE);
        let shown: Vec<usize> = (0..self.cases.len()).filter(shown).collect();
        let name = |row: usize| self.cases[row].test.as_str();
        let mut out = String::new();
        let wide = shown.iter().map(|&row| name(row).len()).max().unwrap_or(0).max("test".len());
        let mut line = |first: &str, cell: &dyn Fn(usize) -> String| {
            let mut line = format!("{first:<wide$}");
            for (column, setting) in self.columns.iter().enumerate() {
                let width = setting.name.len().max("SIGNAL 11".len());
                let _ = write!(line, "  {:<width$}", cell(column));
            }
            let _ = writeln!(out, "{}", line.trim_end());
        };
        if !shown.is_empty() {
            line("test", &|column| self.columns[column].name.clone());
        }
        for &row in &shown {
            let word = |verdict: &Option<Verdict>| verdict.as_ref().map_or("-".to_owned(), Verdict::word);
            line(name(row), &|column| word(&self.verdicts[column][row]));
        }
        for (Setting { name: library, .. }, verdicts) in self.columns.iter().zip(&self.verdicts) {
            for &row in &shown {
                let Some(verdict) = verdicts[row].as_ref().filter(|verdict| !verdict.is_fine()) else {
                    continue;
                };
                let text = format!("{library}: {}: {}: {}", name(row), verdict.word(), verdict.what());
                let _ = writeln!(out, "{}", text.trim_end_matches([' ', ':']));
            }
        }
        for (column, setting) in self.columns.iter().enumerate() {
            let _ = writeln!(out, "conform: {}: {}", setting.name, self.counts(column));
        }
        out
    }

    fn counts(&self, column: usize) -> String {
        let verdicts = self.verdicts[column].iter().flatten();
        let words: Vec<String> = verdicts.map(Verdict::word).collect();
        let count = |wanted: &str| words.iter().filter(|word| word.starts_with(wanted)).count();
        let [ok, failed, hung] = ["ok", "FAIL", "HANG"].map(count);
        let [died, skipped] = ["SIGNAL", "skip"].map(count);
        let all = self.cases.len();
        format!("{all} tests, {ok} ok, {failed} failed, {hung} hung, {died} died, {skipped} skipped")
    }

    /// Writes the file unless that was just done: what is known stays when the run is interrupted.
    pub(super) fn write_now_and_then(&mut self, file: &Path) -> Result<()> {
        if self.written.elapsed() < EVERY {
            return Ok(());
        }
        self.written = Instant::now();
        self.write(file)
    }

    /// Writes one line of JSON for each verdict.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let mut text = String::new();
        for (Setting { name: library, preload, .. }, verdicts) in self.columns.iter().zip(&self.verdicts) {
            for (Case { test, .. }, verdict) in self.cases.iter().zip(verdicts) {
                let Some(verdict) = verdict else { continue };
                let (path, what) = (preload.as_deref(), verdict.what());
                let line = Line { library, path, test, verdict: verdict.word(), what };
                text += &(serde_json::to_string(&line)? + "\n");
            }
        }
        fs::write(file, text).with_context(|| format!("--json {}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn columns() -> Vec<Setting> {
        let column = |name: &str, preload| Setting { name: name.to_owned(), preload, ..Setting::default() };
        vec![column("libc", None), column("libx", Some("/libx.so".into()))]
    }

    fn cases() -> Vec<Case> {
        let case = |test: &str| Case { program: PathBuf::new(), test: test.to_owned() };
        ["probe.a", "mutex.b", "mutex.c"].map(case).to_vec()
    }

    fn results<'a>(columns: &'a [Setting], cases: &'a [Case]) -> Results<'a> {
        let mut results = Results::new(columns, cases);
        results.verdicts.iter_mut().flatten().for_each(|verdict| *verdict = Some(Verdict::Ok));
        results
    }

    #[test]
    fn what_is_right_everywhere_is_counted_only() {
        let (columns, cases) = (columns(), cases());
        let results = results(&columns, &cases);
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
        let (columns, cases) = (columns(), cases());
        let mut results = results(&columns, &cases);
        results.verdicts[1][1] = Some(Verdict::Fail("a.c:1: no".to_owned()));
        results.verdicts[1][2] = Some(Verdict::Hang(String::new()));
        assert!(!results.all_fine());
        let rendered = results.render(false);
        assert!(rendered.contains("mutex.b  ok         FAIL\n"), "{rendered}");
        assert!(rendered.contains("libx: mutex.b: FAIL: a.c:1: no\nlibx: mutex.c: HANG\n"), "{rendered}");
        assert!(rendered.contains("libx: 3 tests, 1 ok, 1 failed, 1 hung, 0 died, 0 skipped"), "{rendered}");
    }

    #[test]
    fn a_test_that_did_not_run_is_not_fine() {
        let (columns, cases) = (columns(), cases());
        let mut results = results(&columns, &cases);
        results.verdicts[0][0] = None;
        assert!(!results.all_fine());
    }
}
