//! Builds the test programs and libraries. Runs one test, with a time limit, and says how it ended.
use super::Case;
use crate::aarch64::{self, TRIPLE};
use crate::files::{ending_in, stem, text};
use crate::{built, process};
use anyhow::{Context as _, Result, ensure};
use core::time::Duration;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, fs};

/// With the usual warnings, which are printed and no errors: a compiler that is not ours may have others.
const COMMON: &[&str] = &["-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-pthread"];
pub(super) const LIBRARY: [&str; 2] = ["-shared", "-fPIC"];
pub(super) const CODE: &[&str] = &["c", "cc"];

pub(super) fn directory(root: &Path, emulated: bool) -> PathBuf {
    built::target(root).join(if emulated { TRIPLE } else { "" }).join("conform")
}

/// Builds what is not current and asks each program for its tests.
pub(super) fn suite(root: &Path, emulated: bool) -> Result<Vec<Case>> {
    let (sources, out) = (root.join("conformance"), directory(root, emulated));
    fs::create_dir_all(&out)?;
    for part in ending_in(CODE, &sources.join("parts"))? {
        build(&sources, &part, &out.join(format!("lib{}.so", stem(&part))), LIBRARY, emulated)?;
    }
    let mut cases = Vec::new();
    for source in ending_in(CODE, &sources.join("tests"))? {
        let program = out.join(stem(&source));
        let here = [format!("-L{}", out.display()), "-Wl,-rpath,$ORIGIN".to_owned()];
        let libraries = linked(&fs::read_to_string(&source)?);
        build(&sources, &source, &program, here.into_iter().chain(libraries), emulated)?;
        let listed = Setting { emulated, ..Setting::default() }.command(&program).arg("--list").output()?;
        ensure!(listed.status.success(), "{} --list failed: {}", program.display(), listed.status);
        let tests = String::from_utf8_lossy(&listed.stdout);
        cases.extend(tests.lines().map(|test| Case { program: program.clone(), test: test.to_owned() }));
    }
    Ok(cases)
}

/// The libraries of ours that a program says it is linked with: `link: NAME` in its first comment.
fn linked(text: &str) -> Vec<String> {
    let words = text.lines().find_map(|line| line.trim_start_matches([' ', '*', '/']).strip_prefix("link: "));
    words.into_iter().flat_map(str::split_whitespace).map(|word| format!("-l{word}")).collect()
}

/// Compiles what is not current, with `$CC` or `$CXX`, or the machine's own compilers.
pub(super) fn build(
    sources: &Path,
    source: &Path,
    path: &Path,
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
    emulated: bool,
) -> Result<()> {
    if !stale(sources, source, path)? {
        return Ok(());
    }
    let cpp = source.extension().is_some_and(|extension| extension == "cc");
    let (variable, usual, standard) = if cpp { ("CXX", "c++", "c++17") } else { ("CC", "cc", "c11") };
    let usual = if emulated { aarch64::compiler(cpp) } else { usual };
    let mut compiler = Command::new(env::var_os(variable).unwrap_or_else(|| usual.into()));
    // Another job may build or use it, too.
    let fresh = path.with_extension(format!("new{}", std::process::id()));
    compiler.arg(format!("-std={standard}")).args(COMMON).arg("-o").arg(&fresh).arg(source);
    let output = compiler.args(words).arg("-ldl").output().with_context(|| {
        let program = compiler.get_program().display();
        format!("the compiler `{program}` does not run; install gcc and g++, or set CC and CXX")
    })?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let failed = || format!("{} does not compile:\n{}", source.display(), printed.trim_end());
    ensure!(output.status.success(), failed());
    fs::rename(&fresh, path)?;
    eprint!("{printed}");
    Ok(())
}

/// Whether the source, or any header, is younger than what was built from it.
fn stale(sources: &Path, source: &Path, path: &Path) -> Result<bool> {
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    let Ok(built) = modified(path) else { return Ok(true) };
    let beside = source.parent().unwrap_or(sources);
    let mut files = [ending_in(&["h"], sources)?, ending_in(&["h"], beside)?].concat();
    files.push(source.to_owned());
    Ok(files.iter().any(|file| modified(file).map_or(true, |changed| changed >= built)))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// For the table: `ok`, `skip` (it does not apply here), `FAIL`, `HANG` (no end in time) or `SIGNAL n`.
    pub(super) word: String,
    /// What was said: why it does not apply, or what went wrong.
    pub(super) what: String,
}

impl Verdict {
    pub(super) fn new(word: &str, what: &str) -> Self {
        Self { word: word.to_owned(), what: what.to_owned() }
    }

    pub(super) fn is_ok(&self) -> bool {
        self.word == "ok"
    }

    pub(super) fn is_fine(&self) -> bool {
        self.is_ok() || self.word == "skip"
    }
}

