//! The symbols of the installed library: exactly the functions of the header, each with the version.
use crate::capi::check::Installed;
use crate::capi::install::{NODE, SONAME};
use crate::capi::programs::{Linking, PROGRAMS, Toolchain};
use crate::capi::shared::must_succeed;
use std::collections::BTreeSet;
use std::io;
use std::process::Command;

/// Whether the shared library and the archive show what they should, and nothing else.
pub(crate) fn check(installed: &Installed, functions: &[String]) -> io::Result<Result<(), String>> {
    let library = installed.place("lib/libstanchion.so");
    let dynamic = text(Command::new("readelf").args(["--dyn-syms", "-W"]).arg(&library))?;
    let section = text(Command::new("readelf").args(["-d", "-W"]).arg(&library))?;
    let archive = text(
        Command::new("nm").args(["-g", "--defined-only", "-P"]).arg(installed.place("lib/libstanchion.a")),
    )?;
    Ok(judge_dynamic(&dynamic, functions).and_then(|()| judge_archive(&archive, functions)).and_then(|()| {
        let wanted = [format!("[{SONAME}]"), "NODELETE".to_owned()];
        match wanted.iter().find(|wanted| !section.contains(wanted.as_str())) {
            Some(wanted) => Err(format!("its dynamic section does not say {wanted}")),
            None => Ok(()),
        }
    }))
}

fn text(command: &mut Command) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&must_succeed(command)?.stdout).into_owned())
}

/// Judges what `readelf --dyn-syms -W` prints.
fn judge_dynamic(listing: &str, functions: &[String]) -> Result<(), String> {
    let mut defined = BTreeSet::new();
    for words in listing.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        let [_, _, _, kind, binding, _, section, symbol] = words[..] else { continue };
        if section == "UND" || section == "Ndx" || binding == "LOCAL" || (section == "ABS" && symbol == NODE)
        {
            continue;
        }
        let (name, version) = symbol.split_once("@@").unwrap_or((symbol, "none"));
        if version != NODE {
            return Err(format!("`{name}` has version {version}, expected {NODE}"));
        }
        if kind != "FUNC" {
            return Err(format!("`{name}` is no function"));
        }
        defined.insert(name.to_owned());
    }
    both_ways(functions, &defined)
}

/// Judges what `nm -g --defined-only -P` prints: `DW.ref` is what exceptions need, and any number of objects
/// may have it.
fn judge_archive(listing: &str, functions: &[String]) -> Result<(), String> {
    let names = listing.lines().filter_map(|line| line.split_once(' ').filter(|(_, rest)| !rest.is_empty()));
    both_ways(functions, &names.map(|(name, _)| name.to_owned()).collect())
}

fn both_ways(functions: &[String], defined: &BTreeSet<String>) -> Result<(), String> {
    missing(functions, defined, "in the header only")?;
    let stray: Vec<&str> =
        defined.iter().filter(|name| !functions.contains(name)).map(String::as_str).collect();
    if stray.is_empty() { Ok(()) } else { Err(format!("not in the header: {}", stray.join(", "))) }
}

/// The functions that are not among `there`.
pub(crate) fn missing(functions: &[String], there: &BTreeSet<String>, why: &str) -> Result<(), String> {
    let missing: Vec<&str> =
        functions.iter().filter(|name| !there.contains(*name)).map(String::as_str).collect();
    if missing.is_empty() && !functions.is_empty() {
        Ok(())
    } else {
        Err(format!("{why}: {}", missing.join(", ")))
    }
}

/// The functions that the test programs call, from their objects.
pub(crate) fn called(installed: &Installed, toolchain: &Toolchain) -> io::Result<BTreeSet<String>> {
    let mut called = BTreeSet::new();
    for program in PROGRAMS.iter().filter(|program| program.is_test()) {
        let object =
            installed.programs.join(toolchain.program(program, &Linking::Shared)).with_extension("o");
        let listing = text(Command::new("nm").args(["-u", "-P"]).arg(object))?;
        called.extend(listing.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned));
    }
    Ok(called)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: &str = "
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND malloc@GLIBC_2.2.5 (2)
    52: 000000000003a390   496 FUNC    GLOBAL DEFAULT   13 stanchion_a@@STANCHION_0.1
";

    fn judged(listing: &str) -> String {
        judge_dynamic(listing, &["stanchion_a".to_owned()]).err().unwrap_or_default()
    }

    #[test]
    fn exactly_the_functions_of_the_header_pass() {
        assert_eq!(judged(FINE), "");
        assert_eq!(judged(""), "in the header only: stanchion_a");
        let stray = format!("{FINE}    53: 0000 4 FUNC GLOBAL DEFAULT 13 rust_panic@@STANCHION_0.1\n");
        assert_eq!(judged(&stray), "not in the header: rust_panic");
    }

    #[test]
    fn symbols_without_the_version_are_found() {
        assert_eq!(
            judged(&FINE.replace("@@STANCHION_0.1", "")),
            "`stanchion_a` has version none, expected STANCHION_0.1"
        );
        assert_eq!(
            judged(&FINE.replace("_0.1", "_0.2")),
            "`stanchion_a` has version STANCHION_0.2, expected STANCHION_0.1"
        );
        assert_eq!(judged(&FINE.replace("496 FUNC", "496 OBJECT")), "`stanchion_a` is no function");
    }

    #[test]
    fn what_an_archive_shows_is_judged() {
        let functions = ["stanchion_a".to_owned()];
        assert_eq!(judge_archive("libstanchion.a[stanchion.o]:\nstanchion_a T 0 1\n", &functions), Ok(()));
        assert!(judge_archive("stanchion_a T 0 1\nrust_panic T 0 1\n", &functions).is_err());
    }
}
