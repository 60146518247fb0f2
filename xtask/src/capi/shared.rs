//! What the commands for the C library have in common.
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

/// The version that all crates share.
pub(crate) fn version(root: &Path) -> io::Result<String> {
    let manifest: toml::Table =
        fs::read_to_string(root.join("Cargo.toml"))?.parse().map_err(io::Error::other)?;
    let version = manifest.get("workspace").and_then(|workspace| workspace.get("package")?.get("version"));
    let version = version.and_then(toml::Value::as_str);
    version.map(str::to_owned).ok_or_else(|| failed("Cargo.toml gives no version"))
}

/// An error of one line.
pub(crate) fn failed(message: impl Into<String>) -> io::Error {
    io::Error::other(message.into())
}

/// The command as one would type it.
pub(crate) fn line_of(command: &Command) -> String {
    let words = core::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a command that must succeed, and gives what it printed. If it does not, its output is shown.
pub(crate) fn must_succeed(command: &mut Command) -> io::Result<Output> {
    let line = line_of(command);
    let output = command.output().map_err(|error| failed(format!("`{line}` does not start: {error}")))?;
    if output.status.success() {
        return Ok(output);
    }
    eprint!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(failed(format!("`{line}` fails ({}); see above", output.status)))
}
