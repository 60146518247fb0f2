//! What runs need: compiled drivers, databases to start from, a text to compress, a directory each; all of it
//! made anew each time.
use super::play::{Lock, Stage, prepare};
use super::table::{Amount, Program, Words, fill};
use anyhow::Result;
use core::time::Duration;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::{env, process, thread};

/// A lock that takes a time slice for each hand-over gets so much less to do.
const LESS_FOR_SLOW: u64 = 100;
/// ... and so many times as long.
const LONGER_FOR_SLOW: u64 = 3;

/// How many times as long as in a check a command may take that is measured.
const LONGER_TO_MEASURE: u64 = 3;

/// The directory of one invocation; removed when it is over, but for what failed.
pub(crate) struct Kit {
    source: PathBuf,
    scratch: PathBuf,
    work: PathBuf,
    pub(crate) cpus: usize,
    /// Whether programs are measured, and not only checked.
    measured: bool,
    done: HashSet<Words>,
}

impl Kit {
    pub(crate) fn new(root: &Path, measured: bool) -> Result<Self> {
        let scratch = crate::built::target(root).join("programs");
        let work = scratch.join(format!("work-{}", process::id()));
        fs::create_dir_all(work.join("built"))?;
        let cpus = thread::available_parallelism()?.get();
        Ok(Self { source: root.join("tests/programs"), scratch, work, cpus, measured, done: HashSet::new() })
    }

    /// Makes what a program needs, unless that was done.
    pub(crate) fn get_ready(&mut self, program: &Program) -> Result<()> {
        let values = self.values(program);
        let filled = |words: &Words| words.iter().map(|word| fill(word, &values)).collect::<Words>();
        fs::create_dir_all(self.work.join("shared").join(&program.name))?;
        for words in program.build.iter().chain(&program.fixture).map(filled) {
            if self.done.insert(words.clone()) {
                prepare(&words, &self.work)?;
            }
        }
        let mib = self.amount(program).corpus;
        let corpus = self.corpus(mib);
        if mib > 0 && !corpus.exists() {
            write_text(&corpus, mib)?;
        }
        Ok(())
    }

    /// The programs that run under the lock.
    pub(crate) fn under_lock(&self, program: &Program) -> Vec<String> {
        let values = self.values(program);
        program.under_lock().map(|words| fill(&words[0], &values)).collect()
    }

    /// Compiles one of the small interposers in tests/programs/preload.
    pub(crate) fn compile_preload(&self, name: &str) -> Result<PathBuf> {
        let library = self.work.join("built").join(format!("{name}.so"));
        let source = self.source.join("preload").join(format!("{name}.c"));
        let (from, to) = (source.to_string_lossy(), library.to_string_lossy());
        let words = ["cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", &from, "-o", &to, "-ldl"];
        prepare(&words.map(str::to_owned), &self.work)?;
        Ok(library)
    }

