//! The test programs must notice faults of the library, which dies of one that it finds in itself; and a
//! plugin with the library inside must not be unloaded while threads use it.
use super::bench::{Bench, SHARED, judge, place, tests};
use super::install::{Functions, STAYS, build, one_object};
use crate::files::entries;
use crate::process::silently;
use anyhow::{Result, anyhow, ensure};
use serde::Deserialize;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Output;
use xshell::cmd;

const FAULTS: &str = "crates/capi/tests/faults.toml";

/// What is wrong, the program that must notice, and the functions that take the place of the library's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    says: String,
    program: String,
    code: String,
    /// Whether the program hangs, until its own clock ends it.
    #[serde(default)]
    hangs: bool,
}

/// How a program ends that its own clock ends: SIGALRM.
const TIME_IS_OVER: &str = "signal: 14";
/// How a program ends whose fault calls what there is not.
const NOT_LOADED: &str = "exit status: 127";
const SIGABRT: i32 = 6;
const START: &str = "#include <errno.h>\n#define NONE(p, size) (!(p) || (unsigned long)(p) % (size))\n";

/// For programs that use more than C has.
const GNU: &str = "-std=gnu11 -Wno-pedantic";

pub(super) fn check(bench: &mut Bench<'_>, functions: &Functions) -> Result<()> {
    let ended = judge_panic(&panic(bench, functions)?);
    bench.note("a fault that the library finds in itself ends the process with one line", ended);
    plugins(bench)?;
    for source in tests() {
        let ended = judge(&replaced(bench, source, "", false)?, None);
        bench.note(&format!("{source} with nothing replaced"), ended);
    }
    let faults: Vec<Fault> = entries(bench.root, FAULTS, "fault")?;
    for Fault { says, program, code, hangs } in &faults {
        ensure!(tests().any(|source| source == program), "{FAULTS}: no test {program}");
        match judge(&replaced(bench, program, code, *hangs)?, None) {
            Ok(()) => bench.note(says, Err(anyhow!("{program} does not notice"))),
            Err(how) if how.to_string().contains(NOT_LOADED) => bench.note(says, Err(how)),
            Err(how) if how.to_string().contains(TIME_IS_OVER) != *hangs => bench.note(says, Err(how)),
            Err(how) => bench.note(&format!("noticed: {says}: {how}"), Ok(())),
        }
    }
    Ok(())
}

/// How a program ends if the functions of `code` take the place of the library's.
fn replaced(bench: &Bench<'_>, source: &str, code: &str, hangs: bool) -> Result<Output> {
    let (compiler, library) = (bench.toolchain[0], bench.programs.join("fault.so"));
    let fault = library.with_extension("c");
    bench.sh.write_file(&fault, format!("{START}{code}"))?;
    silently(cmd!(bench.sh, "{compiler} -shared -fPIC {fault} -o {library}"))?;
    // The program's own clock ends it then: a fault that makes it hang is noticed, and others end long
    // before.
    let seconds = if hangs { "8" } else { "100" };
    let env = [("LD_PRELOAD", &*library.to_string_lossy()), ("CHECK_SECONDS", seconds)];
    bench.run(&place(bench, source, SHARED), &[], &env)
}

/// How a program ends that brings a panic about, with a debug build of the library.
fn panic(bench: &Bench<'_>, functions: &Functions) -> Result<Output> {
    let Bench { root, sh, programs, .. } = bench;
    let (archive, libraries) = build(root, sh, "dev", true)?;
    let object = one_object(sh, &programs.join("debug"), &archive, functions)?;
    let program = programs.join("panics");
    let linked = [vec![object.display().to_string()], libraries].concat();
    bench.compile(GNU, "tests/panics.c", &program, &linked)?;
    bench.run(&program, &[], &[])
}

fn judge_panic(output: &Output) -> Result<()> {
    let printed = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.signal() == Some(SIGABRT), "{}, expected an abort", output.status);
    ensure!(output.stdout.is_empty(), "it printed {:?}", String::from_utf8_lossy(&output.stdout));
    ensure!(printed.lines().count() == 1 && printed.starts_with("stanchion: "), "it printed {printed:?}");
    Ok(())
}

/// A plugin that has the library inside, and a host whose threads outlive it: in both ways to link it, and
/// without what the archive asks for, which the host must notice.
fn plugins(bench: &mut Bench<'_>) -> Result<()> {
    let (host, plugin) = (bench.programs.join("plugin-host"), bench.programs.join("plugin.so"));
    bench.compile(GNU, "tests/plugin_host.c", &host, &["-ldl".to_owned()])?;
    let options = format!("{GNU} -shared -fPIC");
    let archive = bench.archive()?;
    let unpinned: Vec<String> = archive.iter().filter(|&flag| flag != STAYS).cloned().collect();
    for (what, libraries, goes_well) in [
        ("a host outlives a plugin with the shared library", bench.pkg_config("--libs")?, true),
        ("a host outlives a plugin with the archive", archive, true),
        ("the host notices a plugin with the archive that is really unloaded", unpinned, false),
    ] {
        bench.compile(&options, "tests/plugin.c", &plugin, &libraries)?;
        let ended = match judge(&bench.run(&host, &[&plugin], &[])?, None) {
            ended if goes_well => ended,
            Ok(()) => Err(anyhow!("nothing went wrong")),
            Err(_) => Ok(()),
        };
        bench.note(what, ended);
    }
    Ok(())
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
        assert!(judge_panic(&ended(SIGABRT, "", "stanchion: a fault\n")).is_ok());
        assert!(judge_panic(&ended(SIGABRT, "", "stanchion: a fault\nstack backtrace:\n")).is_err());
        assert!(judge_panic(&ended(SIGABRT, "", "thread panicked\n")).is_err());
        assert!(judge_panic(&ended(SIGABRT, "out\n", "stanchion: a fault\n")).is_err());
        assert!(judge_panic(&ended(0, "it went on\n", "")).is_err());
    }
}
