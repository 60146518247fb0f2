//! `arrows-one-way`: which crate of the workspace may depend on which.
use crate::workspace::Finding;
use toml::de::DeTable;

const RULE: &str = "arrows-one-way";
const CORE: &str = "stanchion-core";
const FAMILY: &str = "stanchion-family";
const SUITE: &str = "stanchion-suite";
const WIRE: &str = "stanchion-wire";
const KIT: &str = "stanchion-lab-kit";
const CELLS: &str = "stanchion-cells";

const ARROWS: &[(&str, &[&str])] = &[
    (CORE, &[]),
    (FAMILY, &[CORE]),
    (SUITE, &[CORE, FAMILY]),
    // It depends on itself for its tests, with all features that they need. The suite is for the tests of
    // worlds; the guest, which has no test harness, runs it itself. It has the locks that are broken on
    // purpose, for whoever has to notice them.
    ("stanchion", &[CORE, FAMILY, SUITE, "stanchion"]),
    ("stanchion-sim", &[CORE, FAMILY, SUITE]),
    ("stanchion-model", &[CORE, FAMILY, SUITE]),
    ("stanchion-guest", &[CORE, FAMILY, SUITE, WIRE, "stanchion"]),
    ("stanchion-capi", &[CORE, FAMILY, "stanchion"]),
    (WIRE, &[]),
    ("stanchion-preload", &[CORE, FAMILY, "stanchion", WIRE]),
    (CELLS, &[CORE, FAMILY, "stanchion-sim"]),
    ("stanchion-python", &[FAMILY, "stanchion-sim", CELLS]),
    (KIT, &[CORE, FAMILY, CELLS]),
    ("stanchion-lab", &[CORE, FAMILY, "stanchion", "stanchion-sim", SUITE, CELLS, WIRE, KIT]),
    // Pages and programs take their lists of locks from the catalogue.
    ("xtask", &[CORE, FAMILY, KIT]),
];

/// The package of each dependency of a manifest, or of its part for one target, and where its name stands.
fn packages<'a>(manifest: &'a DeTable<'a>) -> Vec<(usize, &'a str)> {
    let own = ["dependencies", "dev-dependencies", "build-dependencies"].into_iter();
    let own =
        own.filter_map(|name| manifest.get(name)?.get_ref().as_table()).flatten().map(|(key, value)| {
            let package = value.get_ref().get("package").and_then(|package| package.get_ref().as_str());
            (key.span().start, package.unwrap_or(key.get_ref()))
        });
    let targets = manifest.get("target").and_then(|targets| targets.get_ref().as_table());
    let targets = targets.into_iter().flatten().filter_map(|(_, part)| part.get_ref().as_table());
    own.chain(targets.flat_map(packages)).collect()
}

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let finding =
        |at: usize, message: String| Finding::new(path, text[..at].matches('\n').count() + 1, RULE, message);
    let manifest = match DeTable::parse(text) {
        Ok(manifest) => manifest,
        Err(error) => return vec![finding(0, format!("the manifest does not parse ({error}); mend it"))],
    };
    let manifest = manifest.get_ref();
    let name = manifest.get("package").and_then(|package| package.get_ref().get("name")?.get_ref().as_str());
    let name = name.unwrap_or("(no name)");
    let Some((_, allowed)) = ARROWS.iter().find(|(krate, _)| *krate == name) else {
        return vec![finding(0, format!("crate `{name}` has no arrows; add it to ARROWS in xtask"))];
    };
    let mut findings = Vec::new();
    for (at, target) in packages(manifest) {
        let ours = ARROWS.iter().any(|(krate, _)| *krate == target);
        if name == CORE {
            let message = format!("`{CORE}` depends on `{target}`; it depends on nothing at all, remove it");
            findings.push(finding(at, message));
        } else if ours && !allowed.contains(&target) {
            let advice = match allowed {
                [] => "it depends on none of our crates".to_owned(),
                _ => format!("of our crates it may use {}", allowed.join(", ")),
            };
            findings.push(finding(at, format!("`{name}` must not depend on `{target}`; {advice}")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        check("crates/a/Cargo.toml", text).iter().map(ToString::to_string).collect()
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