    /// An empty directory and the values of one run.
    pub(crate) fn stage(&self, program: &Program, overcommit: usize, lock: &Lock) -> Result<Stage> {
        let dir = self.work.join("run");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir)?;
        let threads = self.cpus * overcommit;
        let mut values = self.values(program);
        values.extend(work(self.amount(program), overcommit, threads as u64, lock.slow));
        values.push(("threads", threads.to_string()));
        values.push(("dir", dir.display().to_string()));
        let limit = if self.measured { program.limit * LONGER_TO_MEASURE } else { program.limit };
        let limit = if lock.slow && overcommit > 1 { limit * LONGER_FOR_SLOW } else { limit };
        Ok(Stage { dir, values, limit: Duration::from_secs(limit) })
    }

    /// Keeps what a failed run left behind; where.
    pub(crate) fn keep(&self, stage: &Stage, name: &str) -> Result<PathBuf> {
        let kept = self.scratch.join("failed").join(name);
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(self.scratch.join("failed"))?;
        fs::rename(&stage.dir, &kept)?;
        Ok(kept)
    }

    fn values(&self, program: &Program) -> Vec<(&'static str, String)> {
        let path = |path: PathBuf| path.display().to_string();
        let mib = self.amount(program).corpus;
        vec![
            ("cpus", self.cpus.to_string()),
            ("source", path(self.source.clone())),
            ("built", path(self.work.join("built"))),
            ("shared", path(self.work.join("shared").join(&program.name))),
            ("corpus", path(self.corpus(mib))),
            ("mib", mib.to_string()),
        ]
    }

    fn amount(&self, program: &Program) -> Amount {
        if self.measured { program.measure } else { program.check }
    }

    fn corpus(&self, mib: u64) -> PathBuf {
        self.work.join(format!("corpus-{mib}"))
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// Values that tell how much to do.
fn work(amount: Amount, overcommit: usize, threads: u64, slow: bool) -> Vec<(&'static str, String)> {
    let size = if overcommit > 1 { amount.over.unwrap_or(amount.size) } else { amount.size };
    let size = if slow && overcommit > 1 { (size / LESS_FOR_SLOW).max(1) } else { size };
    vec![
        ("seconds", amount.seconds.to_string()),
        ("size", size.to_string()),
        ("total", (size * threads).to_string()),
        ("share", (size / threads).max(1).to_string()),
    ]
}

/// Where a program is that is named as one would in a shell, or a file by its absolute name.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let here = |path: &PathBuf| if name.starts_with('/') { path.exists() } else { path.is_file() };
    // Joined with an absolute name, a directory does not count.
    env::split_paths(&path).map(|dir| dir.join(name)).find(here)
}

/// What the program needs and is not on this machine.
pub(crate) fn missing(program: &Program) -> Vec<&str> {
    program.needs.iter().map(String::as_str).filter(|need| find(need).is_none()).collect()
}

/// A text that compresses about as well as prose: words of a made-up language, some of them often. The same
/// each time.
fn write_text(path: &Path, mib: u64) -> Result<()> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut word = || {
        let length = 2 + random() % 8;
        (0..length).map(|_| b'a' + (random() % 26) as u8).chain([b' ']).collect::<Vec<u8>>()
    };
    let words: Vec<Vec<u8>> = (0..4096).map(|_| word()).collect();
    let mut out = BufWriter::new(File::create(path)?);
    let (mut left, mut line) = ((mib << 20) as usize, 0);
    while left > 0 {
        // The product of two even choices favours small numbers.
        let (a, b) = (random() % 4096, random() % 4096);
        let word = &words[(a * b / 4096) as usize];
        let piece = &word[..word.len().min(left)];
        out.write_all(piece)?;
        left -= piece.len();
        line += piece.len();
        if line > 80 && left > 0 {
            out.write_all(b"\n")?;
            (left, line) = (left - 1, 0);
        }
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(values: &[(&'static str, String)], name: &str) -> u64 {
        let found = values.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, value)| value.parse().ok()).expect("a number")
    }

    #[test]
    fn work_is_split_among_threads_and_less_for_slow_locks() {
        let amount = Amount { size: 1000, over: Some(400), ..Amount::default() };
        let one = work(amount, 1, 2, true);
        assert_eq!((value(&one, "size"), value(&one, "total"), value(&one, "share")), (1000, 2000, 500));
        let many = work(amount, 8, 16, false);
        assert_eq!((value(&many, "size"), value(&many, "total"), value(&many, "share")), (400, 6400, 25));
        assert_eq!(value(&work(amount, 8, 16, true), "size"), 4);
        assert_eq!(value(&work(amount, 8, 16, true), "share"), 1);
    }

    #[test]
    fn the_text_has_its_length_and_is_always_the_same() {
        let path = env::temp_dir().join(format!("stanchion-corpus-{}", process::id()));
        write_text(&path, 1).expect("it is written");
        let first = fs::read(&path).expect("it is read");
        write_text(&path, 1).expect("it is written again");
        let second = fs::read(&path).expect("it is read again");
        fs::remove_file(&path).expect("tidying up");
        assert_eq!(first.len(), 1 << 20);
        assert!(first == second && first.is_ascii());
    }
}
