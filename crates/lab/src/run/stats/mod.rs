//! `--stats`: what the library counted at each lock, told when the program has ended, and whenever SIGUSR2
//! comes.
//!
//! The library counts in a file that it maps. We read it; the program is not asked, and may have ended in any
//! way.
mod file;
mod symbols;
mod table;

use file::Snapshot;
use lab_kit::output::create_json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Functions of the first use of locks, the innermost first, by process and address.
pub(crate) type Places = BTreeMap<(u32, String), Vec<String>>;

pub(crate) struct Stats {
    file: tempfile::TempPath,
    /// How many rows the table has.
    top: usize,
    json: Option<(PathBuf, File)>,
}

impl Stats {
    /// A file for the library to make, by a name that can stand in `STANCHION`.
    pub(crate) fn prepare(top: usize, json: Option<&Path>, force: bool) -> Result<Self, String> {
        let file = tempfile::Builder::new()
            .prefix("stanchion-stats-")
            .tempfile()
            .map_err(|error| format!("--stats: no temporary file can be made: {error}"))?
            .into_temp_path();
        super::args::word_of("stats", &file)?;
        let json = json.map(|path| create_json(path.to_owned(), force)).transpose();
        Ok(Self { file, top, json: json.map_err(|line| line.replacen("--json", "--stats-json", 1))? })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// What was counted up to now; the error is the one line to print.
    fn snapshot(&self) -> Result<Snapshot, String> {
        let bytes =
            fs::read(&self.file).map_err(|error| format!("--stats: {}: {error}", self.file.display()))?;
        if bytes.is_empty() {
            return Err("--stats: the library wrote nothing; the program did not load it".to_owned());
        }
        let mut snapshot = Snapshot::read(&bytes).map_err(|why| format!("--stats: the file {why}"))?;
        symbols::name_places(&mut snapshot);
        Ok(snapshot)
    }

    /// Where each lock was first taken, by process and address; of several sides, the one that waited most.
    pub(crate) fn places(&self) -> Places {
        let Ok(Snapshot { processes, locks, .. }) = self.snapshot() else { return Places::default() };
        let place = |lock: file::Lock| ((processes[lock.process].pid, lock.address), lock.first_taken);
        // The last one of an address is kept.
        locks.into_iter().rev().map(place).collect()
    }

    /// Tells on standard error how things stand; none, and a line that says why, if nobody knows.
    pub(crate) fn tell(&self) -> Option<Snapshot> {
        match self.snapshot() {
            Ok(snapshot) => {
                eprint!("{}", table::text(&snapshot, self.top));
                Some(snapshot)
            }
            Err(line) => {
                eprintln!("stanchion: {line}");
                None
            }
        }
    }

    /// The same at the end, and in the file of `--stats-json`.
    pub(crate) fn finish(&self) {
        if let (Some(snapshot), Some((path, file))) = (self.tell(), &self.json)
            && let Err(error) = (&mut &*file).write_all(lab_kit::export::json(&snapshot).as_bytes())
        {
            eprintln!("stanchion: --stats-json {}: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_library_did_not_write_is_told_in_one_line() {
        let stats = Stats::prepare(10, None, false).expect("a temporary file");
        assert!(stats.snapshot().expect_err("empty").contains("wrote nothing"));
        fs::write(stats.path(), "12345").expect("written");
        assert!(stats.snapshot().expect_err("short").contains("is not what the library"));
    }
}
