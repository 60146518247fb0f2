//! The verdicts as a table, test by library, and as JSON.
use super::Case;
use super::runner::{Setting, Verdict};
use core::fmt::Write as _;
use serde_json::json;
use std::fs::File;
use std::io::{self, Write as _};

/// The group of tests that published tables show, whose rows are always printed.
pub(super) const PROBE: &str = "probe.";
const NOT_RUN: &str = "-";

pub(super) struct Results<'a> {
    columns: &'a [Setting],
    cases: &'a [Case],
    /// Of each column, of each test; what has not run yet has a dash.
    verdicts: Vec<Vec<Verdict>>,
    /// Has one line of JSON for each verdict.
    file: Option<File>,
}

impl<'a> Results<'a> {
    pub(super) fn new(columns: &'a [Setting], cases: &'a [Case], file: Option<File>) -> Self {
        let verdicts = vec![vec![Verdict::new(NOT_RUN, ""); cases.len()]; columns.len()];
        Self { columns, cases, verdicts, file }
    }

    /// Takes a verdict, and writes it down.
    pub(super) fn note(&mut self, column: usize, row: usize, verdict: Verdict) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let (Setting { name, preload, .. }, Case { test, .. }) =
                (&self.columns[column], &self.cases[row]);
            let Verdict { word, what } = &verdict;
            let line =
                json!({ "library": name, "path": preload, "test": test, "verdict": word, "what": what });
            writeln!(file, "{line}")?;
        }
        self.verdicts[column][row] = verdict;
        Ok(())
    }

    pub(super) fn all_fine(&self) -> bool {
        (0..self.cases.len()).all(|row| self.fine(row))
    }

    fn fine(&self, row: usize) -> bool {
        self.verdicts.iter().all(|column| column[row].is_fine())
    }

    /// The table, then what was said of each failure, then the counts.
    pub(super) fn render(&self, all: bool) -> String {
        let shown = |row: &usize| all || !self.fine(*row) || self.cases[*row].test.starts_with(PROBE);
        let shown: Vec<usize> = (0..self.cases.len()).filter(shown).collect();
        let name = |row: usize| self.cases[row].test.as_str();
        let mut out = String::new();
        let wide = shown.iter().map(|&row| name(row).len()).max().unwrap_or(0).max("test".len());
        let mut line = |first: &str, cells: Vec<&str>| {
            let mut line = format!("{first:<wide$}");
            for (cell, Setting { name, .. }) in cells.iter().zip(self.columns) {
                let width = name.len().max("SIGNAL 11".len());
                let _ = write!(line, "  {cell:<width$}");
            }
            let _ = writeln!(out, "{}", line.trim_end());
        };
        if !shown.is_empty() {
            line("test", self.columns.iter().map(|column| &*column.name).collect());
        }
        for &row in &shown {
            line(name(row), self.verdicts.iter().map(|column| &*column[row].word).collect());
        }
        for (Setting { name: library, .. }, verdicts) in self.columns.iter().zip(&self.verdicts) {
            for &row in shown.iter().filter(|&&row| !verdicts[row].is_fine()) {
                let Verdict { word, what } = &verdicts[row];
                let text = format!("{library}: {}: {word}: {what}", name(row));
                let _ = writeln!(out, "{}", text.trim_end_matches([' ', ':']));
            }
        }
        for (Setting { name, .. }, verdicts) in self.columns.iter().zip(&self.verdicts) {
            let count = |word: &str| verdicts.iter().filter(|verdict| verdict.word.starts_with(word)).count();
            let [ok, failed, hung] = ["ok", "FAIL", "HANG"].map(count);
            let (died, skipped, all) = (count("SIGNAL"), count("skip"), self.cases.len());
            let _ = writeln!(
                out,
                "conform: {name}: {all} tests, {ok} ok, {failed} failed, {hung} hung, {died} died, {skipped} skipped"
            );
        }
        out
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
        let mut results = Results::new(columns, cases, None);
        let passed = Verdict::new("ok", "");
        results.verdicts.iter_mut().flatten().for_each(|verdict| *verdict = passed.clone());
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
        results.verdicts[1][1] = Verdict::new("FAIL", "a.c:1: no");
        results.verdicts[1][2] = Verdict::new("HANG", "");
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
        results.verdicts[0][0] = Verdict::new(NOT_RUN, "");
        assert!(!results.all_fine());
    }
}
