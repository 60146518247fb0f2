//! Result files: opened, or refused, before anything is measured; rewritten whole whenever there is more to
//! say, or, if they are no regular files, written to once at the end; as [`json`] and [`csv()`], and as pages
//! ([`page`]) with plots ([`svg`], [`mod@ratios`]), their [`legend`] and the tables of the terminal
//! ([`grid`]), which follow from [`columns`].
pub mod columns;
mod files;
pub mod grid;
pub mod legend;
pub mod page;
pub mod ratios;
pub mod svg;
mod targets;

pub use files::{FLAGS, Files, ResultFile};
pub use targets::{Later, stream_failed};

use serde::Serialize;
use std::path::PathBuf;
use targets::Targets;

/// Colours of lines, in the order of their numbers.
const LINES: [&str; 10] = [
    "#1f77b4", "#d1343f", "#2a9d4e", "#c77d0a", "#8e44ad", "#0f9aa8", "#d6539c", "#7a8b1f", "#4c5fd5",
    "#9c5a2b",
];

/// The rest of the style of a page with so many lines in its plots.
pub fn colours(lines: usize) -> String {
    let rule = |(index, colour)| format!(".c{index}{{--colour:{colour}}}");
    LINES.iter().cycle().enumerate().take(lines).map(rule).collect()
}

/// Turns a report into the text of a file.
pub type Writer<R> = fn(&R) -> String;

/// All files a run was asked for, each with its writer.
pub struct Exports<R> {
    targets: Targets,
    writers: Vec<Writer<R>>,
}

pub fn json<R: Serialize>(report: &R) -> String {
    serde_json::to_string_pretty(report).expect("a report has only string keys") + "\n"
}

/// Rows of names and values, the names of all being the same, below comments that say where they come from.
pub fn csv<N: ToString, V: ToString>(
    comments: impl IntoIterator<Item = String>,
    rows: impl IntoIterator<Item: IntoIterator<Item = (N, V)>>,
) -> String {
    let comment = |comment: String| format!("# {}\n", comment.replace(['\n', '\r'], " "));
    let text: String = comments.into_iter().map(comment).collect();
    let mut writer = ::csv::Writer::from_writer(text.into_bytes());
    for (index, row) in rows.into_iter().enumerate() {
        let texts = row.into_iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let (names, values): (Vec<String>, Vec<String>) = texts.unzip();
        let head = (index == 0).then_some(names);
        for record in head.into_iter().chain([values]) {
            writer.write_record(record).expect("all have the same columns and memory does not fail");
        }
    }
    String::from_utf8_lossy(&writer.into_inner().expect("memory does not fail")).into_owned()
}

pub struct Formats<R> {
    /// Files in a directory are called this, with the ending of their format.
    pub stem: &'static str,
    pub json: Writer<R>,
    pub csv: Writer<R>,
    /// None for results that have no page.
    pub html: Option<Writer<R>>,
}

impl<R> Exports<R> {
    /// Makes sure that every file can be written, and creates it. The error names the file.
    pub fn open(files: Vec<(PathBuf, Writer<R>)>, force: bool) -> Result<Self, String> {
        let (paths, writers) = files.into_iter().unzip();
        Ok(Self { targets: Targets::open(paths, force)?, writers })
    }

    /// Replaces every file by the present state of the report; a reader sees the old one or the new one. A
    /// writer without a word leaves its file as it is. The error is the first one; the others are written.
    pub fn write(&mut self, report: &R) -> Result<(), String> {
        let pairs = self.targets.0.iter_mut().zip(&self.writers);
        let written: Vec<_> = pairs.map(|(target, writer)| target.write(writer(report))).collect();
        written.into_iter().collect()
    }

    /// The files that have the last state, a line each. Streams get it now, because only then it is known
    /// whether they take it.
    pub fn written(&mut self) -> String {
        self.targets.written()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    const FORMATS: Formats<u32> = Formats {
        stem: "result",
        json: |seed| format!("json, seed {seed}"),
        csv: |seed| format!("csv, seed {seed}"),
        html: Some(|seed| format!("html, seed {seed}")),
    };

    fn open(wanted: &Files) -> Result<Exports<u32>, String> {
        wanted.open(&FORMATS)
    }

    fn wanted(dir: &Path, force: bool) -> Files {
        let results = ResultFile { force, ..ResultFile::default() };
        Files { out: Some(dir.to_owned()), results, ..Files::default() }
    }

    fn named(json: &Path, csv: Option<&Path>, force: bool) -> Files {
        let results = ResultFile { json: Some(json.to_owned()), force, quiet: false };
        Files { csv: csv.map(Path::to_owned), results, ..Files::default() }
    }

    #[test]
    fn a_directory_gets_three_files_that_carry_the_seed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let out = dir.path().join("a/b");
        let mut exports = open(&wanted(&out, false)).expect("writable");
        exports.write(&42).expect("written");
        for name in ["result.json", "result.csv", "result.html"] {
            let text = fs::read_to_string(out.join(name)).expect(name);
            assert!(text.contains("seed") && text.contains("42"), "{name}");
        }
        assert_eq!(fs::read_dir(&out).expect("readable").count(), 3, "no neighbour is left behind");
    }

