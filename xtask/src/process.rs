//! Commands: with output into files and a limit, or as in a shell.
use anyhow::{Context as _, bail};
use core::time::Duration;
use lab_kit::child::{End, Gone, Limits, Running};
use lab_kit::interrupt;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use xshell::{Cmd, Shell};

/// A command of this program, as it was when it started: a build may have replaced the file at its path.
pub(crate) fn ourselves(root: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg("--root").arg(root);
    command
}

/// Runs commands in a directory; what they print is seen.
pub(crate) fn shell(dir: &Path) -> xshell::Result<Shell> {
    let shell = Shell::new()?;
    shell.change_dir(dir);
    Ok(shell)
}

/// Runs a command that must succeed; what it prints is seen only if it does not.
pub(crate) fn silently(command: Cmd<'_>) -> anyhow::Result<Output> {
    let line = command.to_string();
    let output = command.ignore_status().output()?;
    if output.status.success() {
        return Ok(output);
    }
    eprint!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    bail!("`{line}` fails ({}); see above", output.status)
}

/// Whether a command succeeds; nothing of it is seen.
pub(crate) fn succeeds(words: &[&str]) -> bool {
    Command::new(words[0]).args(&words[1..]).output().is_ok_and(|output| output.status.success())
}

/// From now on Ctrl-C and a request to terminate end the current command and let the results be written.
pub(crate) fn catch_interrupts() -> io::Result<()> {
    interrupt::note();
    // A hundred crashes must not fill the disk.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).map_err(io::Error::from)
}

/// Starts a command: no input, output into these files, which may be one, a process group of its own.
pub(crate) fn start(command: &mut Command, stdout: &Path, stderr: &Path) -> anyhow::Result<Running> {
    let out = File::create(stdout)?;
    let err = if stdout == stderr { out.try_clone()? } else { File::create(stderr)? };
    let running = Running::lead(command.stdin(Stdio::null()).stdout(out).stderr(err));
    running.with_context(|| format!("{} can not be started", command.get_program().display()))
}

/// Waits for a command so long since its start at most, and ends what is left of its group. Ctrl-C: an error.
pub(crate) fn wait(running: &mut Running, limit: Duration) -> io::Result<Gone> {
    let limits = Limits { timeout: Some(limit), stop: &interrupt::requested };
    let gone = running.wait(Some(&limits), || ())?;
    if gone.end == End::Stopped { Err(io::Error::other("interrupted")) } else { Ok(gone) }
}

/// Runs a command as [`start`] and [`wait`] do.
pub(crate) fn run(command: &mut Command, [out, err]: [&Path; 2], limit: Duration) -> anyhow::Result<Gone> {
    Ok(wait(&mut start(command, out, err)?, limit)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::temp_dir;
    use std::fs;

    fn ended(script: &str, limit: Duration) -> (Option<i32>, String) {
        let dir = temp_dir().join(format!("stanchion-process-{}-{}", std::process::id(), script.len()));
        fs::create_dir_all(&dir).expect("a directory");
        let [out, err] = ["out", "err"].map(|name| dir.join(name));
        let mut shell = Command::new("sh");
        let gone = run(shell.args(["-c", script]), [&out, &err], limit).expect("a shell starts");
        let printed = fs::read_to_string(out).expect("its output");
        fs::remove_dir_all(&dir).expect("tidying up");
        (gone.in_time().and_then(|status| status.code()), printed)
    }

    #[test]
    fn what_is_printed_is_in_the_file_and_who_is_late_has_no_end() {
        assert_eq!(ended("echo yes; exit 3", Duration::from_mins(1)), (Some(3), "yes\n".to_owned()));
        assert_eq!(ended("sleep 1000", Duration::from_millis(50)).0, None);
    }
}
