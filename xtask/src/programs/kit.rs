//! What runs need, made anew each time: drivers, databases to start from, a text to compress, a directory.
use super::play::{Lock, Stage, prepare};
use super::table::{Amount, Program, Words, fill};
use anyhow::{Context as _, Result, ensure};
use core::cell::Cell;
use core::net::Ipv4Addr;
use core::time::Duration;
use std::collections::HashSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process, thread};

/// A lock that takes a time slice for each hand-over gets so much less to do.
const LESS_FOR_SLOW: u64 = 100;
/// ... and so many times as long.
const LONGER_FOR_SLOW: u32 = 3;
/// How long a command may take in a check, and when it is measured.
const LIMITS: [Duration; 2] = [Duration::from_mins(1), Duration::from_mins(3)];

/// The directory of one invocation; removed when it is over, but for what failed.
pub(crate) struct Kit {
    pub(crate) root: PathBuf,
    scratch: PathBuf,
    work: PathBuf,
    pub(crate) cpus: usize,
    /// Whether programs are measured, and not only checked.
    measured: bool,
    /// How long a command may take, under a lock that is not slow.
    pub(crate) limit: Duration,
    /// Commands that were run to make something ready, and programs that take a lock.
    done: HashSet<Words>,
}

impl Kit {
    pub(crate) fn new(root: &Path, measured: bool) -> Result<Self> {
        let scratch = crate::built::target(root).join("programs");
        let work = scratch.join(format!("work-{}", process::id()));
        fs::create_dir_all(work.join("built"))?;
        let cpus = thread::available_parallelism()?.get();
        let (limit, done) = (LIMITS[usize::from(measured)], HashSet::new());
        Ok(Self { root: root.to_owned(), scratch, work, cpus, measured, limit, done })
    }

    /// Makes what a program needs, and sees that it takes the locks' libraries, unless that was done.
    pub(crate) fn get_ready(&mut self, program: &Program, locks: &[Lock]) -> Result<()> {
        let values = self.values(program);
        let filled = |words: &Words| words.iter().map(|word| fill(word, &values)).collect::<Words>();
        fs::create_dir_all(self.work.join("shared").join(&program.name))?;
        for words in program.build.iter().chain(&program.fixture).map(filled) {
            if self.done.insert(words.clone()) {
                prepare(&words, &self.work)?;
            }
        }
        let corpus = self.corpus(program);
        if !corpus.exists() {
            fs::write(corpus, text((self.amount(program).corpus << 20) as usize))?;
        }
        for words in program.under_lock() {
            let command = fill(&words[0], &values);
            for lock in locks {
                if self.done.insert(vec![command.clone(), lock.name.clone()]) {
                    takes_library(&command, lock)?;
                }
            }
        }
        Ok(())
    }

    /// Compiles one of the small interposers in tests/programs/preload.
    pub(crate) fn compile_preload(&self, name: &str) -> Result<PathBuf> {
        let library = self.work.join("built").join(format!("{name}.so"));
        let source = self.root.join("tests/programs/preload").join(format!("{name}.c"));
        let (from, to) = (source.to_string_lossy(), library.to_string_lossy());
        let words = ["cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", &from, "-o", &to, "-ldl"];
        prepare(&words.map(str::to_owned), &self.work)?;
        Ok(library)
    }

