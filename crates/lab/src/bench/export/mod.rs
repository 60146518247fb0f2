//! Result files: opened, or refused, before anything is measured; rewritten whole after every group.
mod csv;
mod html;
mod json;
mod svg;

use super::report::Report;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Turns a report into the text of a file.
type Writer = fn(&Report) -> String;

/// One file to keep up to date.
struct Target {
    path: PathBuf,
    writer: Writer,
    /// Made by us and not written yet: taken away again if nothing comes of the run.
    fresh: bool,
}

/// All files a run was asked for.
#[derive(Default)]
pub(crate) struct Exports {
    targets: Vec<Target>,
}

/// Where results should go, as typed.
pub(crate) struct Wanted<'a> {
    pub json: Option<&'a Path>,
    pub csv: Option<&'a Path>,
    pub html: Option<&'a Path>,
    pub dir: Option<&'a Path>,
    pub force: bool,
}

impl Exports {
    /// Makes sure that every file can be written, and creates it. The error names the file.
    pub(crate) fn open(wanted: &Wanted) -> Result<Self, String> {
        let mut paths: Vec<(PathBuf, Writer)> = Vec::new();
        if let Some(dir) = wanted.dir {
            fs::create_dir_all(dir).map_err(|error| said(dir, "cannot create the directory", &error))?;
            paths.push((dir.join("bench.json"), json::write));
            paths.push((dir.join("bench.csv"), csv::write));
            paths.push((dir.join("bench.html"), html::write));
        }
        let single: [(Option<&Path>, Writer); 3] =
            [(wanted.json, json::write), (wanted.csv, csv::write), (wanted.html, html::write)];
        paths.extend(single.into_iter().filter_map(|(path, writer)| Some((path?.to_owned(), writer))));
        for (index, (path, _)) in paths.iter().enumerate() {
            if paths[..index].iter().any(|(other, _)| other == path) {
                return Err(format!("{} is named twice as output", path.display()));
            }
        }

        // All are looked at before any is created, so that a refusal leaves nothing behind.
        for (path, _) in &paths {
            if path.is_dir() {
                return Err(format!("{} is a directory, not a file to write", path.display()));
            }
            if !wanted.force && path.symlink_metadata().is_ok() {
                return Err(format!("{} exists already; use --force to replace it", path.display()));
            }
        }
        let mut exports = Self::default();
        for (path, writer) in paths {
            let fresh = !path.exists();
            // Replacing goes through a neighbour and a rename, so it is the directory that must be writable.
            let probe = OpenOptions::new().create(true).append(true).open(&path).and_then(|_| {
                let neighbour = neighbour(&path);
                fs::write(&neighbour, "")?;
                fs::remove_file(neighbour)
            });
            if let Err(error) = probe {
                exports.abandon();
                return Err(said(&path, "cannot write", &error));
            }
            exports.targets.push(Target { path, writer, fresh });
        }
        Ok(exports)
    }

    /// Replaces every file by the present state of the report; a reader sees the old one or the new one.
    pub(crate) fn write(&mut self, report: &Report) -> Result<(), String> {
        for target in &mut self.targets {
            let neighbour = neighbour(&target.path);
            fs::write(&neighbour, (target.writer)(report))
                .and_then(|()| fs::rename(&neighbour, &target.path))
                .map_err(|error| said(&target.path, "cannot write", &error))?;
            target.fresh = false;
        }
        Ok(())
    }

    /// Takes away the empty files of a run that came to nothing.
    pub(crate) fn abandon(&mut self) {
        for target in self.targets.iter().filter(|target| target.fresh) {
            let _ = fs::remove_file(&target.path);
        }
        self.targets.clear();
    }

    /// The files, for the last line on the terminal.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.targets.iter().map(|target| target.path.as_path())
    }
}

fn neighbour(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

fn said(path: &Path, what: &str, error: &io::Error) -> String {
    format!("{what} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing;

    fn wanted(dir: &Path, force: bool) -> Wanted<'_> {
        Wanted { json: None, csv: None, html: None, dir: Some(dir), force }
    }

    #[test]
    fn a_directory_gets_three_files_that_carry_the_seed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let out = dir.path().join("a/b");
        let mut exports = Exports::open(&wanted(&out, false)).expect("writable");
        exports.write(&testing::report(&["a"])).expect("written");
        for name in ["bench.json", "bench.csv", "bench.html"] {
            let text = fs::read_to_string(out.join(name)).expect(name);
            assert!(text.contains("seed") && text.contains("42"), "{name}");
        }
        assert_eq!(fs::read_dir(&out).expect("readable").count(), 3, "no neighbour is left behind");
    }

    #[test]
    fn what_exists_is_refused_without_force_and_nothing_is_created() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::write(dir.path().join("bench.html"), "precious").expect("written");
        let error = Exports::open(&wanted(dir.path(), false)).err().expect("refused");
        assert!(error.contains("bench.html exists already") && error.contains("--force"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
        assert!(Exports::open(&wanted(dir.path(), true)).is_ok());
    }

    #[test]
    fn a_run_that_comes_to_nothing_leaves_nothing_new() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Exports::open(&wanted(dir.path(), false)).expect("writable").abandon();
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
    }

    #[test]
    fn the_same_file_twice_and_a_directory_are_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("x");
        let twice = Wanted { json: Some(&file), csv: Some(&file), html: None, dir: None, force: true };
        assert!(Exports::open(&twice).err().is_some_and(|error| error.contains("twice")));
        let directory = Wanted { json: Some(dir.path()), csv: None, html: None, dir: None, force: true };
        assert!(Exports::open(&directory).err().is_some_and(|error| error.contains("is a directory")));
    }
}
