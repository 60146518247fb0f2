//! Commands that go through locks one by one. What came of each is written at once, whatever comes next.
use comfy_table::Table;
use lab_kit::column::Column;
use lab_kit::experiment::{About, Experiment};
use lab_kit::export::columns::{named, table};
use lab_kit::export::grid::trimmed;
use lab_kit::export::{Formats, json, page};
use lab_kit::interrupt;
use lab_kit::names::unknown;
use lab_kit::output::say;
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use serde::Serialize;
use serde_json::Value;
use std::process::ExitCode;

/// The locks that the names stand for, each once.
pub(crate) fn chosen<L>(
    names: &[String],
    named: impl Fn(&str) -> Vec<L>,
    name_of: fn(&L) -> &'static str,
    valid: impl IntoIterator<Item = &'static str>,
) -> Result<Vec<L>, String> {
    let mut chosen: Vec<L> = Vec::new();
    for name in names {
        let mut found = named(name);
        if found.is_empty() {
            return Err(format!("--lock: {}", unknown("lock", name, valid)));
        }
        found.retain(|lock| chosen.iter().all(|known| name_of(known) != name_of(lock)));
        chosen.extend(found);
    }
    Ok(chosen)
}

/// What came of a lock.
pub(crate) trait Outcome: Serialize + Sized + 'static {
    const COMMAND: &'static str;
    /// What pages are about.
    const TITLE: &'static str;
    /// What is said of locks that were to fail and did not, before their names.
    const SURVIVED: &'static str;

    fn columns() -> Vec<Column<Self>>;
    fn lock(&self) -> &str;
    /// How it failed, and the like.
    fn doubts(&self) -> Vec<String>;
    fn passed(&self) -> bool;
    /// It failed, and as it should.
    fn caught(&self) -> bool;
}

/// What is written for programs.
#[derive(Serialize)]
pub(crate) struct Report<R> {
    schema: u32,
    command: &'static str,
    provenance: Provenance,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Value>,
    results: Vec<R>,
    #[serde(skip)]
    set_up: String,
    #[serde(skip)]
    expect_failure: bool,
    complete: bool,
}

impl<R: Outcome> Report<R> {
    pub(crate) fn new(seed: u64, set_up: String, options: Option<Value>, expect_failure: bool) -> Self {
        let (command, provenance) = (R::COMMAND, Provenance::collect(seed));
        let results = Vec::new();
        Self { schema: 1, command, provenance, options, results, set_up, expect_failure, complete: false }
    }

    pub(crate) const FORMATS: Formats<Self> = Formats {
        stem: R::COMMAND,
        json,
        csv: |report| report.about().csv(named(&R::columns(), &report.results)),
        html: Some(|report| report.about().page(R::TITLE, "", &page::table(&report.table()), "")),
    };

    /// Says what is going to happen, runs the locks until the user has enough, and prints the results.
    pub(crate) fn run<L>(
        mut self,
        mut experiment: Experiment<Self>,
        locks: &[L],
        mut run: impl FnMut(usize, &L, &Progress) -> R,
    ) -> ExitCode {
        say!("{}: {}", self.command, self.set_up);
        experiment.run(&mut self, locks, |report, number, lock, progress| {
            report.results.push(run(number, lock, progress));
            // What was cut short is a result, too.
            report.complete = number + 1 == locks.len() && !interrupt::requested();
            Ok(true)
        });
        let text = self.text() + &experiment.written();
        experiment.end(&text, self.complete, self.failed())
    }

