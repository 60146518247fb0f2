//! What registries are to have: the wheel for Python, and the crates.
//!
//! `cargo xtask wheel` builds the wheel; `--check` uses and tests it in a fresh environment. Wheels, tools
//! and that environment are below `target/python`; what tests need is pinned in
//! `crates/python/requirements-test.txt`.
//!
//! `cargo xtask release --dry-run` says whether the crates can be published whose manifests say that they are
//! to be (`publish`). Cargo packs and builds them as they would come from the registry, and knows the order.
use crate::built;
use crate::process::shell;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

const PACKAGE: &str = "crates/python";
const MATURIN: &str = "maturin==1.16.0";
/// What a wheel may have, in bytes.
const LARGEST: u64 = 10 << 20;

#[derive(clap::Args)]
pub(crate) struct Request {
    /// Then install it in a fresh environment: the example of its page, types, tests
    #[arg(long)]
    check: bool,
    /// Not optimised, so that it is built sooner
    #[arg(long)]
    debug: bool,
    /// With the tests that need Ray, which takes half a minute to start
    #[arg(long, requires = "check")]
    ray: bool,
}

pub(crate) fn wheel(root: &Path, request: &Request) -> Result<bool> {
    let sh = shell(root)?;
    let place = built::target(root).join("python");
    let (tools, wheels) = (place.join(MATURIN), place.join("wheels"));
    let maturin = tools.join("bin/maturin");
    if !maturin.exists() {
        install(&sh, &environment(&sh, &tools)?, &[MATURIN])?;
    }
    sh.remove_path(&wheels)?;
    let profile = if request.debug { "dev" } else { "release" };
    cmd!(
        sh,
        "{maturin} build --quiet --profile {profile} --manifest-path {PACKAGE}/Cargo.toml --out {wheels}"
    )
    .args([Path::new("--target-dir"), &built::target(root)])
    .run()?;
    let wheel = sh.read_dir(&wheels)?.pop().context("maturin built no wheel")?;
    let bytes = fs::metadata(&wheel)?.len();
    println!("{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    if bytes > LARGEST {
        println!("{PACKAGE}:1: [wheel] the wheel has more than {LARGEST} bytes");
        return Ok(false);
    }
    Ok(!request.check || check(root, &sh, &place, &wheel, request.ray)?)
}

/// An environment of its own, made anew; its interpreter.
fn environment(sh: &Shell, place: &Path) -> Result<PathBuf> {
    cmd!(sh, "python3 -m venv --clear {place}").run()?;
    Ok(place.join("bin/python"))
}

fn install(sh: &Shell, python: &Path, what: &[&str]) -> Result<()> {
    Ok(cmd!(sh, "{python} -m pip install --quiet --no-compile --disable-pip-version-check {what...}")
        .run()?)
}

/// Whether all goes well with the wheel in a fresh environment.
fn check(root: &Path, sh: &Shell, place: &Path, wheel: &Path, ray: bool) -> Result<bool> {
    let python = environment(sh, &place.join("fresh"))?;
    let _package = sh.push_dir(PACKAGE);
    install(sh, &python, &[&wheel.to_string_lossy()])?;
    // The example needs nothing but the wheel.
    let example = place.join("example.py");
    sh.write_file(&example, block(&sh.read_file("README.md")?)?)?;
    cmd!(sh, "{python} {example}").run()?;
    install(sh, &python, &["-r", "requirements-test.txt"])?;
    if ray {
        install(sh, &python, &["-r", "requirements-ray.txt"])?;
    }
    // The `stanchion` command and its interposer, as other jobs of CI build them: `advise` starts it.
    built::interposer(root, false)?;
    let _command = sh.push_env("STANCHION_COMMAND", built::laboratory(root)?);
    // No cache among the sources: the command would be taken for changed, and built anew by the next job.
    let _bytecode = sh.push_env("PYTHONPYCACHEPREFIX", place.join("bytecode"));
    let config = "--cache-dir /dev/null --config-file pyproject.toml".split(' ');
    let types = cmd!(sh, "{python} -m mypy {config...} python/stanchion tests").run();
    let tests = cmd!(sh, "{python} -m pytest -q -p no:cacheprovider tests").run();
    Ok(types.and(tests).is_ok())
}

/// The first block of Python on a page.
fn block(page: &str) -> Result<&str> {
    let blocks = page.split_once("```python\n").and_then(|(_, rest)| rest.split_once("```"));
    Ok(blocks.context("the page has no example in Python")?.0)
}

pub(crate) fn crates(root: &Path) -> Result<bool> {
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

fn lacks(package: &Value, changes: &str) -> Vec<String> {
    let [name, version] = ["name", "version"].map(|field| package[field].as_str().unwrap_or_default());
    // What the registry shows of a crate, and takes none without.
    let mut lacks = vec!["description", "readme", "license"];
    lacks.retain(|field| package[field].is_null());
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
    fn the_example_is_the_first_block_of_python() {
        let page = "a\n```sh\nb\n```\n```python\nc = 1\n```\n```python\nd\n```\n";
        assert_eq!(block(page).expect("it is there"), "c = 1\n");
        assert!(block("```sh\nb\n```\n").is_err());
    }

    #[test]
    fn what_is_lacking_is_named() {
        let package = json!({"name": "a", "version": "0.1.0", "description": "d", "readme": null, "license": "MIT", "keywords": ["k"], "categories": [],
            "metadata": {"docs": {"rs": {}}}});
        assert_eq!(lacks(&package, "## 0.1.0"), ["a has no readme", "a has no categories"]);
        assert!(lacks(&package, "## 0.2.0").contains(&"a has no entry in CHANGELOG.md".to_owned()));
        assert!(!is_published(&json!({"publish": []})) && is_published(&json!({"publish": null})));
    }
}
