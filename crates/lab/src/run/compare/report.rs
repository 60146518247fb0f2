//! What came of a comparison, and of which program.
use crate::run::program::Program;
use lab_kit::compare::{Comparison, Setting};
use lab_kit::provenance::Provenance;
use serde::{Deserialize, Serialize};
use stanchion_cells::published::fingerprint::of_bytes;
use std::ffi::OsString;
use std::path::Path;

/// Raised whenever a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA: u32 = 2;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub schema: u32,
    pub provenance: Provenance,
    /// The file, and the program as it was typed.
    pub file: String,
    pub program: Vec<String>,
    pub library: Option<String>,
    /// More words for the library.
    pub words: Vec<String>,
    #[serde(flatten)]
    pub comparison: Comparison,
}

impl Report {
    /// What is known before the first run; the words are for the library.
    pub(crate) fn new(
        setting: Setting,
        program: &Program,
        library: Option<&Path>,
        words: &[OsString],
        warning: Option<String>,
    ) -> Self {
        let lossy =
            |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let digest =
            |(name, path): (&str, &Path)| Some((name.to_owned(), of_bytes(&std::fs::read(path).ok()?)));
        let files = [("program", &*program.path)].into_iter().chain(library.map(|path| ("library", path)));
        let files = files.filter_map(digest).collect();
        Self {
            schema: SCHEMA,
            provenance: Provenance { files, ..Provenance::collect(setting.seed) },
            file: program.path.display().to_string(),
            program: lossy(&program.words),
            library: library.map(|path| path.display().to_string()),
            words: lossy(words),
            comparison: Comparison::new(setting, warning.into_iter().collect()),
        }
    }
}
