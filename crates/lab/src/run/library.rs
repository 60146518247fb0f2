//! The interposer: where it is found; whether it can be loaded, and understands what it is told.
//!
//! A word that the library does not know costs one line on standard error, and then the program runs with
//! libc's locks. In a comparison that would be libc under another name. So this command is run with it first.
use super::elf;
use super::environment::{Environment, FILE};
use super::record::cost::SECTIONS;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The library: the `flag` of the command line, what the `variable` STANCHION_PRELOAD says, or what lies near
/// the running `executable`. It is a path from the root because the program may run elsewhere; the error is
/// one line.
pub(crate) fn find(
    flag: Option<&Path>,
    variable: Option<&OsStr>,
    executable: Option<&Path>,
) -> Result<PathBuf, String> {
    let variable = variable.filter(|value| !value.is_empty()).map(Path::new);
    let (whence, path) = match (flag, variable) {
        (Some(path), _) => ("--library ", path.to_owned()),
        (None, Some(path)) => ("STANCHION_PRELOAD ", path.to_owned()),
        (None, None) => ("", usual(executable).into_iter().find(|path| path.is_file()).ok_or_else(|| {
            format!(
                "{FILE} not found beside this command; build it with 'cargo build --release -p stanchion-preload --features family', or say \
                 where it is by --library or STANCHION_PRELOAD"
            )
        })?),
    };
    let message = |reason: &str| format!("{whence}{}: {reason}", path.display());
    let whole = path.canonicalize().map_err(|error| message(&error.to_string()))?;
    if !whole.is_file() {
        return Err(message("is no file; give the library itself"));
    }
    elf::loader(&whole).map_err(|reason| message(&reason))?;
    if whole.as_os_str().as_bytes().iter().any(|byte| b": \t\n".contains(byte)) {
        return Err(message(
            "LD_PRELOAD cannot hold a path with a blank or a colon; put the library elsewhere",
        ));
    }
    Ok(whole)
}

/// Where Debian puts libraries of this architecture, below `lib`.
const MULTIARCH: &str =
    if cfg!(target_arch = "aarch64") { "lib/aarch64-linux-gnu" } else { "lib/x86_64-linux-gnu" };

/// Beside the command, in `lib` beside its directory, and in a build's directories.
fn usual(executable: Option<&Path>) -> Vec<PathBuf> {
    let Some(dir) = executable.and_then(Path::parent) else { return Vec::new() };
    let over = dir.parent().unwrap_or(dir);
    let target =
        if over.join("debug").is_dir() || over.join("release").is_dir() { over } else { &dir.join("target") };
    [dir.to_owned(), over.join("lib"), over.join(MULTIARCH), target.join("release"), target.join("debug")]
        .map(|dir| dir.join(FILE))
        .into()
}

const WORD: &str = "run-probe";

/// Takes pthread locks and ends the process, if the command started itself by [`WORD`]. The library may read
/// what it is told at the first lock only, and what it records of so many tells what that costs.
pub(crate) fn work(mut words: impl Iterator<Item = String>) {
    if words.next().as_deref() == Some(WORD) {
        crate::bench::take_pthread_locks(SECTIONS);
        std::process::exit(0);
    }
}

/// Takes a lock in the environment of the program; the error is what loader or library had to say.
pub(crate) fn probe(environment: &Environment) -> Result<(), String> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(WORD).stdin(Stdio::null());
    environment.apply(&mut command);
    let output = command.output().map_err(|error| format!("the library cannot be tried: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let printed = printed.lines().map(str::trim).find(|line| !line.is_empty());
    match printed {
        Some(line) => {
            Err(format!("the library does not do as asked: {}", line.trim_start_matches("stanchion: ")))
        }
        None if !output.status.success() => {
            Err(format!("this command does not run with the library: {}", output.status))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::header32;
    use std::fs;

    /// A directory that looks like an installation, with a library (this test, for want of another) at `at`.
    fn installed(at: &str) -> (tempfile::TempDir, Result<PathBuf, String>) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let library = dir.path().join(at);
        fs::create_dir_all(library.parent().expect("a directory")).expect("created");
        fs::create_dir_all(dir.path().join("bin")).expect("created");
        fs::copy(std::env::current_exe().expect("this test is a file"), &library).expect("copied");
        let executable = dir.path().join("bin/stanchion");
        let found = find(None, None, Some(&executable));
        (dir, found)
    }

    #[test]
    fn it_is_found_beside_the_command_and_in_the_places_of_builds() {
        for at in ["bin", "lib", MULTIARCH, "release", "debug", "bin/target/release"] {
            let (dir, found) = installed(&format!("{at}/{FILE}"));
            let expected = dir.path().canonicalize().expect("exists").join(at).join(FILE);
            assert_eq!(found, Ok(expected), "{at}");
        }
        let (_, found) = installed("elsewhere/lib.so");
        assert!(
            found
                .expect_err("not there")
                .contains("cargo build --release -p stanchion-preload --features family")
        );
    }

    #[test]
    fn the_flag_comes_before_the_variable_and_both_before_the_usual_places() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let exe = std::env::current_exe().expect("this test is a file");
        let [flag, variable] = ["flag.so", "variable.so"].map(|name| {
            let path = dir.path().join(name);
            fs::copy(&exe, &path).expect("copied");
            path.canonicalize().expect("exists")
        });
        let find = |flag, variable| find(flag, variable, Some(&exe));
        assert_eq!(find(Some(flag.as_path()), Some(variable.as_os_str())), Ok(flag.clone()));
        assert_eq!(find(None, Some(variable.as_os_str())), Ok(variable.clone()));
        assert!(
            find(None, Some(OsStr::new("/none/x.so")))
                .expect_err("missing")
                .starts_with("STANCHION_PRELOAD /none")
        );
    }

    #[test]
    fn what_the_loader_would_not_load_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let refused = |path: &Path| find(Some(path), None, None).expect_err("refused");
        let old = dir.path().join("old.so");
        fs::write(&old, header32(3)).expect("written");
        assert!(refused(&old).contains("32-bit"));
        assert!(refused(dir.path()).contains("is no file"));
        let blank = dir.path().join("a b.so");
        fs::copy(std::env::current_exe().expect("this test is a file"), &blank).expect("copied");
        assert!(refused(&blank).contains("blank or a colon"));
    }
}
