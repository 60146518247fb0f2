//! Commands that go through locks one by one. What came of each is written at once, whatever comes next.
use lab_kit::export::{self, Exports, ResultFile, Writer};
use lab_kit::interrupt;
use lab_kit::names::unknown;
use lab_kit::output::{FAILED, INTERRUPTED, PASSED, say};
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
            return Err(unknown("lock", name, valid));
        }
        found.retain(|lock| chosen.iter().all(|known| name_of(known) != name_of(lock)));
        chosen.extend(found);
    }
    Ok(chosen)
}

/// What is written for programs.
#[derive(Serialize)]
pub(crate) struct Report<R> {
    command: &'static str,
    provenance: Provenance,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Value>,
    results: Vec<R>,
}

impl<R: Serialize> Report<R> {
    pub(crate) fn open(
        command: &'static str,
        seed: u64,
        options: Option<Value>,
        file: &ResultFile,
    ) -> Result<(Self, Exports<Self>), String> {
        let json = file.json.iter().map(|path| (path.clone(), export::json as Writer<Self>));
        let exports = Exports::open(json.collect(), file.force)?;
        Ok((Self { command, provenance: Provenance::collect(seed), options, results: Vec::new() }, exports))
    }

    /// Runs the locks until the user has enough; prints what is `told` of the results, and judges by that.
    pub(crate) fn run<L>(
        mut self,
        locks: &[L],
        mut file: Exports<Self>,
        mut run: impl FnMut(usize, &L) -> R,
        told: impl FnOnce(&[R]) -> (String, bool),
    ) -> ExitCode {
        for (number, lock) in locks.iter().enumerate() {
            if interrupt::requested() {
                break;
            }
            self.results.push(run(number, lock));
            if let Err(error) = file.write(&self) {
                eprintln!("stanchion {}: {error}", self.command);
                return ExitCode::from(FAILED);
            }
        }
        let ((text, good), interrupted) = (told(&self.results), interrupt::requested());
        say!("{text}");
        if interrupted {
            say!("interrupted: {} of {} locks, results so far above", self.results.len(), locks.len());
        }
        ExitCode::from(code(good, interrupted))
    }
}

fn code(good: bool, interrupted: bool) -> u8 {
    match (good, interrupted) {
        (_, true) => INTERRUPTED,
        (true, false) => PASSED,
        (false, false) => FAILED,
    }
}

pub(crate) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_all_results_and_nothing_of_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        std::fs::write(&path, [b'x'; 10_000]).unwrap();
        let open = |force| {
            Report::open("torture", 7, None, &ResultFile { json: Some(path.clone()), force, quiet: true })
        };
        assert!(open(false).is_err(), "it exists");
        let (report, file) = open(true).unwrap();
        report.run(&[0, 1], file, |_, &number| number, |_| (String::new(), true));
        let back: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(back["provenance"]["seed"], 7);
        let names: Vec<&String> = back.as_object().unwrap().keys().collect();
        assert_eq!(names, ["command", "provenance", "results"]);
        assert_eq!((&back["command"], &back["results"]), (&"torture".into(), &serde_json::json!([0, 1])));
    }

    #[test]
    fn the_exit_code_is_a_contract() {
        assert_eq!([code(true, false), code(false, false)], [PASSED, FAILED]);
        assert_eq!([code(true, true), code(false, true)], [INTERRUPTED; 2]);
    }
}
