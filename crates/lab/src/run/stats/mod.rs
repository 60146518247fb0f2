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
use table::Report;

/// Functions of the first use of locks, the innermost first, by process and address.
pub(crate) type Places = BTreeMap<(u32, u64), Vec<String>>;

/// Rows of the table unless told otherwise.
pub(crate) const TOP: usize = 10;

/// What is to be told, and from where.
#[derive(Debug)]
pub(crate) struct Stats {
    file: tempfile::TempPath,
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
        super::args::word_of("stats", "--stats", &file)?;
        let json = json.map(|path| create_json(path.to_owned(), force)).transpose();
        Ok(Self { file, top, json: json.map_err(|line| line.replacen("--json", "--stats-json", 1))? })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// What there is to say now; the error is the one line to print.
    fn report(&self) -> Result<Report, String> {
        let bytes =
            fs::read(&self.file).map_err(|error| format!("--stats: {}: {error}", self.file.display()))?;
        if bytes.is_empty() {
            return Err("--stats: the library wrote nothing; the program did not load it".to_owned());
        }
        let snapshot = Snapshot::read(&bytes).map_err(|why| format!("--stats: the file {why}"))?;
        Ok(Report::of(&snapshot))
    }

    /// Where each lock was first taken, by process and address.
    pub(crate) fn places(&self) -> Places {
        let Some(snapshot) = fs::read(&self.file).ok().and_then(|bytes| Snapshot::read(&bytes).ok()) else {
            return Places::default();
        };
        let mut symbols = symbols::Symbols::default();
        let place = |lock: &file::Lock| {
            let pid = snapshot.processes.get(lock.process)?.pid;
            Some(((pid, lock.address), symbols.functions(&snapshot, lock.process, &lock.frames)))
        };
        snapshot.locks.iter().filter_map(place).collect()
    }

    /// Tells on standard error how things stand.
    pub(crate) fn tell(&self) {
        match self.report() {
            Ok(report) => eprint!("{}", report.text(self.top)),
            Err(line) => eprintln!("stanchion: {line}"),
        }
    }

    /// The same at the end, and in the file of `--stats-json`.
    pub(crate) fn finish(&self) {
        let report = match self.report() {
            Ok(report) => report,
            Err(line) => return eprintln!("stanchion: {line}"),
        };
        eprint!("{}", report.text(self.top));
        if let Some((path, file)) = &self.json
            && let Err(error) = (&mut &*file).write_all(report.json().as_bytes())
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
        let stats = Stats::prepare(TOP, None, false).expect("a temporary file");
        assert!(stats.report().err().expect("empty").contains("wrote nothing"));
        fs::write(stats.path(), "12345").expect("written");
        assert!(stats.report().err().expect("short").contains("is not what the library"));
    }
}
