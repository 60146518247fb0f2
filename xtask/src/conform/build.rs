//! Builds the test programs, the libraries they use, and the broken libraries, with the machine's C and C++
//! compilers.
use crate::foreign::Foreign;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where the sources are, below the workspace.
pub(super) const SOURCES: &str = "conformance";
/// With the usual warnings, which are printed and no errors: a compiler that is not ours may have others.
const COMMON: &[&str] = &["-O1", "-g", "-Wall", "-Wextra", "-pthread"];
const C: &[&str] = &["-std=c11", "-pedantic"];
const CPP: &[&str] = &["-std=c++17", "-pedantic"];

/// The endings of C and C++.
const CODE: &[&str] = &["c", "cc"];

pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) tests: Vec<String>,
}

/// Where what is built goes.
pub(super) fn directory(root: &Path, foreign: Option<&Foreign>) -> PathBuf {
    let target = crate::built::target(root);
    foreign.map_or(target.clone(), |foreign| target.join(foreign.triple)).join("conform")
}

/// Builds what is not current and asks each program for its tests.
pub(super) fn suite(root: &Path, foreign: Option<&Foreign>) -> Result<Vec<Program>> {
    let (sources, out) = (root.join(SOURCES), directory(root, foreign));
    fs::create_dir_all(&out)?;
    for part in files(&sources.join("parts"), CODE)? {
        library(&sources, &part, &out.join(format!("lib{}.so", stem(&part))), foreign)?;
    }
    let mut programs = Vec::new();
    for source in files(&sources.join("tests"), CODE)? {
        let path = out.join(stem(&source));
        let mut command = compiler(&source, foreign);
        command.arg("-o").arg(&path).arg(&source).arg("-L").arg(&out).arg("-Wl,-rpath,$ORIGIN");
        command.args(linked(&fs::read_to_string(&source)?)).arg("-ldl");
        build(&sources, &source, &path, command)?;
        let mut list = foreign.map_or_else(|| Command::new(&path), |foreign| foreign.command(&path, None));
        let listed = list.arg("--list").env_remove("LD_PRELOAD").output()?;
        ensure!(listed.status.success(), "{} --list failed: {}", path.display(), listed.status);
        let tests = String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect();
        programs.push(Program { path, tests });
    }
    Ok(programs)
}

/// Builds the broken libraries: the source and the library of each.
pub(super) fn broken(root: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let (sources, out) = (root.join(SOURCES), directory(root, None).join("broken"));
    fs::create_dir_all(&out)?;
    let mut built = Vec::new();
    for source in files(&sources.join("broken"), CODE)? {
        let path = out.join(format!("{}.so", stem(&source)));
        library(&sources, &source, &path, None)?;
        built.push((source, path));
    }
    Ok(built)
}

fn library(sources: &Path, source: &Path, path: &Path, foreign: Option<&Foreign>) -> Result<()> {
    let mut command = compiler(source, foreign);
    command.args(["-shared", "-fPIC", "-o"]).arg(path).arg(source).arg("-ldl");
    build(sources, source, path, command)
}

/// `$CC` and `$CXX`, or the machine's own.
fn compiler(source: &Path, foreign: Option<&Foreign>) -> Command {
    let cpp = source.extension().is_some_and(|extension| extension == "cc");
    let (variable, usual) = if cpp { ("CXX", "c++") } else { ("CC", "cc") };
    let usual = foreign.map_or(usual, |foreign| foreign.compiler(cpp));
    let mut command = Command::new(env::var_os(variable).unwrap_or_else(|| usual.into()));
    command.args(if cpp { CPP } else { C }).args(COMMON);
    command
}

/// The libraries of ours that a program says it is linked with: `link: NAME` in its first comment.
fn linked(text: &str) -> Vec<String> {
    let words = text.lines().find_map(|line| line.trim_start_matches([' ', '*', '/']).strip_prefix("link: "));
    words.map_or_else(Vec::new, |words| words.split_whitespace().map(|word| format!("-l{word}")).collect())
}

fn build(sources: &Path, source: &Path, path: &Path, mut command: Command) -> Result<()> {
    if !stale(sources, source, path)? {
        return Ok(());
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| {
        format!("the compiler `{program}` does not run; install gcc and g++, or set CC and CXX")
    })?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{} does not compile:\n{}", source.display(), printed.trim_end());
    }
    eprint!("{printed}");
    Ok(())
}

/// Whether the source, or any header, is younger than what was built from it.
fn stale(sources: &Path, source: &Path, path: &Path) -> Result<bool> {
    let Ok(built) = fs::metadata(path).and_then(|data| data.modified()) else { return Ok(true) };
    for file in [vec![source.to_owned()], files(sources, &["h"])?].concat() {
        if fs::metadata(file)?.modified()? >= built {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The files of a directory with these endings, in the order of their names.
fn files(directory: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut found = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    found.retain(|path| endings.iter().any(|ending| path.extension().is_some_and(|own| own == *ending)));
    found.sort();
    Ok(found)
}

/// The name of a file without its ending.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
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