    fn about(&self) -> About<'_> {
        let Self { command, provenance, complete, set_up, .. } = self;
        let (set_up, facts, doubts) = (set_up.clone(), Vec::new(), self.doubts());
        About { command, complete: *complete, provenance, set_up, facts, doubts }
    }

    /// What is said of each lock, then of those that survived.
    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for seen in &self.results {
            doubts.extend(seen.doubts().iter().map(|doubt| format!("{}: {doubt}", seen.lock())));
        }
        let survivors = self.results.iter().filter(|result| self.expect_failure && !result.caught());
        let survivors: Vec<&str> = survivors.map(R::lock).collect();
        if !survivors.is_empty() {
            doubts.push(format!("{}: {}", R::SURVIVED, survivors.join(", ")));
        }
        doubts
    }

    fn table(&self) -> Table {
        table(&R::columns(), &self.results)
    }

    /// The table, then what went wrong.
    pub(crate) fn text(&self) -> String {
        let table = format!("\n{}", trimmed(&self.table()));
        [table].into_iter().chain(self.doubts()).map(|line| line + "\n").collect()
    }

    /// Nobody knows how locks that were cut short would have ended.
    pub(crate) fn failed(&self) -> bool {
        self.complete && !self.results.iter().all(if self.expect_failure { R::caught } else { R::passed })
    }
}

pub(crate) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lab_kit::export::{Files, ResultFile};

    pub(crate) fn report<R: Outcome>(results: Vec<R>, expect_failure: bool) -> Report<R> {
        Report { results, complete: true, ..Report::new(7, "two locks".to_owned(), None, expect_failure) }
    }

    /// A lock that fails if its name says so.
    #[derive(Serialize)]
    struct Seen(&'static str);

    impl Outcome for Seen {
        const COMMAND: &'static str = "torture";
        const TITLE: &'static str = "Locks";
        const SURVIVED: &'static str = "survived";

        fn columns() -> Vec<Column<Self>> {
            vec![Column::new("lock", |seen: &Self| seen.0).titled("the lock")]
        }
        fn lock(&self) -> &str {
            self.0
        }
        fn doubts(&self) -> Vec<String> {
            self.caught().then(|| "FAILED: <why>".to_owned()).into_iter().collect()
        }
        fn passed(&self) -> bool {
            !self.caught()
        }
        fn caught(&self) -> bool {
            self.0 == "broken"
        }
    }

    #[test]
    fn the_file_holds_all_results_and_nothing_of_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        std::fs::write(&path, [b'x'; 10_000]).unwrap();
        let open = |force| {
            let results = ResultFile { json: Some(path.clone()), force, quiet: true };
            Experiment::open(&Files { results, ..Files::default() }, &Report::FORMATS, 2)
        };
        assert!(open(false).is_err(), "it exists");
        let experiment = open(true).unwrap();
        report(Vec::new(), false).run(experiment, &["sound", "broken"], |_, name, _| Seen(name));
        let back: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(back["provenance"]["seed"], 7);
        let names: Vec<&String> = back.as_object().unwrap().keys().collect();
        assert_eq!(names, ["command", "complete", "provenance", "results", "schema"]);
        let results = serde_json::json!(["sound", "broken"]);
        assert_eq!((&back["command"], &back["results"]), (&"torture".into(), &results));
    }

    #[test]
    fn all_forms_say_the_same() {
        let report = report(vec![Seen("sound"), Seen("broken")], true);
        let forms = Report::<Seen>::FORMATS;
        let text = (forms.csv)(&report);
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows, ["lock", "sound", "broken"]);
        let doubts = ["broken: FAILED: <why>", "survived: sound"];
        for line in ["stanchion torture, complete: true", "seed: 7", "set-up: two locks"] {
            assert!(text.lines().any(|other| other.strip_prefix("# ") == Some(line)), "{line}: {text}");
        }
        for doubt in doubts {
            assert!(text.contains(&format!("# warning: {doubt}\n")), "{text}");
            assert!(report.text().lines().any(|line| line == doubt), "{}", report.text());
        }
        let page = forms.html.unwrap()(&report);
        assert!(page.contains("the lock</th>") && page.contains("broken</th>"), "{page}");
        assert!(page.contains("<li>broken: FAILED: &lt;why&gt;</li><li>survived: sound</li>"), "{page}");
    }

    #[test]
    fn the_exit_code_is_a_contract() {
        let failed = |complete, result| {
            let report = Report { complete, ..report(vec![Seen(result)], false) };
            report.failed()
        };
        assert_eq!([failed(true, "sound"), failed(true, "broken")], [false, true]);
        assert_eq!([failed(false, "sound"), failed(false, "broken")], [false; 2], "it was interrupted");
    }
}
