//! What every command hands over: its exit code, its text, its files; and how such a file is read again.
use core::fmt::{Arguments, Display};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::ExitCode;

pub const PASSED: u8 = 0;
/// A lock was broken, a part of the run failed, or results could not be written.
pub const FAILED: u8 = 1;
/// Bad input; nothing was done.
pub const REFUSED: u8 = 2;
/// Stopped by the user; what was finished is kept.
pub const INTERRUPTED: u8 = 130;

/// Results are far smaller; what has no end is refused.
const MOST_BYTES: u64 = 256 << 20;

/// The text of a file of results; the error names it.
pub fn read_text(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    match read {
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        Ok(bytes) if bytes as u64 > MOST_BYTES => {
            Err(format!("{} is no file of at most {} MiB", path.display(), MOST_BYTES >> 20))
        }
        Ok(_) => Ok(text),
    }
}

/// Says on standard error why a command ends, and how.
pub fn ended(code: u8, why: impl Display) -> ExitCode {
    tell!("stanchion: {why}");
    ExitCode::from(code)
}

/// Says on standard error what makes results doubtful.
pub fn warn<T: Display>(warnings: &[T]) {
    for warning in warnings {
        tell!("warning: {warning}");
    }
}

/// Writes results to standard output.
pub fn print(text: &str, code: ExitCode) -> ExitCode {
    let mut out = std::io::stdout().lock();
    written(&out.write_all(text.as_bytes()).and_then(|()| out.flush()), code)
}

/// `code` if writing to standard output went well; a reader that has gone away is no failure.
pub fn written(result: &std::io::Result<()>, code: ExitCode) -> ExitCode {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            ended(FAILED, format_args!("cannot write the results: {error}"))
        }
        _ => code,
    }
}

/// As `println!`, for what is printed while the work goes on; see [`add`].
#[macro_export]
macro_rules! say {
    ($($piece:tt)*) => {
        $crate::output::add(format_args!("{}\n", format_args!($($piece)*)))
    };
}
pub use say;

/// Adds a piece to standard output. If nobody reads it any more, the process ends, as SIGPIPE ends programs.
pub fn add(text: Arguments<'_>) {
    match std::io::stdout().write_fmt(text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
        }
        Err(error) => {
            tell!("stanchion: cannot write to standard output: {error}");
            std::process::exit(FAILED.into());
        }
        Ok(()) => {}
    }
}

/// As `eprintln!`, which would panic where nobody reads standard error any more, and results would be lost.
#[macro_export]
macro_rules! tell {
    ($($piece:tt)*) => {
        $crate::output::note(format_args!("{}\n", format_args!($($piece)*)))
    };
}
pub use tell;

/// Adds a piece to standard error, if anybody reads it.
pub fn note(text: Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(text);
}

/// Refuses `-`, which is standard output for other programs.
pub fn no_stream(path: &Path) -> Result<(), String> {
    if path == Path::new("-") { Err("'-' is no file: name one".to_owned()) } else { Ok(()) }
}

/// Creates the file of a flag before anything is run. One that is there is an error, unless it
/// may be replaced.
pub fn create_for(flag: &str, path: &Path, force: bool) -> Result<File, String> {
    no_stream(path).map_err(|why| format!("{flag}: {why}"))?;
    let mut how = OpenOptions::new();
    how.write(true).create(force).truncate(force).create_new(!force).open(path).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AlreadyExists => "exists; give another name or --force".to_owned(),
            _ => error.to_string(),
        };
        format!("{flag} {}: {why}", path.display())
    })
}

/// A word as a shell has to be told.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
