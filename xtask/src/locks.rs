//! `cargo xtask locks`: writes the tables of locks into pages, and their modules into their crates, from the
//! catalogue.
//!
//! A page has a line `<!-- locks: NAME -->` where the table NAME begins, and one `<!-- end of locks -->`
//! where it ends; see [`TABLES`]. A file of Rust has `// locks: NAME` and `// end of locks`.
use crate::workspace;
use anyhow::{Context as _, Result};
use core::fmt::Write as _;
use stanchion_family::catalogue::{Facts, InHandlers, MUTEXES, RWLOCKS, Timed};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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

/// Writes the tables, or says with `check` which pages are not current.
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

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|facts| facts.name)
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

/// The module of each lock of one of the two crates that is not put together from what both have, and its
/// type if that has the lock's name.
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
}
