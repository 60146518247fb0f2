//! The programs in C and C++, the compilers for them, and the ways to link them.
use super::bench::{Bench, STRICT, judge};
use super::install::Functions;
use crate::process::{silently, succeeds};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// A C and a C++ compiler that belong together.
pub(super) type Toolchain = [&'static str; 2];

const TOOLCHAINS: [Toolchain; 2] = [["gcc", "g++"], ["clang", "clang++"]];

/// The programs, by their paths below `crates/capi`: tests, which count their checks, and examples, each of
/// which has beside it what it prints.
const PROGRAMS: [&str; 7] = [
    "tests/locks.c",
    "tests/rwlocks.c",
    "tests/others.c",
    "tests/wrapper.cpp",
    "examples/counter.c",
    "examples/routes.c",
    "examples/mailbox.cpp",
];
/// This one runs with `STANCHION=nopv`, too: what is read from the environment when a program is loaded shows
/// that the library's constructors ran.
const READS_ENVIRONMENT: &str = "tests/others.c";

/// The headers, and the standards with which they must be accepted.
const ACCEPTED: [(&str, &[&str]); 3] = [
    ("stanchion.h", &["c11", "c17", "c++17"]),
    ("stanchion_family.h", &["c11", "c++17"]),
    ("stanchion.hpp", &["c++17", "c++20"]),
];

pub(super) const SHARED: &str = "with the shared library";

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
pub(super) fn compiler_of([c, cxx]: Toolchain, source: &str) -> [&'static str; 2] {
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

/// Whether the compilers have nothing to say about the headers.
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
        for (linking, libraries) in &linkings {
            let path = place(bench, source, linking);
            let what = format!("{} {source} {linking}", compiler_of(bench.toolchain, source)[0]);
            if let Err(why) = bench.compile("", source, &path, libraries) {
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
