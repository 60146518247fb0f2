//! Commands that go through locks one after the other. What came of each lock is written at once, so that
//! whatever happens to the next one loses nothing.
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, PASSED, replace, say};
use lab_kit::provenance::Provenance;
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is written for programs.
#[derive(Serialize)]
struct Told<'a, P, R> {
    command: &'static str,
    provenance: &'a P,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a Value>,
    results: &'a [R],
}

impl<P: Serialize, R: Serialize> Told<'_, P, R> {
    /// Replaces what is in `file`.
    fn write(&self, file: &mut File) -> std::io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        replace(file, &text)
    }
}

/// Runs the locks, until the user has enough of it. An error is the exit code.
pub(crate) fn run<L, R: Serialize>(
    command: &'static str,
    seed: u64,
    options: Option<&Value>,
    locks: &[L],
    json: Option<(PathBuf, File)>,
    mut run: impl FnMut(usize, &L) -> R,
) -> Result<Vec<R>, ExitCode> {
    let (mut json, provenance) = (json, Provenance::collect(seed));
    let mut results: Vec<R> = Vec::new();
    for (number, lock) in locks.iter().enumerate() {
        if interrupt::requested() {
            break;
        }
        results.push(run(number, lock));
        if let Some((path, file)) = &mut json {
            let all = Told { command, provenance: &provenance, options, results: &results };
            if let Err(error) = all.write(file) {
                eprintln!("stanchion {command}: {}: {error}", path.display());
                return Err(ExitCode::from(FAILED));
            }
        }
    }
    Ok(results)
}

/// How the command ends, and a line about it if that is sooner than was asked for.
pub(crate) fn end<R>(results: &[R], locks: usize, good: impl Fn(&R) -> bool) -> ExitCode {
    let interrupted = interrupt::requested();
    if interrupted {
        say!("interrupted: {} of {locks} locks, results so far above", results.len());
    }
    ExitCode::from(code(results.iter().all(good), interrupted))
}

/// The exit code.
pub(crate) fn code(good: bool, interrupted: bool) -> u8 {
    match (good, interrupted) {
        (_, true) => INTERRUPTED,
        (true, false) => PASSED,
        (false, false) => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, Write as _};

    #[test]
    fn the_file_holds_all_results_and_nothing_of_what_was_there() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'x'; 10_000]).unwrap();
        let all = Told { command: "torture", provenance: &"here", options: None, results: &["a", "b"] };
        all.write(&mut file).unwrap();
        file.rewind().unwrap();
        let back: Value = serde_json::from_reader(&file).unwrap();
        let told = serde_json::json!({"command": "torture", "provenance": "here", "results": ["a", "b"]});
        assert_eq!(back, told);
    }

    #[test]
    fn the_exit_code_is_a_contract() {
        assert_eq!([code(true, false), code(false, false)], [PASSED, FAILED]);
        assert_eq!([code(true, true), code(false, true)], [INTERRUPTED; 2]);
    }
}