    /// One run with so many threads for each CPU, in an empty directory.
    pub(crate) fn stage<'a>(&self, program: &'a Program, load: usize, lock: &'a Lock) -> Result<Stage<'a>> {
        let dir = self.work.join("run");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir)?;
        let threads = self.cpus * load;
        let mut values = self.values(program);
        values.extend(work(self.amount(program), load, threads as u64, lock.slow));
        values.push(("threads", threads.to_string()));
        values.push(("dir", dir.display().to_string()));
        values.push(("port", free_port()?));
        let limit = if lock.slow && load > 1 { self.limit * LONGER_FOR_SLOW } else { self.limit };
        Ok(Stage { program, lock, dir, values, limit, used: Cell::default() })
    }

    /// Keeps what a failed run left behind; where.
    pub(crate) fn keep(&self, stage: &Stage<'_>, name: &str) -> Result<PathBuf> {
        let kept = self.scratch.join("failed").join(name);
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(self.scratch.join("failed"))?;
        fs::rename(&stage.dir, &kept)?;
        Ok(kept)
    }

    fn values(&self, program: &Program) -> Vec<(&'static str, String)> {
        let path = |path: PathBuf| path.display().to_string();
        vec![
            ("cpus", self.cpus.to_string()),
            ("source", path(self.root.join("tests/programs"))),
            ("built", path(self.work.join("built"))),
            ("shared", path(self.work.join("shared").join(&program.name))),
            ("corpus", path(self.corpus(program))),
            ("mib", self.amount(program).corpus.to_string()),
        ]
    }

    fn amount(&self, program: &Program) -> Amount {
        if self.measured { program.measure } else { program.check }
    }

    fn corpus(&self, program: &Program) -> PathBuf {
        self.work.join(format!("corpus-{}", self.amount(program).corpus))
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.work);
    }
}

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

pub(crate) fn free_port() -> io::Result<String> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port().to_string())
}

/// Where a program is that is named as one would in a shell, or a file by its absolute name.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Joined with an absolute name, a directory does not count.
    env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// Sees that the dynamic linker loads the library into this program, and that the library takes the name of
/// the lock without a word. A static program takes none, and its run would show libc's locks.
fn takes_library(command: &str, lock: &Lock) -> Result<()> {
    let Some(library) = &lock.library else { return Ok(()) };
    let library = library.to_string_lossy();
    let path = find(command).with_context(|| format!("{command} is not on the path"))?;
    let output = lock.command("ldd").arg(path).output()?;
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // A complaint names the library too, and goes the same way.
    let is_loaded = printed.lines().any(|line| line.contains(&*library) && !line.starts_with("ERROR"));
    ensure!(
        is_loaded && said.is_empty(),
        "{command} is no dynamically linked program, or {library} does not do for `{}`: {}",
        lock.name,
        said.lines().next().unwrap_or_default()
    );
    Ok(())
}

/// A text that compresses about as well as prose: words of a made-up language, the same each time.
fn text(length: usize) -> Vec<u8> {
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
    let (mut text, mut line) = (Vec::new(), 0);
    while text.len() < length {
        // The product of two even choices favours small numbers.
        let (a, b) = (random() % 4096, random() % 4096);
        text.extend(&words[(a * b / 4096) as usize]);
        if text.len() - line > 80 {
            text.push(b'\n');
            line = text.len();
        }
    }
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

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
        let (first, second) = (text(1 << 20), text(1 << 20));
        assert_eq!(first.len(), 1 << 20);
        assert!(first == second && first.is_ascii());
    }

    fn preloaded(name: &str, library: &str) -> Lock {
        Lock { name: name.to_owned(), library: Some(library.into()), ..Lock::default() }
    }

    #[test]
    fn a_library_that_is_not_there_is_no_lock() {
        let missing = preloaded("stanchion", "/nowhere/libstanchion_preload.so");
        let error = takes_library("grep", &missing).expect_err("it can not be loaded").to_string();
        assert!(error.contains("/nowhere") && error.contains("stanchion"), "{error}");
        assert!(error.contains("ERROR: ld.so"), "{error}");
        assert!(takes_library("grep", &Lock::default()).is_ok());
    }

    #[test]
    fn dynamic_programs_take_a_library_and_others_do_not() {
        // libc itself is a library that can be preloaded.
        let output = Command::new("ldd").arg("/bin/sh").output().expect("ldd is here");
        let printed = String::from_utf8(output.stdout).expect("paths are text");
        let libc = printed.split_whitespace().find(|word| word.starts_with('/') && word.contains("libc."));
        let lock = preloaded("x", libc.expect("a shell takes libc"));
        assert!(takes_library("grep", &lock).is_ok());
        let error = takes_library("/proc/self/environ", &lock).expect_err("that is no program").to_string();
        assert!(error.contains("no dynamically linked program"), "{error}");
        assert!(takes_library("no-such-program-here", &lock).is_err());
    }
}
