//! Where the tests of a published crate are run: copies of its source, fetched by cargo.
use super::Subject;
use crate::process::{shell, silently};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

pub(super) fn write_manifest(sh: &Shell, subject: &Subject) -> Result<()> {
    let Subject { package, version, features, .. } = subject;
    let features: Vec<&str> = features.split(',').filter(|feature| !feature.is_empty()).collect();
    let manifest = format!(
        "[workspace]\n[package]\nname = \"measured\"\nedition = \"2024\"\n[dependencies]\n{package} = {{ version = \"={version}\", features = {features:?} }}\n"
    );
    Ok(sh.write_file("Cargo.toml", manifest)?)
}

/// The source of the crate as cargo has it.
pub(super) fn fetch(dir: &Path, subject: &Subject) -> Result<PathBuf> {
    let (sh, Subject { package, version, .. }) = (shell(dir)?, subject);
    sh.write_file("src/lib.rs", "")?;
    write_manifest(&sh, subject)?;
    let metadata = cmd!(sh, "cargo metadata --format-version 1").read()?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages
        .filter(|found| found["name"] == **package && found["version"] == **version)
        .find_map(|found| Path::new(found["manifest_path"].as_str()?).parent());
    Ok(found.with_context(|| format!("cargo knows no source of {package} {version}"))?.to_owned())
}

/// A fresh copy that is a workspace of its own.
pub(super) fn copy(source: &Path, to: &Path) -> Result<()> {
    let sh = shell(source)?;
    sh.remove_path(to)?;
    silently(cmd!(sh, "cp -r {source} {to}"))?;
    edit(&to.join("Cargo.toml"), |manifest| {
        let has_one = manifest.lines().any(|line| line.trim() == "[workspace]");
        format!("{manifest}{}", if has_one { "" } else { "\n[workspace]\n" })
    })
}

/// Gives the copy of parking_lot another name, and the drop-in to its tests and to the examples in its
/// documentation.
pub(super) fn rename(copy: &Path, drop_in: &str, stanchion: &str, features: &[&str]) -> Result<()> {
    edit(&copy.join("Cargo.toml"), |manifest| {
        format!(
            "{}\n[dev-dependencies.parking_lot]\npath = {drop_in:?}\nfeatures = {features:?}\n\n[dev-dependencies.stanchion]\npath = {stanchion:?}\n\n[[test]]\nname = \"own\"\npath = \"tests/own.rs\"\n",
            manifest.replace("name = \"parking_lot\"", "name = \"theirs\""),
        )
    })?;
    // It names the package; cargo makes another.
    Ok(fs::remove_file(copy.join("Cargo.lock"))?)
}

/// The newest of all that the crate depends on, but of parking_lot the version that the drop-in stands in
/// for. What the crate was published with may be older than what the drop-in needs.
pub(super) fn settle(copy: &Path, words: &[&str]) -> Result<()> {
    let sh = shell(copy)?;
    sh.remove_path("Cargo.lock")?;
    Ok(cmd!(sh, "cargo update --quiet parking_lot@0.12 --precise 0.12.5 {words...}").run()?)
}

fn edit(path: &Path, change: impl Fn(&str) -> String) -> Result<()> {
    Ok(fs::write(path, change(&fs::read_to_string(path)?))?)
}

/// Whether the parking_lot of this kind, such as `0.12`, that the lock file names is a directory here, and
/// not the published one.
pub(super) fn is_patched(lock: &str, kind: &str) -> bool {
    let of_kind = format!("\nname = \"parking_lot\"\nversion = \"{kind}.");
    let mut found = lock.split("[[package]]").filter(|package| package.starts_with(&of_kind)).peekable();
    found.peek().is_some() && found.all(|package| !package.contains("\nsource = "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_tells_whose_parking_lot_it_is() {
        let theirs = "[[package]]\nname = \"parking_lot\"\nversion = \"0.12.5\"\nsource = \"registry\"\n";
        let ours = "[[package]]\nname = \"parking_lot\"\nversion = \"0.12.5\"\n";
        assert!(is_patched(ours, "0.12"));
        assert!(!is_patched(theirs, "0.12") && !is_patched(&format!("{ours}{theirs}"), "0.12"));
        assert!(!is_patched(ours, "0.13") && !is_patched("", "0.12"));
    }
}
