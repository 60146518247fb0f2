//! Builds the test programs, the libraries they use, and the broken libraries.
use super::Case;
use super::runner::Setting;
use crate::files::{ending_in, stem};
use crate::foreign::Foreign;
use anyhow::{Context as _, Result, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// With the usual warnings, which are printed and no errors: a compiler that is not ours may have others.
const COMMON: &[&str] = &["-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-pthread"];
pub(super) const LIBRARY: [&str; 2] = ["-shared", "-fPIC"];
pub(super) const CODE: &[&str] = &["c", "cc"];

pub(super) fn directory(root: &Path, foreign: Option<&Foreign>) -> PathBuf {
    let target = crate::built::target(root);
    foreign.map_or(target.clone(), |foreign| target.join(foreign.triple)).join("conform")
}

/// Builds what is not current and asks each program for its tests.
pub(super) fn suite(root: &Path, foreign: Option<&'static Foreign>) -> Result<Vec<Case>> {
    let (sources, out) = (root.join("conformance"), directory(root, foreign));
    fs::create_dir_all(&out)?;
    for part in ending_in(CODE, &sources.join("parts"))? {
        build(&sources, &part, &out.join(format!("lib{}.so", stem(&part))), LIBRARY, foreign)?;
    }
    let mut cases = Vec::new();
    for source in ending_in(CODE, &sources.join("tests"))? {
        let program = out.join(stem(&source));
        let here = [format!("-L{}", out.display()), "-Wl,-rpath,$ORIGIN".to_owned()];
        let libraries = linked(&fs::read_to_string(&source)?);
        build(&sources, &source, &program, here.into_iter().chain(libraries), foreign)?;
        let listed = Setting { foreign, ..Setting::default() }.command(&program).arg("--list").output()?;
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

/// Compiles a source, unless what was built of it is current, with `$CC` or `$CXX`, or the machine's own
/// compilers.
pub(super) fn build(
    sources: &Path,
    source: &Path,
    path: &Path,
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
    foreign: Option<&Foreign>,
) -> Result<()> {
    if !stale(sources, source, path)? {
        return Ok(());
    }
    let cpp = source.extension().is_some_and(|extension| extension == "cc");
    let (variable, usual, standard) = if cpp { ("CXX", "c++", "c++17") } else { ("CC", "cc", "c11") };
    let usual = foreign.map_or(usual, |foreign| foreign.compiler(cpp));
    let mut compiler = Command::new(env::var_os(variable).unwrap_or_else(|| usual.into()));
    compiler.arg(format!("-std={standard}")).args(COMMON).arg("-o").arg(path).arg(source);
    let output = compiler.args(words).arg("-ldl").output().with_context(|| {
        let program = compiler.get_program().display();
        format!("the compiler `{program}` does not run; install gcc and g++, or set CC and CXX")
    })?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let failed = || format!("{} does not compile:\n{}", source.display(), printed.trim_end());
    ensure!(output.status.success(), failed());
    eprint!("{printed}");
    Ok(())
}

/// Whether the source, or any header, is younger than what was built from it.
fn stale(sources: &Path, source: &Path, path: &Path) -> Result<bool> {
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    let Ok(built) = modified(path) else { return Ok(true) };
    let mut files = ending_in(&["h"], sources)?;
    files.push(source.to_owned());
    Ok(files.iter().any(|file| modified(file).map_or(true, |changed| changed >= built)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_what_they_are_linked_with() {
        assert_eq!(linked("/* Early.\n * link: uses_locks other\n */\n"), ["-luses_locks", "-lother"]);
        assert!(linked("/* Nothing. */\n").is_empty());
    }
}
