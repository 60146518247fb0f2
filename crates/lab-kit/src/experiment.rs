//! The shape of every experiment: cells that are run one by one, and a report that is told of each. An
//! [`Experiment`] does what is the same for all: it refuses files before anything is run, shows progress, has
//! the files whole after each cell, stops when the user has enough, and ends with the exit code that says how
//! it went. A report has rows. Whoever reads them must also know which machine, settings and warnings they
//! belong to: that is [`About`]. CSV files and pages show it beside the rows.
use crate::export::{self, Exports, Files, Formats, page};
use crate::interrupt;
use crate::output::{FAILED, INTERRUPTED, PASSED, print, tell};
use crate::progress::{PARTS, Progress};
use crate::provenance::Provenance;
use core::fmt::Display;
use maud::{Markup, html};
use std::process::ExitCode;
use std::sync::Once;

/// What a reader must know to judge the rows of a report.
pub struct About<'a> {
    pub command: &'static str,
    /// Whether all cells are in it.
    pub complete: bool,
    pub provenance: &'a Provenance,
    /// What was asked for, in a line.
    pub set_up: String,
    /// More about it, by name; what is empty is not told.
    pub facts: Vec<(&'a str, String)>,
    /// What is wrong with some of the rows, or with all.
    pub doubts: Vec<String>,
}

impl About<'_> {
    fn facts(&self) -> impl Iterator<Item = (&str, String)> {
        let set_up = ("set-up", self.set_up.clone());
        let facts = self.provenance.rows().into_iter().chain([set_up]).chain(self.facts.iter().cloned());
        facts.filter(|(_, value)| !value.is_empty())
    }

    pub fn csv<V: ToString>(&self, rows: impl Iterator<Item: Iterator<Item = (impl Display, V)>>) -> String {
        let head = format!("stanchion {}, complete: {}", self.command, self.complete);
        let facts = self.facts().map(|(name, value)| format!("{name}: {value}"));
        let doubts = self.doubts.iter().map(|doubt| format!("warning: {doubt}"));
        export::csv([head].into_iter().chain(facts).chain(doubts), rows)
    }

    /// A page that begins with the answer, if there is one, and shows `shown`; `rules` are in its style
    /// sheet.
    pub fn page(&self, title: &str, answer: &str, shown: &Markup, rules: &str) -> String {
        let date = &self.provenance.date;
        let body = html! {
            h1 { (title) }
            @if !answer.is_empty() { pre.verdict { (answer) } }
            p.sub { (self.set_up) " · " (date) (page::unfinished(self.complete)) }
            (page::doubts(2, &self.doubts))
            (shown)
            h2 { "Where this comes from" }
            (page::facts(self.facts()))
        };
        page::page(&format!("stanchion {}, {date}", self.command), rules, &body)
    }
}

static HEEDED: Once = Once::new();

/// Ctrl-C asks experiments to stop from here on. The handlers are installed once, however often this is
/// called: two of a kind would end the process at the first Ctrl-C.
pub fn heed_interrupts() {
    HEEDED.call_once(interrupt::install);
}

/// The same, if nobody has said so before, for an experiment that begins with a child: it ends by itself,
/// however often the user asks.
pub fn note_interrupts() {
    HEEDED.call_once(interrupt::note);
}

/// An experiment while it runs: its files and its bar.
pub struct Experiment<R> {
    exports: Exports<R>,
    pub progress: Progress,
    /// How many cells there are, or 1 if all end together, and how many have a result.
    cells: usize,
    kept: usize,
    error: Option<String>,
}

impl<R> Experiment<R> {
    /// Of so many cells, none of which has been run: files that cannot be written are refused.
    pub fn open(files: &Files, formats: &Formats<R>, cells: usize) -> Result<Self, String> {
        let progress = Progress::new(cells as u64 * PARTS, files.results.quiet);
        Ok(Self::new(files.open(formats)?, progress, cells))
    }

    /// The same with other files, and a bar that others move.
    pub fn new(exports: Exports<R>, progress: Progress, cells: usize) -> Self {
        heed_interrupts();
        Self { exports, progress, cells, kept: 0, error: None }
    }

    /// Runs cells in their order until all are done, the user has enough, or one cannot be run. `run` adds
    /// what comes of one to the report, and says whether anything did.
    pub fn run<C>(
        &mut self,
        report: &mut R,
        cells: &[C],
        mut run: impl FnMut(&mut R, usize, &C, &Progress) -> Result<bool, String>,
    ) {
        let progress = self.progress.clone().ticking();
        for (number, cell) in cells.iter().enumerate() {
            match if interrupt::requested() { Ok(false) } else { run(report, number, cell, &progress) } {
                Ok(true) => self.keep(report),
                Ok(false) => break,
                Err(error) => return self.error = Some(error),
            }
            progress.part(number, 1).set(1);
        }
    }

