//! The installed library, what programs are built with it, and how often all went well.
use super::programs::{Toolchain, compiler_of};
use crate::built;
use crate::process::{shell, silently};
use anyhow::{Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Output;
use xshell::{Shell, cmd};

pub(super) const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

pub(super) struct Bench<'a> {
    pub(super) root: &'a Path,
    pub(super) sh: Shell,
    /// What to put in front of every path.
    pub(super) destdir: PathBuf,
    pub(super) programs: PathBuf,
    pub(super) toolchain: Toolchain,
    pub(super) passed: usize,
    pub(super) failed: usize,
}

impl<'a> Bench<'a> {
    pub(super) fn new(root: &'a Path, toolchain: Toolchain) -> Result<Self> {
        let sh = shell(root)?;
        let work = built::target(root).join("capi-check");
        sh.remove_path(&work)?;
        let programs = sh.create_dir(work.join("programs"))?;
        Ok(Self { root, sh, destdir: work.join("dest"), programs, toolchain, passed: 0, failed: 0 })
    }

    pub(super) fn note(&mut self, what: &str, result: Result<()>) {
        let (count, line) = match result {
            Ok(()) => (&mut self.passed, format!("ok      {what}")),
            Err(why) => (&mut self.failed, format!("FAILED  {what}: {why}")),
        };
        *count += 1;
        println!("capi: {line}");
    }

    /// A path under `/usr`, as it was installed.
    pub(super) fn place(&self, below: &str) -> PathBuf {
        self.destdir.join("usr").join(below)
    }

    /// Makes a program, or a plugin, of a source of `crates/capi`; `libraries` stand behind it.
    pub(super) fn compile(&self, options: &str, source: &str, to: &Path, libraries: &[String]) -> Result<()> {
        let [compiler, standard] = compiler_of(self.toolchain, source);
        let path = format!("crates/capi/{source}");
        let (options, ours) = (options.split_whitespace(), self.pkg_config("--cflags")?);
        let compile = cmd!(self.sh, "{compiler} -O2 -pthread {standard} {STRICT...} {options...} {ours...}");
        silently(compile.arg(path).arg("-o").arg(to).args(libraries)).map(drop)
    }

    /// What pkg-config says for this tree, and only for it.
    pub(super) fn pkg_config(&self, flags: &str) -> Result<Vec<String>> {
        let flags = flags.split(' ');
        let words = cmd!(self.sh, "pkg-config {flags...} stanchion")
            .env("PKG_CONFIG_SYSROOT_DIR", &self.destdir)
            .env("PKG_CONFIG_LIBDIR", self.place("lib/pkgconfig"))
            .env("PKG_CONFIG_ALLOW_SYSTEM_CFLAGS", "1")
            .env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1")
            .read()?;
        Ok(words.split_whitespace().map(str::to_owned).collect())
    }

    /// What to link with for the archive, and all else shared.
    pub(super) fn archive(&self) -> Result<Vec<String>> {
        let flags = self.pkg_config("--static --libs")?.into_iter();
        let archive = |flag| if flag == "-lstanchion" { "-l:libstanchion.a".to_owned() } else { flag };
        Ok(flags.map(archive).collect())
    }

    /// Runs a program with the installed library.
    pub(super) fn run(&self, program: &Path, arguments: &[&Path], env: &[(&str, &str)]) -> Result<Output> {
        let program = cmd!(self.sh, "{program} {arguments...}").env_remove("STANCHION");
        let program = program.env("LD_LIBRARY_PATH", self.place("lib")).envs(env.iter().copied());
        Ok(program.ignore_status().output()?)
    }
}

/// Whether a program succeeded, and printed what it is expected to.
pub(super) fn judge(output: &Output, expected: Option<&str>) -> Result<()> {
    let printed = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let last = printed.lines().find(|line| line.starts_with("FAILED")).unwrap_or("it said nothing");
        bail!("{} ({last})", output.status);
    }
    match expected {
        Some(expected) => ensure!(printed == expected, "it printed {printed:?}, expected {expected:?}"),
        None => ensure!(!printed.trim().is_empty(), "it printed nothing"),
    }
    Ok(())
}
