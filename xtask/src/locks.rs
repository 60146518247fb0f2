//! `cargo xtask locks`: writes tables of locks into pages, and modules into their crates, from the catalogue.
//!
//! A page has a line `<!-- locks: NAME -->` where the table NAME begins, and one `<!-- end of locks -->`
//! where it ends; see [`TABLES`]. A file of Rust has `// locks: NAME` and `// end of locks`.
//!
//! `cargo xtask try LOCK`: a lock's own tests in every world but the guest, while one works on it. The rest
//! is for `cargo xtask ci`: other locks, broken ones, sanitizers, schedules and executions by the million.
use crate::workspace;
use anyhow::{Context as _, Result};
use core::fmt::Write as _;
use lab_kit::names::unknown;
use stanchion_family::catalogue::{Facts, InHandlers, MUTEXES, RWLOCKS, Timed};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(crate) const SCHEDULES: u64 = 10_000;
const MODEL_SECONDS: &str = "4";
/// The tests in which each lock has a module of its own.
const CONFORMANCE: [&str; 3] = ["stanchion-sim", "stanchion-model", "stanchion"];

const PAGES: [&str; 4] = ["README.md", "docs/locks.md", "crates/core/src/lib.rs", "crates/family/src/lib.rs"];

type Table = fn() -> String;
/// A column: its heading, and what it says of a lock.
type Column = (&'static str, fn(&Facts) -> String);

const TABLES: &[(&str, Table)] = &[
    ("mutexes, for whom", || table(FOR_WHOM, no_variants(MUTEXES))),
    ("rwlocks, for whom", || table(FOR_WHOM, no_variants(RWLOCKS))),
    ("mutexes, properties", || table(OF_MUTEXES, MUTEXES)),
    ("rwlocks, properties", || table(OF_RWLOCKS, RWLOCKS)),
    ("sources", || table(SOURCES, all())),
    ("modules of the product", || modules(true)),
    ("modules of the family", || modules(false)),
];

const FOR_WHOM: &[Column] = &[
    ("lock", |facts| code(facts.name)),
    ("type in `stanchion::lock`", |facts| code(facts.alias)),
    ("for", |facts| facts.suits.to_owned()),
];

const OF_MUTEXES: &[Column] = &[
    ("", |facts| code(facts.name)),
    ("how often may another context go ahead of a waiter", |facts| facts.overtaken.to_owned()),
    ("waiters", |facts| facts.waiting.to_owned()),
    ("throughput with more threads than CPUs", outnumbered),
    ("holder preempted", |facts| facts.holder_away.to_owned()),
    ("next in line preempted", |facts| facts.next_away.to_owned()),
    ("timed waits", |facts| match facts.timed {
        Timed::InQueue => "in the queue".to_owned(),
        Timed::ByTries => "by tries".to_owned(),
    }),
    ("bytes a lock", |facts| facts.bytes.to_string()),
];

const OF_RWLOCKS: &[Column] = &[
    ("", |facts| code(facts.name)),
    ("who may pass a waiting writer", |facts| facts.overtaken.to_owned()),
    ("waiters", |facts| facts.waiting.to_owned()),
    ("throughput with more threads than CPUs", outnumbered),
    ("a reader reads again while a writer waits", |facts| {
        yes(facts.shares.is_some_and(|shares| shares.reads_again))
    }),
    ("upgradable", |facts| yes(facts.upgrades)),
    ("handlers may", |facts| match facts.in_handlers {
        InHandlers::All => "read and write".to_owned(),
        InHandlers::Reads => "read".to_owned(),
    }),
    ("bytes a lock", |facts| facts.bytes.to_string()),
    ("bytes a thread", |facts| match (facts.bytes_a_context, facts.bytes_a_class) {
        (of_context, 0) => of_context.to_string(),
        (of_context, of_class) => format!("{of_context}, and {of_class} a class"),
    }),
];

const SOURCES: &[Column] = &[
    ("", |facts| code(facts.name)),
    ("what it is", |facts| facts.about.to_owned()),
    ("variant of", |facts| facts.variant_of.map_or_else(String::new, code)),
    ("under programs as they are", |facts| {
        facts.not_preloaded.map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"))
    }),
    ("source", |facts| facts.source.to_owned()),
];

pub(crate) fn run(root: &Path, check: bool) -> Result<bool> {
    let mut all_current = true;
    for page in PAGES {
        let new = filled(&fs::read_to_string(root.join(page))?).context(page)?;
        all_current &= workspace::generate(root, page, &new, check, "locks")?;
    }
    Ok(all_current)
}

/// The name of the table that begins below a line.
fn named(line: &str) -> Option<&str> {
    let line = line.trim_end().trim_end_matches(" -->");
    line.strip_prefix("// locks: ").or_else(|| line.strip_prefix("<!-- locks: "))
}

fn filled(page: &str) -> Result<String> {
    let mut out = String::new();
    let mut lines = page.split_inclusive('\n');
    while let Some(line) = lines.next() {
        out.push_str(line);
        let Some(name) = named(line) else { continue };
        let table = TABLES.iter().find(|(known, _)| *known == name);
        let (_, table) = table.with_context(|| format!("there is no table `{name}`"))?;
        let end = lines.find(|line| line.contains("end of locks"));
        out.push_str(&table());
        out.push_str(end.with_context(|| format!("`{name}` has no end"))?);
    }
    Ok(out)
}

fn table(columns: &[Column], locks: impl IntoIterator<Item = &'static Facts>) -> String {
    let head: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for facts in locks {
        let row: Vec<String> = columns.iter().map(|(_, says)| says(facts)).collect();
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

fn yes(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn outnumbered(facts: &Facts) -> String {
    format!("{:?}", facts.outnumbered).to_lowercase()
}

fn no_variants(locks: &'static [Facts]) -> impl Iterator<Item = &'static Facts> {
    locks.iter().filter(|facts| !facts.is_variant())
}

/// The words of a lock's type, among which the modules are that its parts come from.
fn words(facts: &Facts) -> impl Iterator<Item = &'static str> + use<> {
    facts.path.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

pub(crate) fn modules_with_locks() -> BTreeSet<&'static str> {
    let is_module = |word: &&str| {
        word.starts_with(|c: char| c.is_lowercase())
            && !matches!(*word, "crate" | "platform" | "stanchion_core")
    };
    all().flat_map(words).filter(is_module).collect()
}

/// Those of one lock, with paravirtual waiting or without. `None`: the catalogue does not know it.
pub(crate) fn modules_of(name: &str) -> Option<BTreeSet<String>> {
    let name = name.strip_suffix("-nopv").unwrap_or(name);
    let facts = all().find(|facts| facts.name == name)?;
    let known = modules_with_locks();
    Some(words(facts).filter(|word| known.contains(word)).map(str::to_owned).collect())
}

fn all() -> impl Iterator<Item = &'static Facts> {
    MUTEXES.iter().chain(RWLOCKS)
}

/// The module of each lock of one of the two crates that is not made of what both have, and its own type.
fn modules(of_product: bool) -> String {
    let product = stanchion_core::catalogue::MUTEXES.iter().chain(stanchion_core::catalogue::RWLOCKS);
    let product: BTreeSet<_> = product.map(|facts| facts.name).collect();
    let path = |facts: &'static Facts| {
        let (module, name) = facts.path.split('<').next()?.rsplit_once("::")?;
        Some((module.rsplit("::").next()?.trim(), name.trim()))
    };
    let paths: BTreeSet<_> = all()
        .filter(|facts| product.contains(facts.name) == of_product && !facts.path.contains("stanchion_core"))
        .filter_map(path)
        .collect();
    let modules: BTreeSet<_> = paths.iter().map(|(module, _)| format!("pub mod {module};\n")).collect();
    let types = paths.iter().filter(|(_, name)| name.ends_with("Lock"));
    let types = types.map(|(module, name)| format!("pub use {module}::{name};\n"));
    modules.into_iter().chain(["\n".to_owned()]).chain(types).collect()
}

/// Runs the steps; the first that fails ends it.
pub(crate) fn try_one(root: &Path, lock: &str, schedules: u64) -> Result<bool> {
    let modules = modules_of(lock).with_context(|| unknown("lock", lock, all().map(|facts| facts.name)))?;
    let started = Instant::now();
    let mut tests = 0;
    for (name, words) in steps(lock, &modules, schedules) {
        let begun = Instant::now();
        let mut cargo = Command::new("cargo");
        let output = cargo.args(words.split(' ')).current_dir(root).stdin(Stdio::null()).output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let passed = passed(&printed);
        tests += passed;
        let told = if passed > 0 { format!("{passed} tests") } else { String::new() };
        println!("{name:<32} {:>6.1} s  {told}", begun.elapsed().as_secs_f64());
        if !output.status.success() {
            print!("{printed}{}", String::from_utf8_lossy(&output.stderr));
            println!("try: {lock}: failed: cargo {words}");
            return Ok(false);
        }
    }
    println!("try: {lock}: {tests} tests in {:.0} s", started.elapsed().as_secs_f64());
    // Names that nothing matches pass, too.
    if tests == 0 {
        println!("try: {lock}: no test has its name");
    }
    Ok(tests > 0)
}

/// What each step is, and what cargo is told.
fn steps(lock: &str, modules: &BTreeSet<String>, schedules: u64) -> Vec<(String, String)> {
    let own = lock.replace('-', "_");
    let filters = modules.iter().map(|module| format!("{module}::")).collect::<Vec<_>>().join(" ");
    let unit =
        |package: &str| (format!("{package}, unit tests"), format!("test -p {package} --lib -- {filters}"));
    let conformance = |package: &str| {
        (format!("{package}, conformance"), format!("test -p {package} --test *conformance -- {own}::"))
    };
    let tests = "--test conformance --test rw_conformance --example explore_one --bin stanchion-model";
    let built = format!("test --no-run {tests} -p {}", CONFORMANCE.join(" -p "));
    let explored = format!("run -p stanchion-sim --example explore_one -- {lock} {schedules} 1");
    let model = format!("run -p stanchion-model -- --lock {lock} --seconds {MODEL_SECONDS}");
    let mut steps = vec![("built".to_owned(), built)];
    steps.extend(["stanchion-core", "stanchion-family"].map(unit));
    steps.extend([("sim, explored".to_owned(), explored), ("model, programs".to_owned(), model)]);
    steps.extend(CONFORMANCE.map(conformance));
    steps
}

/// How many tests passed, by the lines of the test harness.
fn passed(output: &str) -> u64 {
    let count = |line: &str| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u64>().ok();
    output.lines().filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_current() {
        let root = workspace::root();
        for page in PAGES {
            let old = fs::read_to_string(root.join(page)).expect("the page is readable");
            assert!(
                filled(&old).is_ok_and(|new| new == old),
                "{page} is not current; run `cargo xtask locks`"
            );
            assert!(old.lines().any(|line| named(line).is_some()), "{page} has a table");
        }
    }

    #[test]
    fn what_stands_between_the_markers_is_replaced() {
        let page = "a\n<!-- locks: sources -->\nold\n<!-- end of locks -->\nb";
        let new = filled(page).expect("well-formed");
        assert!(
            new.starts_with("a\n<!-- locks: sources -->\n| ") && new.ends_with("|\n<!-- end of locks -->\nb")
        );
        assert_eq!(filled(&new).expect("it is well-formed"), new);
        assert!(
            filled("<!-- locks: sources -->\n").is_err()
                && filled("<!-- locks: x -->\n<!-- end of locks -->").is_err()
        );
    }

    #[test]
    fn the_modules_of_a_lock_are_those_of_all_its_parts() {
        let of =
            |name: &str| modules_of(name).map(|modules| modules.into_iter().collect::<Vec<_>>().join(" "));
        assert_eq!(of("qrw-spin").as_deref(), Some("qrw qrw_spin qspin"));
        assert_eq!(of("pv-qspin-nopv").as_deref(), Some("pv_qspin"));
        assert_eq!(of("qrw-byte"), None);
    }

    #[test]
    fn no_text_breaks_a_table() {
        for (name, table) in TABLES.iter().filter(|(name, _)| !name.starts_with("modules")) {
            let table = table();
            let bars = |line: &str| line.matches('|').count();
            let columns = table.lines().next().map(bars);
            assert!(table.lines().all(|line| Some(bars(line)) == columns), "{name}");
        }
    }

    #[test]
    fn passed_tests_are_added_up() {
        let output = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\ntest result: ok. 40 passed; 0 failed\n";
        assert_eq!(passed(output), 42);
        assert_eq!(passed("test result: FAILED. 2 passed; 1 failed"), 0);
    }

    #[test]
    fn every_world_is_tried() {
        let root = workspace::root();
        let steps = steps("pv-ticket", &["pv_ticket".to_owned()].into(), 10);
        let lines: Vec<&str> = steps.iter().map(|(_, words)| words.as_str()).collect();
        assert!(lines.iter().any(|line| line.ends_with("explore_one -- pv-ticket 10 1")), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("stanchion-model -- --lock pv-ticket")), "{lines:?}");
        let native = "test -p stanchion --test *conformance -- pv_ticket::";
        assert!(lines.contains(&native), "{lines:?}");
        assert!(try_one(&root, "pv-tickets", 1).is_err_and(|error| error.to_string().contains("pv-ticket")));
    }
}
