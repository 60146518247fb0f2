//! The symbols of the installed library: exactly the functions of the header, each with the version.
use super::bench::Bench;
use super::install::{NODE, SONAME};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use xshell::cmd;

/// Whether the shared library and the archive show what they should, and nothing else.
pub(super) fn check(bench: &Bench<'_>, functions: &[String]) -> Result<()> {
    let (library, archive) = (bench.place("lib/libstanchion.so"), bench.place("lib/libstanchion.a"));
    judge_dynamic(&cmd!(bench.sh, "readelf --dyn-syms -W {library}").read()?, functions)?;
    judge_archive(&cmd!(bench.sh, "nm -g --defined-only -P {archive}").read()?, functions)?;
    let section = cmd!(bench.sh, "readelf -d -W {library}").read()?;
    for wanted in [&*format!("[{SONAME}]"), "NODELETE"] {
        ensure!(section.contains(wanted), "its dynamic section does not say {wanted}");
    }
    Ok(())
}

/// Judges what `readelf --dyn-syms -W` prints.
fn judge_dynamic(listing: &str, functions: &[String]) -> Result<()> {
    let mut defined = BTreeSet::new();
    for words in listing.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        let [_, _, _, kind, binding, _, section, symbol] = words[..] else { continue };
        if section == "UND" || section == "Ndx" || binding == "LOCAL" || (section == "ABS" && symbol == NODE)
        {
            continue;
        }
        let (name, version) = symbol.split_once("@@").unwrap_or((symbol, "none"));
        ensure!(version == NODE, "`{name}` has version {version}, expected {NODE}");
        ensure!(kind == "FUNC", "`{name}` is no function");
        defined.insert(name.to_owned());
    }
    both_ways(functions, &defined)
}

/// Judges what `nm -g --defined-only -P` prints: `DW.ref` is what exceptions need, and any number of objects
/// may have it.
fn judge_archive(listing: &str, functions: &[String]) -> Result<()> {
    let names = listing.lines().filter_map(|line| line.split_once(' ').filter(|(_, rest)| !rest.is_empty()));
    both_ways(functions, &names.map(|(name, _)| name.to_owned()).collect())
}

fn both_ways(functions: &[String], defined: &BTreeSet<String>) -> Result<()> {
    missing(functions, defined, "in the header only")?;
    let stray: Vec<_> = defined.iter().filter(|name| !functions.contains(name)).cloned().collect();
    ensure!(stray.is_empty(), "not in the header: {}", stray.join(", "));
    Ok(())
}

/// The functions that are not among `there`.
pub(super) fn missing(functions: &[String], there: &BTreeSet<String>, why: &str) -> Result<()> {
    let missing: Vec<_> = functions.iter().filter(|name| !there.contains(*name)).cloned().collect();
    ensure!(missing.is_empty() && !functions.is_empty(), "{why}: {}", missing.join(", "));
    Ok(())
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
        judge_dynamic(listing, &["stanchion_a".to_owned()])
            .map_or_else(|error| error.to_string(), |()| String::new())
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
        assert!(judge_archive("libstanchion.a[stanchion.o]:\nstanchion_a T 0 1\n", &functions).is_ok());
        assert!(judge_archive("stanchion_a T 0 1\nrust_panic T 0 1\n", &functions).is_err());
    }
}