    /// A cell has a result, which is written. What goes wrong is said once and at the end: the experiment
    /// goes on, and the terminal still gets its tables.
    pub fn keep(&mut self, report: &R) {
        self.kept += 1;
        self.error = self.exports.write(report).err().or(self.error.take());
    }

    /// Writes something else than the files, if all went well so far.
    pub fn also(&mut self, write: impl FnOnce() -> Result<(), String>) {
        if self.error.is_none() {
            self.error = write().err();
        }
    }

    /// Which files have the results, a line each.
    pub fn written(&mut self) -> String {
        self.progress.finish();
        self.exports.written()
    }

    /// Prints what came of it, and says why it ends.
    pub fn end(mut self, text: &str, complete: bool, failed: bool) -> ExitCode {
        let code = match complete {
            _ if failed || self.error.is_some() => FAILED,
            true => PASSED,
            false => INTERRUPTED,
        };
        let code = print(text, ExitCode::from(code));
        if let Some(error) = &self.error {
            tell!("stanchion: {error}");
        }
        if !complete && interrupt::requested() {
            if self.cells > 1 {
                tell!("stanchion: {} of {} results are kept", self.kept, self.cells);
            }
            let kept = if self.exports.written().is_empty() { "" } else { " and in the files" };
            tell!("stanchion: interrupted; what was finished is above{kept}");
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::ResultFile;
    use std::fs;
    use std::path::Path;

    const FORMATS: Formats<Vec<u32>> = Formats {
        stem: "squares",
        json: export::json,
        csv: |found| {
            about(&Provenance::default()).csv(found.iter().map(|square| [("square", *square)].into_iter()))
        },
        html: Some(|_| {
            about(&Provenance::default()).page("Squares", "1 < 4", &html! { p { "none" } }, "p{}")
        }),
    };

    fn about(provenance: &Provenance) -> About<'_> {
        let (facts, doubts) = (vec![("size", "<small>".to_owned())], vec!["one is\nodd".to_owned()]);
        About { command: "squares", complete: false, provenance, set_up: "three".to_owned(), facts, doubts }
    }

    fn open(out: &Path) -> Experiment<Vec<u32>> {
        let results = ResultFile { quiet: true, ..ResultFile::default() };
        Experiment::open(&Files { out: Some(out.to_owned()), results, ..Files::default() }, &FORMATS, 3)
            .expect("nothing is in the way")
    }

    /// What the files have when each cell begins; the third one cannot be run.
    #[test]
    fn files_are_whole_after_each_cell_and_what_was_finished_is_kept() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut experiment = open(dir.path());
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        experiment.run(&mut found, &[1, 2, 3, 4], |found, number, cell, _| {
            let text = fs::read_to_string(dir.path().join("squares.json")).expect("there");
            seen.push(serde_json::from_str::<Vec<u32>>(&text).ok());
            if number == 2 {
                return Err("no more".to_owned());
            }
            found.push(cell * cell);
            Ok(true)
        });
        assert_eq!(seen, [None, Some(vec![1]), Some(vec![1, 4])]);
        assert_eq!((experiment.kept, experiment.error.as_deref()), (2, Some("no more")));
        assert_eq!(experiment.written().lines().count(), 3);
        let text = fs::read_to_string(dir.path().join("squares.csv")).expect("there");
        let (comments, rows): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
        assert_eq!(rows, ["square", "1", "4"]);
        assert_eq!(comments[0], "# stanchion squares, complete: false");
        for line in ["# set-up: three", "# size: <small>", "# warning: one is odd"] {
            assert!(comments.contains(&line), "{text}");
        }
        let page = fs::read_to_string(dir.path().join("squares.html")).expect("there");
        assert!(!text.contains("# arguments: \n"), "what is empty is not told: {text}");
        assert!(
            page.contains("&lt;small&gt;")
                && page.contains(">1 &lt; 4</pre>")
                && page.contains("<b>unfinished run</b>"),
            "{page}"
        );
    }

    #[test]
    fn an_experiment_without_results_leaves_no_file_and_one_that_cannot_write_goes_on() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut experiment = open(dir.path());
        experiment.run(&mut Vec::new(), &[1], |_, _, _, _| Ok(false));
        assert_eq!(experiment.written(), "");
        drop(experiment);
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);

        let gone = dir.path().join("gone");
        let (mut experiment, mut found) = (open(&gone), Vec::new());
        fs::remove_dir_all(&gone).expect("ours");
        experiment.run(&mut found, &[1, 2, 3], |found, _, cell, _| {
            found.push(*cell);
            Ok(true)
        });
        assert_eq!((found.len(), experiment.kept), (3, 3));
        assert!(experiment.error.is_some_and(|error| error.contains("squares.json")));
    }
}
