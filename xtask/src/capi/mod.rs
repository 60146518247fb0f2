//! What makes a C library of the workspace: its header, its installation, and `cargo xtask capi`, which
//! installs it below the target directory, looks at its symbols, and builds and runs programs with it.
mod bench;
mod faulty;
mod install;

pub(crate) use install::{Places, VERSION, header, install as install_to, run as install};

use anyhow::{Result, ensure};
use bench::Bench;
use install::{FAMILY_HEADER, Functions, HEADER, NODE, SONAME, functions_of};
use std::path::Path;
use xshell::cmd;

pub(crate) fn check(root: &Path) -> Result<bool> {
    let toolchains = bench::toolchains()?;
    let mut bench = Bench::new(root, toolchains[0])?;
    install_to(root, &Places::usr(bench.destdir.clone(), "lib", true))?;
    let functions = functions_of(&bench.sh, &[HEADER, FAMILY_HEADER])?;
    let symbols = symbols(&bench, &functions);
    bench.note("the shared library has the headers' functions, versioned", symbols);
    for toolchain in &toolchains {
        bench.toolchain = *toolchain;
        bench::accept_headers(&mut bench);
        bench::build_and_run(&mut bench)?;
    }
    bench.toolchain = toolchains[0];
    let called = missing(&functions, &bench::called(&bench)?, "called by no test program");
    bench.note("the test programs call every function of the headers", called);
    faulty::check(&mut bench, &functions)?;
    println!("capi: {} passed, {} failed", bench.passed, bench.failed);
    Ok(bench.failed == 0)
}

/// Whether the shared library and the archive show what they should, and nothing else.
fn symbols(bench: &Bench<'_>, functions: &Functions) -> Result<()> {
    let [library, archive] = ["so", "a"].map(|kind| bench.place(&format!("lib/libstanchion.{kind}")));
    let listing = cmd!(bench.sh, "nm -D --defined-only --with-symbol-versions -P {library}").read()?;
    judge_symbols(&listing, NODE, functions)?;
    judge_symbols(&cmd!(bench.sh, "nm -g --defined-only -P {archive}").read()?, "none", functions)?;
    let section = cmd!(bench.sh, "readelf -d -W {library}").read()?;
    for wanted in [&*format!("[{SONAME}]"), "NODELETE"] {
        ensure!(section.contains(wanted), "its dynamic section does not say {wanted}");
    }
    Ok(())
}

/// Judges what `nm -P` prints: a symbol a line, with version and kind; other lines are names of files.
fn judge_symbols(listing: &str, expected: &str, functions: &Functions) -> Result<()> {
    let mut defined = Functions::new();
    for line in listing.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [symbol, kind, ..] = words[..] else { continue };
        // The version is a symbol, too.
        if (symbol, kind) == (NODE, "A") {
            continue;
        }
        let (name, version) = symbol.split_once("@@").unwrap_or((symbol, "none"));
        ensure!(version == expected, "`{name}` has version {version}, expected {expected}");
        ensure!(kind == "T", "`{name}` is no function");
        defined.insert(name.to_owned());
    }
    missing(functions, &defined, "in the header only")?;
    missing(&defined, functions, "not in the header")
}

/// Says which of the functions are not among `there`.
fn missing(functions: &Functions, there: &Functions, why: &str) -> Result<()> {
    let missing: Vec<&str> = functions.difference(there).map(String::as_str).collect();
    ensure!(missing.is_empty() && !functions.is_empty(), "{why}: {}", missing.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: &str = "STANCHION_0.1 A 0 \nstanchion_a@@STANCHION_0.1 T 3a390 1f0\n";

    fn judged(listing: &str) -> String {
        judge_symbols(listing, NODE, &["stanchion_a".to_owned()].into())
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn exactly_the_functions_of_the_header_pass() {
        assert_eq!(judged(FINE), "");
        assert_eq!(judged(""), "in the header only: stanchion_a");
        let stray = format!("{FINE}rust_panic@@STANCHION_0.1 T 3b000 4\n");
        assert_eq!(judged(&stray), "not in the header: rust_panic");
    }

    #[test]
    fn symbols_without_the_version_are_found() {
        assert_eq!(
            judged(&FINE.replace("@@STANCHION_0.1", "")),
            "`stanchion_a` has version none, expected STANCHION_0.1"
        );
        assert_eq!(
            judged(&FINE.replace("@@STANCHION_0.1", "@@STANCHION_0.2")),
            "`stanchion_a` has version STANCHION_0.2, expected STANCHION_0.1"
        );
        assert_eq!(judged(&FINE.replace(" T ", " D ")), "`stanchion_a` is no function");
    }

    #[test]
    fn what_an_archive_shows_is_judged() {
        let judge = |listing| judge_symbols(listing, "none", &["stanchion_a".to_owned()].into());
        assert!(judge("libstanchion.a[stanchion.o]:\nstanchion_a T 0 1\n").is_ok());
        assert!(judge("stanchion_a T 0 1\nrust_panic T 0 1\n").is_err());
    }
}
