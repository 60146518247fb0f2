//! `cargo xtask release --dry-run`: whether the crates that the registry is to have can be published.
//!
//! Which crates those are stands in their manifests (`publish`). Cargo packs and builds all of them as they
//! would come from the registry, and knows the order.
use crate::process::shell;
use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use xshell::cmd;

/// What the registry shows of a crate, and takes none without.
const SHOWN: &[&str] = &["description", "readme", "license"];

pub(crate) fn run(root: &Path) -> Result<bool> {
    let sh = shell(root)?;
    let metadata: Value =
        serde_json::from_str(&cmd!(sh, "cargo metadata --format-version=1 --no-deps").read()?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages: Vec<&Value> = packages.filter(|package| is_published(package)).collect();
    let changes = sh.read_file("CHANGELOG.md")?;
    let findings: Vec<String> = packages.iter().flat_map(|package| lacks(package, &changes)).collect();
    for finding in &findings {
        println!("release: {finding}");
    }
    let names = packages.iter().filter_map(|package| package["name"].as_str());
    let words: Vec<&str> = names.flat_map(|name| ["-p", name]).collect();
    let passed = findings.is_empty() && cmd!(sh, "cargo package --allow-dirty").args(&words).run().is_ok();
    if passed {
        println!("release: all can be packed and built; to publish them: cargo publish {}", words.join(" "));
    }
    Ok(passed)
}

fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

/// What a published crate lacks.
fn lacks(package: &Value, changes: &str) -> Vec<String> {
    let [name, version] = ["name", "version"].map(|field| package[field].as_str().unwrap_or_default());
    let mut lacks: Vec<&str> = SHOWN.iter().copied().filter(|field| package[field].is_null()).collect();
    let lists = ["keywords", "categories"];
    lacks.extend(lists.iter().filter(|list| package[**list].as_array().is_none_or(Vec::is_empty)));
    if package["metadata"]["docs"]["rs"].is_null() {
        lacks.push("metadata for docs.rs");
    }
    if !changes.contains(version) && !changes.contains("Unreleased") {
        lacks.push("entry in CHANGELOG.md");
    }
    lacks.into_iter().map(|what| format!("{name} has no {what}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_lacking_is_named() {
        let package = json!({"name": "a", "version": "0.1.0", "description": "d", "readme": null, "license": "MIT", "keywords": ["k"], "categories": [],
            "metadata": {"docs": {"rs": {}}}});
        assert_eq!(lacks(&package, "## 0.1.0"), ["a has no readme", "a has no categories"]);
        assert!(lacks(&package, "## 0.2.0").contains(&"a has no entry in CHANGELOG.md".to_owned()));
        assert!(!is_published(&json!({"publish": []})) && is_published(&json!({"publish": null})));
    }
}