    #[test]
    fn what_exists_is_refused_without_force_and_nothing_is_created() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::write(dir.path().join("result.html"), "precious").expect("written");
        let error = open(&wanted(dir.path(), false)).err().expect("refused");
        assert!(error.contains("result.html exists already") && error.contains("--force"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
        assert!(open(&wanted(dir.path(), true)).is_ok());
    }

    #[test]
    fn a_run_that_comes_to_nothing_leaves_nothing_new() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let there = || fs::read_dir(dir.path()).expect("readable").count();
        let exports = open(&wanted(dir.path(), false)).expect("writable");
        assert_eq!(there(), 3);
        drop(exports);
        assert_eq!(there(), 0, "whoever goes without a word leaves nothing, too");
    }

    #[test]
    fn a_writer_without_a_word_leaves_its_file_as_it_is() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let [old, new, told] = ["old", "new", "told"].map(|name| dir.path().join(name));
        fs::write(&old, "precious").expect("written");
        let silent: Writer<u32> = |_| String::new();
        let files = vec![(old.clone(), silent), (new.clone(), silent), (told.clone(), |_| "word".to_owned())];
        let mut exports = Exports::open(files, true).expect("writable");
        exports.write(&1).expect("written");
        assert_eq!(exports.written(), format!("written: {}\n", told.display()));
        drop(exports);
        assert!(fs::read_to_string(old).expect("there") == "precious" && !new.exists() && told.exists());
    }

    #[test]
    fn devices_pipes_and_links_are_written_to_and_stay_what_they_are() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let [null, pipe, link, file] = ["null", "pipe", "link", "file"].map(|name| dir.path().join(name));
        std::os::unix::fs::symlink("/dev/null", &null).expect("linked");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        fs::write(&file, "old").expect("written");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).expect("readable")
        });
        let mut exports = open(&named(&null, Some(&pipe), false)).expect("nothing is lost");
        for seed in [1, 2] {
            exports.write(&seed).expect("kept");
        }
        drop(exports);
        assert_eq!(reader.join().expect("read"), "csv, seed 2");
        open(&named(&null, Some(&link), true)).expect("writable").write(&3).expect("written");
        assert_eq!(fs::read_to_string(&file).expect("readable"), "csv, seed 3");
        assert!(null.is_symlink() && link.is_symlink() && !null.metadata().expect("there").is_file());
        assert!(open(&named(&null, Some(&link), false)).is_err(), "the file would be lost");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 4);
    }

    #[test]
    fn a_stream_that_takes_nothing_has_failed() {
        let mut exports = open(&named(Path::new("/dev/full"), None, false)).expect("nothing is lost");
        exports.write(&1).expect("kept");
        assert!(!stream_failed(), "it gets its text at the end");
        assert_eq!(exports.written(), "");
        assert!(stream_failed());
    }

    #[test]
    fn an_open_descriptor_is_written_to_where_it_stands() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("x");
        let open_as = |file: &File| {
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            open(&named(&path, None, false))
        };
        let mut file = File::create(&path).expect("created");
        file.write_all(b"head, ").expect("written");
        open_as(&file).expect("writable").write(&1).expect("kept");
        file.write_all(b", tail").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "head, json, seed 1, tail");
        assert!(open_as(&File::open(&path).expect("there")).is_err(), "it can only be read");
    }

    #[test]
    fn a_disk_that_fills_leaves_no_part_and_the_other_files_are_written() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let [json, csv] = ["json", "csv"].map(|name| dir.path().join(name));
        let mut exports = open(&named(&json, Some(&csv), false)).expect("writable");
        std::os::unix::fs::symlink("/dev/full", dir.path().join("json.part")).expect("linked");
        assert!(exports.write(&1).expect_err("full").contains("cannot write"));
        assert_eq!(exports.written(), format!("written: {}\n", csv.display()));
        drop(exports);
        let left: Vec<_> =
            fs::read_dir(dir.path()).expect("readable").map(|file| file.expect("a file").path()).collect();
        assert_eq!(left, [csv]);
    }

    #[test]
    fn only_what_has_the_last_state_is_called_written() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let [json, gone] = ["json", "gone"].map(|name| dir.path().join(name));
        fs::create_dir(&gone).expect("made");
        let csv = gone.join("csv");
        let mut exports = open(&named(&json, Some(&csv), false)).expect("writable");
        assert_eq!(exports.written(), "", "nothing yet");
        exports.write(&1).expect("written");
        assert_eq!(exports.written().lines().count(), 2);
        fs::remove_dir_all(&gone).expect("ours");
        assert!(exports.write(&2).is_err());
        assert_eq!(exports.written(), format!("written: {}\n", json.display()));
    }

    #[test]
    fn the_same_file_twice_and_a_directory_are_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("x");
        let refusal = |files| open(&files).err().expect("refused");
        assert!(refusal(named(&file, Some(&file), true)).contains("twice"));
        fs::write(&file, "").expect("written");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        assert!(refusal(named(&file, Some(&link), true)).contains("twice"));
        assert!(refusal(named(dir.path(), None, true)).contains("is a directory"));
    }
}
