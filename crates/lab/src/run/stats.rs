//! Where the library writes what `--stats` asks it for.
use std::path::{Path, PathBuf};

/// A file for the library to write to, by a name that can stand in `STANCHION`.
pub(crate) fn prepare() -> Result<PathBuf, String> {
    let file = tempfile::Builder::new()
        .prefix("stanchion-stats-")
        .tempfile()
        .and_then(|file| file.keep().map_err(|error| error.error))
        .map_err(|error| format!("--stats: no temporary file can be made: {error}"))?;
    super::args::word_of("stats", "--stats", &file.1)?;
    Ok(file.1)
}

/// What there is to say of it after the run.
pub(crate) fn told(path: &Path) -> String {
    match std::fs::metadata(path).map(|metadata| metadata.len()) {
        Ok(0) => {
            let _ = std::fs::remove_file(path);
            "--stats: the library wrote nothing; the program took no lock, or did not end by itself"
                .to_owned()
        }
        Ok(bytes) => format!("--stats: {bytes} bytes in {}", path.display()),
        Err(error) => format!("--stats: {}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_taken_away_and_a_full_one_is_named() {
        let path = prepare().expect("a temporary file");
        std::fs::write(&path, "12345").expect("written");
        assert!(told(&path).contains("5 bytes in ") && path.exists());
        std::fs::write(&path, "").expect("written");
        assert!(told(&path).contains("wrote nothing") && !path.exists());
    }
}
