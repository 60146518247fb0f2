//! Before a run: does the library take the lock's name, and do the programs take the library?
use super::kit;
use super::play::Lock;
use anyhow::{Context as _, Result, bail, ensure};
use std::process::Command;

/// Sees that a program gets the library, and that it takes the name of the lock without a word.
pub(super) fn lock(lock: &Lock) -> Result<()> {
    let Some((_, library)) = lock.env.first() else { return Ok(()) };
    let mut grep = Command::new("grep");
    let output = grep.args(["-cF", library, "/proc/self/maps"]).envs(lock.env.iter().cloned()).output()?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && printed.is_empty() {
        return Ok(());
    }
    let why = printed.lines().next().unwrap_or("it is not mapped into a program that preloads it");
    bail!("{library} does not do for `{}`: {why}", lock.name)
}

/// Sees that the dynamic linker would load the library into this program: a static one takes none, and its
/// run would show libc's locks.
pub(super) fn program(command: &str, lock: &Lock) -> Result<()> {
    let Some((_, library)) = lock.env.first() else { return Ok(()) };
    let path = kit::find(command).with_context(|| format!("{command} is not on the path"))?;
    let output = Command::new("ldd").arg(path).envs(lock.env.iter().cloned()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    // A complaint names the library too, and goes the same way.
    let is_loaded = printed.lines().any(|line| line.contains(library.as_str()) && !line.starts_with("ERROR"));
    ensure!(is_loaded, "{command} takes no preloaded library: it is no dynamically linked program");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::preloaded;
    use super::*;
    use std::path::Path;

    #[test]
    fn a_library_that_is_not_there_is_no_lock() {
        let missing = preloaded("stanchion", Path::new("/nowhere/libstanchion_preload.so"), false);
        let error = lock(&missing).expect_err("it can not be loaded").to_string();
        assert!(error.contains("/nowhere") && error.contains("stanchion"), "{error}");
        assert!(program("grep", &missing).is_err());
        let libc = Lock::libc();
        assert!(lock(&libc).is_ok() && program("grep", &libc).is_ok());
    }

    #[test]
    fn dynamic_programs_take_a_library_and_others_do_not() {
        // libc itself is a library that can be preloaded.
        let output = Command::new("ldd").arg("/bin/sh").output().expect("ldd is here");
        let printed = String::from_utf8(output.stdout).expect("paths are text");
        let libc = printed.split_whitespace().find(|word| word.starts_with('/') && word.contains("libc."));
        let lock = preloaded("x", Path::new(libc.expect("a shell takes libc")), false);
        assert!(program("grep", &lock).is_ok());
        let error = program("/proc/self/environ", &lock).expect_err("that is no program").to_string();
        assert!(error.contains("no dynamically linked program"), "{error}");
        assert!(program("no-such-program-here", &lock).is_err());
    }
}
