//! `cargo xtask release --dry-run`: whether the crates that the registry is to have can be published, and in
//! which order.
//!
//! Which crates those are stands in their manifests (`publish`). Cargo packs and builds all of them as they
//! would come from the registry.
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{fs, io};

/// What the registry shows of a crate, and takes none without.
const SHOWN: &[&str] = &["description", "readme", "license"];

/// Runs the command.
pub(crate) fn run(root: &Path) -> io::Result<ExitCode> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--no-deps"])
        .current_dir(root)
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(io::Error::other)?;
    let packages: Vec<&Value> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|package| is_published(package))
        .collect();
    let mut findings: Vec<String> = packages.iter().flat_map(|package| lacks(package)).collect();
    let changes = fs::read_to_string(root.join("CHANGELOG.md"))?;
    for version in packages.iter().filter_map(|package| package["version"].as_str()).collect::<BTreeSet<_>>()
    {
        if !changes.contains(version) && !changes.contains("Unreleased") {
            findings.push(format!("CHANGELOG.md has nothing of {version}"));
        }
    }
    let order = in_order(&packages).map_err(io::Error::other)?;
    for finding in &findings {
        println!("release: {finding}");
    }
    if !findings.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let mut cargo = Command::new("cargo");
    cargo
        .args(["package", "--allow-dirty"])
        .args(order.iter().flat_map(|name| ["-p", name]))
        .current_dir(root);
    if !cargo.status()?.success() {
        return Ok(ExitCode::FAILURE);
    }
    println!(
        "release: all can be packed and built; to publish them: cargo publish -p {}",
        order.join(" -p ")
    );
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

/// The names, each behind those that it depends on.
fn in_order<'a>(packages: &[&'a Value]) -> Result<Vec<&'a str>, String> {
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut order: Vec<&str> = Vec::new();
    while order.len() < names.len() {
        let is_next = |package: &&&Value| {
            let mut ours = package["dependencies"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|dependency| dependency["kind"] != "dev")
                .filter_map(|dependency| dependency["name"].as_str())
                .filter(|name| names.contains(name));
            let name = package["name"].as_str().unwrap_or_default();
            !order.contains(&name) && ours.all(|name| order.contains(&name))
        };
        let next = packages.iter().find(is_next).and_then(|package| package["name"].as_str());
        order.push(next.ok_or("the published crates depend on each other in a circle")?);
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn who_is_needed_comes_first() {
        let top = json!({"name": "top", "dependencies": [{"name": "base", "kind": null}, {"name": "serde", "kind": null}]});
        let base = json!({"name": "base", "dependencies": [{"name": "top", "kind": "dev"}]});
        assert_eq!(in_order(&[&top, &base]), Ok(vec!["base", "top"]));
        let circle = json!({"name": "base", "dependencies": [{"name": "top", "kind": null}]});
        assert!(in_order(&[&top, &circle]).is_err());
    }

    #[test]
    fn what_is_lacking_is_named() {
        let package = json!({"name": "a", "description": "d", "readme": null, "license": "MIT", "keywords": ["k"], "categories": [],
            "metadata": {"docs": {"rs": {}}}});
        assert_eq!(lacks(&package), ["a has no readme", "a has no categories"]);
        assert!(!is_published(&json!({"publish": []})) && is_published(&json!({"publish": null})));
    }
}
