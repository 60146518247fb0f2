//! What C sees of a fault that the library finds in itself: a debug build of it, with a program that brings
//! one about.
use crate::capi::check::Installed;
use crate::capi::install::{Profile, build, one_object};
use crate::capi::programs::Toolchain;
use crate::capi::shared::{failed, line_of, must_succeed};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

const SOURCE: &str = "crates/capi/tests/panics.c";
const SIGABRT: i32 = 6;

/// Whether the program ends as the header says.
pub(crate) fn check(
    root: &Path,
    installed: &Installed,
    toolchain: &Toolchain,
    functions: &[String],
) -> io::Result<Result<(), String>> {
    let built = build(root, Profile::Debug, true)?;
    let work = installed.programs.join("debug");
    fs::create_dir_all(&work)?;
    let object = one_object(&work, &built.archive, functions)?;
    let program = work.join("panics");
    let mut compiler = Command::new(toolchain.c);
    compiler
        .args(["-std=gnu11", "-pthread"])
        .args(installed.pkg_config(&["--cflags"])?)
        .arg(root.join(SOURCE));
    compiler.arg(object).arg("-o").arg(&program).args(&built.libraries);
    must_succeed(&mut compiler)?;
    let mut command = Command::new(&program);
    let output = command
        .output()
        .map_err(|error| failed(format!("`{}` does not start: {error}", line_of(&command))))?;
    Ok(judge(&output))
}

fn judge(output: &Output) -> Result<(), String> {
    let printed = String::from_utf8_lossy(&output.stderr);
    if output.status.signal() != Some(SIGABRT) {
        return Err(format!("{}, expected an abort", output.status));
    }
    if !output.stdout.is_empty() {
        return Err(format!("it printed {:?}", String::from_utf8_lossy(&output.stdout)));
    }
    if printed.lines().count() == 1 && printed.starts_with("stanchion: ") {
        Ok(())
    } else {
        Err(format!("it printed {printed:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::ExitStatus;

    fn ended(status: i32, out: &str, errors: &str) -> Output {
        Output { status: ExitStatus::from_raw(status), stdout: out.into(), stderr: errors.into() }
    }

    #[test]
    fn an_abort_with_one_line_passes() {
        assert_eq!(judge(&ended(SIGABRT, "", "stanchion: a fault\n")), Ok(()));
        assert!(judge(&ended(SIGABRT, "", "stanchion: a fault\nstack backtrace:\n")).is_err());
        assert!(judge(&ended(SIGABRT, "", "thread panicked\n")).is_err());
        assert!(judge(&ended(SIGABRT, "out\n", "stanchion: a fault\n")).is_err());
        assert!(judge(&ended(0, "it went on\n", "")).is_err());
    }
}
