//! Reading data files (machines and the like): TOML as flat paths with their lines, exact decimals, and
//! refusals of one line.
//!
//! A reader of a kind of file knows its fields and their ranges as data; what is here knows neither.
//! Everything is checked by hand instead of by serde, because a refusal has to name the line, the field and
//! what would be allowed.
mod decimal;
mod document;
mod error;
mod value;

pub use decimal::time;
pub(crate) use decimal::{nanoseconds, scaled, time_text};
pub(crate) use document::Document;
pub(crate) use error::clip;
pub use error::{FileError, nearest, unknown};
pub(crate) use value::Value;

use std::borrow::Cow;
use std::path::Path;

/// The text that a user names, with the name of its file: a shipped one, or that of a path (what contains a
/// `/` or ends in `.toml`). `kind` is what such a file describes; shipped ones lie in `directory`.
pub(crate) fn named<'a>(
    kind: &str,
    directory: &str,
    library: &'a [(&'a str, &'a str)],
    name_or_path: &str,
) -> Result<(Cow<'a, str>, String), String> {
    if let Some(text) = text_of(name_or_path)? {
        return Ok((text.into(), name_or_path.to_owned()));
    }
    let Some((name, text)) = library.iter().find(|(name, _)| *name == name_or_path) else {
        let refusal = unknown(kind, name_or_path, library.iter().map(|(name, _)| *name));
        return Err(format!("{refusal}; or the path of a file"));
    };
    Ok(((*text).into(), format!("{directory}/{name}.toml")))
}

/// The text of the file of a machine or of a workload that a user names by its path; none, if it is the name
/// of a shipped one.
pub fn text_of(name_or_path: &str) -> Result<Option<String>, String> {
    let is_toml = Path::new(name_or_path).extension().is_some_and(|ending| ending == "toml");
    if is_toml || name_or_path.contains('/') { read_file(name_or_path).map(Some) } else { Ok(None) }
}

/// The comment at the head of a file, line by line. What a terminal would not show as a character is a blank.
pub(crate) fn head(text: &str) -> Vec<String> {
    let lines = text.lines().take_while(|line| line.starts_with('#'));
    lines.map(|line| line.trim_start_matches('#').replace(char::is_control, " ").trim().to_owned()).collect()
}

/// No data file is longer; what is longer is something else.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a data file that a user named.
fn read_file(path: &str) -> Result<String, String> {
    let about =
        std::fs::metadata(path).map_err(|error| format!("{}: cannot be read: {error}", clip(path)))?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(format!("{}: is no file of at most 1 MiB", clip(path)));
    }
    std::fs::read_to_string(path).map_err(|error| format!("{}: cannot be read: {error}", clip(path)))
}

#[cfg(test)]
mod tests {
    use super::read_file;

    #[test]
    fn only_small_files_are_read() {
        assert!(read_file("/dev/zero").is_err_and(|error| error.contains("is no file of at most 1 MiB")));
        assert!(read_file("/nonexistent").is_err_and(|error| error.contains("cannot be read")));
        assert!(read_file(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).is_ok());
    }
}
