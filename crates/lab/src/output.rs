//! What every command hands over: its exit code, its text, its files.
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// All went well.
pub(crate) const PASSED: u8 = 0;
/// A lock was broken, a part of the run failed, or results could not be written.
pub(crate) const FAILED: u8 = 1;
/// Bad input; nothing was done.
pub(crate) const REFUSED: u8 = 2;
/// Stopped by the user; what was finished is kept.
pub(crate) const INTERRUPTED: u8 = 130;

/// Writes results to standard output, and returns `code` if that went well. A reader that has gone away is no failure of ours.
pub(crate) fn print(text: &str, code: ExitCode) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("stanchion: cannot write the results: {error}");
            ExitCode::from(FAILED)
        }
        _ => code,
    }
}

/// Creates a file for results. It is an error if there is one, unless it may be replaced.
pub(crate) fn create(path: &Path, force: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.open(path)
}

/// Creates the file of `--json` before anything is run, so that a name that cannot be written is refused in time.
pub(crate) fn create_json(path: PathBuf, force: bool) -> Result<(PathBuf, File), String> {
    match create(&path, force) {
        Ok(file) => Ok((path, file)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(format!("--json {}: exists; give another name or --force", path.display()))
        }
        Err(error) => Err(format!("--json {}: {error}", path.display())),
    }
}
