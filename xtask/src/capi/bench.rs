//! The installed library, programs in C and C++ with it, their compilers, and the ways to link them.
use super::install::Functions;
use crate::built;
use crate::process::{shell, silently, succeeds};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Output;
use xshell::{Shell, cmd};

/// A C and a C++ compiler that belong together.
pub(super) type Toolchain = [&'static str; 2];

const TOOLCHAINS: [Toolchain; 2] = [["gcc", "g++"], ["clang", "clang++"]];

/// Below `crates/capi`: tests, which count their checks, and examples, each with what it prints beside it.
const PROGRAMS: [&str; 7] = [
    "tests/locks.c",
    "tests/rwlocks.c",
    "tests/others.c",
    "tests/wrapper.cpp",
    "examples/counter.c",
    "examples/routes.c",
    "examples/mailbox.cpp",
];
/// Runs with `STANCHION=nopv`, too: what is read from the environment at load shows that constructors ran.
const READS_ENVIRONMENT: &str = "tests/others.c";

const ACCEPTED: [(&str, &[&str]); 3] = [
    ("stanchion.h", &["c99", "c11", "c17", "c++17"]),
    ("stanchion_family.h", &["c99", "c11", "c++17"]),
    ("stanchion.hpp", &["c++17", "c++20"]),
];

pub(super) const SHARED: &str = "with the shared library";
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

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

    /// Makes a program, a plugin or an object of a source of `crates/capi`; `libraries` stand behind it.
    pub(super) fn compile(&self, options: &str, source: &str, to: &Path, libraries: &[String]) -> Result<()> {
        let [compiler, standard] = compiler_of(self.toolchain, source);
        let path = format!("crates/capi/{source}");
        let (options, ours) = (options.split_whitespace(), self.pkg_config("--cflags")?);
        let compile = cmd!(self.sh, "{compiler} -O2 -pthread {standard} {STRICT...} {options...} {ours...}");
        silently(compile.arg(path).arg("-o").arg(to).args(libraries)).map(drop)
    }

    /// Makes a program of what one source of `crates/capi` was compiled to.
    fn link(&self, source: &str, object: &Path, to: &Path, libraries: &[String]) -> Result<()> {
        let [compiler, _] = compiler_of(self.toolchain, source);
        silently(cmd!(self.sh, "{compiler} -pthread {object} -o {to} {libraries...}")).map(drop)
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

/// Those that are installed, which are said; one at least.
pub(super) fn toolchains() -> Result<Vec<Toolchain>> {
    let works = |toolchain: &Toolchain| toolchain.iter().all(|name| succeeds(&[name, "--version"]));
    let (found, missing): (Vec<_>, Vec<_>) = TOOLCHAINS.into_iter().partition(works);
    for [c, cxx] in missing {
        println!("capi: skipped {c} and {cxx}: not installed");
    }
    ensure!(!found.is_empty(), "no compiler for C and C++; install gcc and g++, or clang");
    Ok(found)
}

/// The compiler of a toolchain for a source, and the standard that it is to keep.
fn compiler_of([c, cxx]: Toolchain, source: &str) -> [&'static str; 2] {
    match source.rsplit_once('.') {
        Some((_, "c")) => [c, "-std=c11"],
        _ => [cxx, "-std=c++17"],
    }
}

pub(super) fn tests() -> impl Iterator<Item = &'static str> {
    PROGRAMS.into_iter().filter(|source| source.starts_with("tests/"))
}

pub(super) fn place(bench: &Bench<'_>, source: &str, linking: &str) -> PathBuf {
    let [source, linking] = [source, linking].map(|part| part.replace(['/', '.', ' '], "-"));
    bench.programs.join(format!("{}-{source}-{linking}", bench.toolchain[0]))
}

pub(super) fn accept_headers(bench: &mut Bench<'_>) {
    let accepted = ACCEPTED.iter().flat_map(|(file, all)| all.iter().map(move |standard| (file, standard)));
    for (file, standard) in accepted {
        let [c, cxx] = bench.toolchain;
        let (compiler, language) = if standard.starts_with("c++") { (cxx, "c++") } else { (c, "c") };
        // Included, not compiled: a header is not the main file, and its static functions may be unused.
        let header = bench.place("include").join(file);
        // Other people's warnings reach it.
        let warnings = STRICT.iter().chain(&["-Wshadow", "-Wconversion", "-Wundef"]);
        let compile = cmd!(bench.sh, "{compiler} -fsyntax-only -x {language} -std={standard} {warnings...}");
        let accepted = silently(compile.arg("-include").arg(header).arg("/dev/null")).map(drop);
        bench.note(&format!("{compiler} -std={standard} accepts {file}"), accepted);
    }
}

pub(super) fn build_and_run(bench: &mut Bench<'_>) -> Result<()> {
    let only_archives = [vec!["-static".to_owned()], bench.pkg_config("--static --libs")?].concat();
    // From the shared library, as pkg-config says; from the archive, while libc is shared; or from archives.
    let linkings = [
        (SHARED, bench.pkg_config("--libs")?),
        ("with the archive", bench.archive()?),
        ("with -static", only_archives),
    ];
    for source in PROGRAMS {
        let mut expected = None;
        if source.starts_with("examples/") {
            let text = bench.sh.read_file(Path::new("crates/capi").join(source).with_extension("out"));
            expected = Some(text.context("write down what the program prints")?);
        }
        // Once, however it is linked.
        let object = place(bench, source, "object");
        if let Err(why) = bench.compile("-c", source, &object, &[]) {
            bench.note(&format!("{} {source}", compiler_of(bench.toolchain, source)[0]), Err(why));
            continue;
        }
        for (linking, libraries) in &linkings {
            let path = place(bench, source, linking);
            let what = format!("{} {source} {linking}", compiler_of(bench.toolchain, source)[0]);
            if let Err(why) = bench.link(source, &object, &path, libraries) {
                bench.note(&what, Err(why));
                continue;
            }
            let output = bench.run(&path, &[], &[])?;
            bench.note(&what, judge(&output, expected.as_deref()));
            if source == READS_ENVIRONMENT {
                let output = bench.run(&path, &[], &[("STANCHION", "nopv")])?;
                bench.note(&format!("{what} STANCHION=nopv"), judge(&output, expected.as_deref()));
            }
        }
    }
    Ok(())
}

/// What the test programs call that they do not have themselves.
pub(super) fn called(bench: &Bench<'_>) -> Result<Functions> {
    let programs = tests().map(|source| place(bench, source, SHARED));
    let listing = cmd!(bench.sh, "nm -u -P {programs...}").read()?;
    Ok(listing.lines().filter_map(|line| line.split(['@', ' ']).next()).map(str::to_owned).collect())
}