/// What a test runs in: a column of the table.
#[derive(Clone, Default)]
pub(super) struct Setting {
    pub(super) name: String,
    /// Goes into `LD_PRELOAD`; `None` is libc alone.
    pub(super) preload: Option<PathBuf>,
    /// The words of a command that runs the test, such as a checker's; none if it runs by itself.
    pub(super) wrapper: Vec<String>,
    /// The test is for the emulated machine.
    pub(super) emulated: bool,
    pub(super) env: Vec<(String, String)>,
    pub(super) timeout: Duration,
    /// How often it is run, until it fails.
    pub(super) repeat: u32,
}

impl Setting {
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = match (self.emulated, self.wrapper.split_first()) {
            (true, _) => aarch64::command(program, self.preload.as_deref()),
            (false, None) => Command::new(program),
            (false, Some((first, rest))) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        // A test gives up what does not happen before it is ended, and can then say what it was.
        let timeout = (self.timeout.as_secs() * 2 / 3).max(1);
        command.env_remove("LD_PRELOAD").env("CONFORM_TIMEOUT", timeout.to_string());
        command.envs(self.env.iter().cloned());
        if !self.emulated
            && let Some(library) = &self.preload
        {
            command.env("LD_PRELOAD", library);
        }
        command
    }
}

/// Runs the test until it fails, or as often as is set. It writes to the file `output`, so a process that it
/// leaves behind keeps no pipe open.
pub(super) fn run(case: &Case, setting: &Setting, output: &Path) -> Result<Verdict> {
    for round in 1..=setting.repeat.max(1) {
        let mut command = setting.command(&case.program);
        let outputs = [Path::new("/dev/null"), output];
        let gone = process::run(command.arg(&case.test), outputs, setting.timeout)?;
        let mut verdict = judge(gone.in_time(), &text(output)?);
        if setting.repeat > 1 && !verdict.is_fine() {
            verdict.what = format!("in run {round} of {}: {}", setting.repeat, verdict.what);
        }
        if !verdict.is_ok() {
            return Ok(verdict);
        }
    }
    Ok(Verdict::new("ok", ""))
}

/// The verdict of an end and of what was said on stderr before.
fn judge(ended: Option<ExitStatus>, output: &str) -> Verdict {
    let line = |prefix: &str| output.lines().find_map(|line| line.strip_prefix(prefix));
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let complaint = line("FAIL ").unwrap_or(last);
    let failed = |what: &str| Verdict::new("FAIL", &format!("{what}: {complaint}"));
    let Some(status) = ended else { return Verdict::new("HANG", complaint) };
    match status.code() {
        None => Verdict::new(&format!("SIGNAL {}", status.signal().unwrap_or_default()), complaint),
        Some(0) if output.lines().any(|line| line == "PASS") => Verdict::new("ok", ""),
        Some(0) => failed("it ended with 0 before the test was over"),
        Some(77) => Verdict::new("skip", line("SKIP ").unwrap_or_default()),
        Some(1) if line("FAIL ").is_some() => Verdict::new("FAIL", complaint),
        Some(code) => failed(&format!("it ended with {code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_what_they_are_linked_with() {
        assert_eq!(linked("/* Early.\n * link: uses_locks other\n */\n"), ["-luses_locks", "-lother"]);
        assert!(linked("/* Nothing. */\n").is_empty());
    }

    #[expect(clippy::unnecessary_wraps, reason = "as it is handed to `judge`")]
    fn exited(code: i32) -> Option<ExitStatus> {
        Some(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn ends_are_judged() {
        assert_eq!(judge(exited(0), "noise\nPASS\n"), Verdict::new("ok", ""));
        assert_eq!(judge(exited(77), "SKIP no right\n"), Verdict::new("skip", "no right"));
        assert_eq!(
            judge(exited(1), "FAIL a.c:1: wrong\nFAIL a.c:2: child\n"),
            Verdict::new("FAIL", "a.c:1: wrong")
        );
        assert_eq!(
            judge(exited(255), "too many threads\n"),
            Verdict::new("FAIL", "it ended with 255: too many threads")
        );
        assert_eq!(judge(None, ""), Verdict::new("HANG", ""));
        assert_eq!(judge(Some(ExitStatus::from_raw(11)), "PASS\n"), Verdict::new("SIGNAL 11", "PASS"));
    }

    #[test]
    fn an_end_without_the_word_is_no_pass() {
        assert_eq!(judge(exited(0), "not supported\n").word, "FAIL");
    }

    #[test]
    fn a_test_that_takes_too_long_is_ended_with_its_children() {
        let setting = Setting { timeout: Duration::from_millis(200), repeat: 1, ..Setting::default() };
        let directory = env::temp_dir().join(format!("conform-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let script = directory.join("hangs.sh");
        fs::write(&script, "#!/bin/sh\nsleep 1000 & echo FAIL waits >&2; wait\n").expect("a script");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&script, mode).expect("it is ours");
        let case = Case { program: script, test: "any".to_owned() };
        let verdict = run(&case, &setting, &directory.join("output")).expect("it runs");
        assert_eq!(verdict, Verdict::new("HANG", "waits"));
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
