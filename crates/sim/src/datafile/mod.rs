//! Reading data files (machines and the like): TOML as flat paths with their lines, exact decimals, and refusals of one line.
//!
//! A reader of a kind of file knows its fields and their ranges as data; what is here knows neither. Everything is checked by
//! hand instead of by serde, because a refusal has to name the line, the field and what would be allowed.
mod decimal;
mod document;
mod error;
mod value;

pub(crate) use decimal::{nanoseconds, scaled, time, time_text};
pub(crate) use document::Document;
pub use error::FileError;
pub(crate) use error::{clip, nearest};
pub(crate) use value::Value;

/// No data file is longer; what is longer is something else.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a data file that a user named.
pub(crate) fn read_file(path: &str) -> Result<String, String> {
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
