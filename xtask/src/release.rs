//! `cargo xtask release --dry-run`: whether the crates that the registry is to have can be published.
//!
//! Which crates those are stands in their manifests (`publish`). Cargo packs and builds all of them as they
//! would come from the registry, and knows the order.
use crate::process::shell;
use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;
use xshell::cmd;

/// What the registry shows of a crate, and takes none without.
const SHOWN: &[&str] = &["description", "readme", "license"];

pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let sh = shell(root)?;
    let metadata: Value =
        serde_json::from_str(&cmd!(sh, "cargo metadata --format-version=1 --no-deps").read()?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages: Vec<&Value> = packages.filter(|package| is_published(package)).collect();
    let mut findings: Vec<String> = packages.iter().flat_map(|package| lacks(package)).collect();
    let changes = sh.read_file("CHANGELOG.md")?;
    let mut versions: Vec<&str> = packages.iter().filter_map(|package| package["version"].as_str()).collect();
    versions.dedup();
    for version in versions {
        if !changes.contains(version) && !changes.contains("Unreleased") {
            findings.push(format!("CHANGELOG.md has nothing of {version}"));
        }
    }
    for finding in &findings {
        println!("release: {finding}");
    }
    if !findings.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let names = packages.iter().filter_map(|package| package["name"].as_str());
    let words: Vec<&str> = names.flat_map(|name| ["-p", name]).collect();
    if cmd!(sh, "cargo package --allow-dirty").args(&words).run().is_err() {
        return Ok(ExitCode::FAILURE);
    }
    println!("release: all can be packed and built; to publish them: cargo publish {}", words.join(" "));
    Ok(ExitCode::SUCCESS)
}

fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

/// What a published crate lacks.
fn lacks(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut lacks: Vec<&str> = SHOWN.iter().copied().filter(|field| package[field].is_null()).collect();
    let lists = ["keywords", "categories"];
    lacks.extend(lists.iter().filter(|list| package[**list].as_array().is_none_or(Vec::is_empty)));
    if package["metadata"]["docs"]["rs"].is_null() {
        lacks.push("metadata for docs.rs");
    }
    lacks.into_iter().map(|what| format!("{name} has no {what}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_lacking_is_named() {
        let package = json!({"name": "a", "description": "d", "readme": null, "license": "MIT", "keywords": ["k"], "categories": [],
            "metadata": {"docs": {"rs": {}}}});
        assert_eq!(lacks(&package), ["a has no readme", "a has no categories"]);
        assert!(!is_published(&json!({"publish": []})) && is_published(&json!({"publish": null})));
    }
}
