//! `arrows-one-way`: which crate of the workspace may depend on which.
use crate::finding::Finding;
use toml::{Table, Value};

const RULE: &str = "arrows-one-way";
const CORE: &str = "stanchion-core";
const FAMILY: &str = "stanchion-family";
const SUITE: &str = "stanchion-suite";
const WIRE: &str = "stanchion-wire";
const KIT: &str = "stanchion-lab-kit";
const CELLS: &str = "stanchion-cells";

/// Each crate with the crates of ours it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    (CORE, &[]),
    (FAMILY, &[CORE]),
    (SUITE, &[CORE, FAMILY]),
    // It depends on itself for its tests, with all features that they need. The suite is for the tests of
    // worlds; the guest, which has no test harness, runs it itself.
    ("stanchion", &[CORE, FAMILY, SUITE, "stanchion"]),
    ("stanchion-sim", &[CORE, FAMILY, SUITE]),
    ("stanchion-model", &[CORE, FAMILY, SUITE]),
    ("stanchion-guest", &[CORE, FAMILY, SUITE, "stanchion"]),
    ("stanchion-capi", &[CORE, FAMILY, "stanchion"]),
    (WIRE, &[]),
    ("stanchion-preload", &[CORE, FAMILY, "stanchion", WIRE]),
    (CELLS, &[CORE, FAMILY, "stanchion-sim"]),
    ("stanchion-python", &[FAMILY, "stanchion-sim", CELLS]),
    (KIT, &[CORE, FAMILY]),
    ("stanchion-lab", &[CORE, FAMILY, "stanchion", "stanchion-sim", CELLS, WIRE, KIT]),
    // Pages and programs take their lists of locks from the catalogue.
    ("xtask", &[CORE, FAMILY, KIT]),
];

/// Dependencies that point where no arrow goes.
pub(crate) fn check(manifests: &[(String, String)]) -> Vec<Finding> {
    manifests.iter().flat_map(|(path, text)| check_one(path, text)).collect()
}

fn check_one(path: &str, text: &str) -> Vec<Finding> {
    let finding = |line: usize, message: String| Finding::new(path, line, RULE, message);
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![finding(1, format!("the manifest does not parse ({error}); mend it"))],
    };
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    let Some((name, allowed)) = ARROWS.iter().find(|(krate, _)| Some(*krate) == name) else {
        let name = name.unwrap_or("(no name)");
        return vec![finding(1, format!("crate `{name}` has no arrows; add it to ARROWS in xtask"))];
    };
    let mut findings = Vec::new();
    for (key, target) in dependencies(&manifest) {
        let line = text.lines().position(|line| names_key(line, &key)).map_or(1, |at| at + 1);
        let ours = ARROWS.iter().any(|(krate, _)| *krate == target);
        if *name == CORE {
            let message = format!("`{CORE}` depends on `{target}`; it depends on nothing at all, remove it");
            findings.push(finding(line, message));
        } else if ours && !allowed.contains(&target.as_str()) {
            let message = format!("`{name}` must not depend on `{target}`; {}", advice(allowed));
            findings.push(finding(line, message));
        }
    }
    findings
}

fn advice(allowed: &[&str]) -> String {
    match allowed {
        [] => "it depends on none of our crates".to_owned(),
        _ => format!("of our crates it may use {}", allowed.join(", ")),
    }
}

/// `(key, package)` of all dependencies: plain, dev, build and for single targets.
fn dependencies(manifest: &Table) -> Vec<(String, String)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table));
    let mut found = Vec::new();
    for table in core::iter::once(manifest).chain(targets) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (key, value) in table.get(kind).and_then(Value::as_table).into_iter().flatten() {
                let package = value.get("package").and_then(Value::as_str).unwrap_or(key);
                found.push((key.clone(), package.to_owned()));
            }
        }
    }
    found
}

/// Whether a manifest line starts the entry `key`, as `key = ...`, `key.x = ...` or `[....key]`.
fn names_key(line: &str, key: &str) -> bool {
    let line = line.trim();
    let table = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    table.is_some_and(|table| table.rsplit('.').next().is_some_and(|last| last.trim_matches('"') == key))
        || line
            .trim_start_matches('"')
            .strip_prefix(key)
            .is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with(['=', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check_one("crates/a/Cargo.toml", text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_core_depends_on_nothing() {
        assert_eq!(
            found("[package]\nname = \"stanchion-core\"\n[dev-dependencies]\nfastrand = \"2\"\n"),
            [
                "crates/a/Cargo.toml:4: [arrows-one-way] `stanchion-core` depends on `fastrand`; it depends on \
                 nothing at all, remove it"
            ]
        );
    }

    #[test]
    fn arrows_against_the_way_are_found_in_every_table() {
        let text = "[package]\nname = \"stanchion\"\n[dependencies]\nstanchion-core.workspace = true\n\
                    [target.'cfg(unix)'.dev-dependencies]\nsim = { package = \"stanchion-sim\", path = \"../sim\" }\n";
        assert_eq!(
            found(text),
            [
                "crates/a/Cargo.toml:6: [arrows-one-way] `stanchion` must not depend on `stanchion-sim`; of our \
                 crates it may use stanchion-core, stanchion-family, stanchion-suite, stanchion"
            ]
        );
    }

    #[test]
    fn unknown_crates_are_found() {
        assert_eq!(
            found("[package]\nname = \"stanchion-extra\"\n"),
            [
                "crates/a/Cargo.toml:1: [arrows-one-way] crate `stanchion-extra` has no arrows; add it to ARROWS in \
                 xtask"
            ]
        );
    }

    #[test]
    fn arrows_along_the_way_pass() {
        assert!(found("[package]\nname = \"xtask\"\n[dependencies]\nsyn = \"3\"\n").is_empty());
        let lab = "[package]\nname = \"stanchion-lab\"\n[dependencies]\nstanchion-core.workspace = true\nlibc = \"0\"\n";
        assert!(found(lab).is_empty());
    }
}
