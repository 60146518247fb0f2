//! The programs in C and C++, the compilers for them, and the ways to link them.
use super::bench::{Bench, STRICT, judge};
use crate::process::{silently, succeeds};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// A C and a C++ compiler that belong together.
pub(super) struct Toolchain {
    pub(super) c: &'static str,
    cxx: &'static str,
}

const TOOLCHAINS: [Toolchain; 2] =
    [Toolchain { c: "gcc", cxx: "g++" }, Toolchain { c: "clang", cxx: "clang++" }];

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

/// How the headers must be accepted: language, standard, and the file.
const ACCEPTED: [(&str, &str, &str); 7] = [
    ("c", "c11", "stanchion.h"),
    ("c", "c17", "stanchion.h"),
    ("c++", "c++17", "stanchion.h"),
    ("c", "c11", "stanchion_family.h"),
    ("c++", "c++17", "stanchion_family.h"),
    ("c++", "c++17", "stanchion.hpp"),
    ("c++", "c++20", "stanchion.hpp"),
];
/// For headers, which other people's warnings reach.
const STRICTER: [&str; 3] = ["-Wshadow", "-Wconversion", "-Wundef"];

/// How a program gets the library: from the shared one, as pkg-config says; from the archive, while libc is
/// shared; or everything from archives.
const LINKINGS: [&str; 3] = [SHARED, "with the archive", "with -static"];
const SHARED: &str = "with the shared library";

/// Those that are installed, which are said; one at least.
pub(super) fn toolchains() -> Result<Vec<Toolchain>> {
    let works = |name: &str| succeeds(&[name, "--version"]);
    let (found, missing): (Vec<_>, Vec<_>) =
        TOOLCHAINS.into_iter().partition(|toolchain| works(toolchain.c) && works(toolchain.cxx));
    for toolchain in missing {
        println!("capi: skipped {} and {}: not installed", toolchain.c, toolchain.cxx);
    }
    ensure!(!found.is_empty(), "no compiler for C and C++; install gcc and g++, or clang");
    Ok(found)
}

pub(super) fn tests() -> impl Iterator<Item = &'static str> {
    PROGRAMS.into_iter().filter(|source| source.starts_with("tests/"))
}

/// Where a program goes.
fn place(bench: &Bench<'_>, toolchain: &Toolchain, source: &str, linking: &str) -> PathBuf {
    let name = format!("{}-{}-{}", toolchain.c, source.replace(['/', '.'], "-"), linking.replace(' ', "-"));
    bench.programs.join(name)
}

/// A program with the shared library.
pub(super) fn shared(bench: &Bench<'_>, toolchain: &Toolchain, source: &str) -> PathBuf {
    place(bench, toolchain, source, SHARED)
}

/// Whether the compilers have nothing to say about the headers.
pub(super) fn accept_headers(bench: &mut Bench<'_>, toolchain: &Toolchain) {
    for (language, standard, file) in ACCEPTED {
        let compiler = if language == "c" { toolchain.c } else { toolchain.cxx };
        // Included, not compiled: a header is not the main file, and its static functions may be unused.
        let header = bench.place("include").join(file);
        let flags = STRICT.iter().chain(&STRICTER);
        let accept = cmd!(
            bench.sh,
            "{compiler} -fsyntax-only -x {language} -std={standard} {flags...} -include {header} /dev/null"
        );
        let accepted = silently(accept).map(drop);
        bench.note(&format!("{compiler} -std={standard} accepts {file}"), accepted);
    }
}

/// Builds each program with each linking, and runs it.
pub(super) fn build_and_run(bench: &mut Bench<'_>, toolchain: &Toolchain) -> Result<()> {
    for source in PROGRAMS {
        for linking in LINKINGS {
            let path = place(bench, toolchain, source, linking);
            let (compiler, standard) = match source.rsplit_once('.') {
                Some((_, "c")) => (toolchain.c, "-std=c11"),
                _ => (toolchain.cxx, "-std=c++17"),
            };
            let what = format!("{compiler} {source} {linking}");
            if let Err(why) = build(bench, [compiler, standard], source, linking, &path) {
                bench.note(&what, Err(why));
                continue;
            }
            let mut expected = None;
            if source.starts_with("examples/") {
                let text = bench.sh.read_file(bench.source(source).with_extension("out"));
                expected = Some(text.context("write down what the program prints")?);
            }
            let mut output = bench.run(&path, &[], &[])?;
            bench.note(&what, judge(&output, expected.as_deref()));
            if source == READS_ENVIRONMENT {
                output = bench.run(&path, &[], &[("STANCHION", "nopv")])?;
                bench.note(&format!("{what} STANCHION=nopv"), judge(&output, expected.as_deref()));
            }
        }
    }
    Ok(())
}

fn build(
    bench: &Bench<'_>,
    [compiler, standard]: [&str; 2],
    source: &str,
    linking: &str,
    path: &Path,
) -> Result<()> {
    let (sh, object, source) = (&bench.sh, path.with_extension("o"), bench.source(source));
    let flags = bench.pkg_config("--cflags")?;
    let compile =
        cmd!(sh, "{compiler} -O2 -pthread {standard} {STRICT...} {flags...} -c {source} -o {object}");
    silently(compile)?;
    let libraries = match linking {
        SHARED => bench.pkg_config("--libs")?,
        "with the archive" => bench.archive()?,
        _ => ["-static".to_owned()].into_iter().chain(bench.pkg_config("--static --libs")?).collect(),
    };
    silently(cmd!(sh, "{compiler} -pthread {object} -o {path} {libraries...}")).map(drop)
}

/// The functions that the test programs call, from their objects.
pub(super) fn called(bench: &Bench<'_>, toolchain: &Toolchain) -> Result<BTreeSet<String>> {
    let mut called = BTreeSet::new();
    for source in tests() {
        let object = shared(bench, toolchain, source).with_extension("o");
        let listing = cmd!(bench.sh, "nm -u -P {object}").read()?;
        called.extend(listing.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned));
    }
    Ok(called)
}
