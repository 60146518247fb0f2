//! Where the tests of a published crate are run: copies of its source below the target directory, fetched by
//! cargo.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The source of the crate as cargo has it.
pub(super) fn fetch(dir: &Path, (name, version): (&str, &str)) -> io::Result<PathBuf> {
    fs::create_dir_all(dir.join("src"))?;
    fs::write(dir.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[workspace]\n[package]\nname = \"fetch\"\nedition = \"2024\"\n[dependencies]\n{name} = \"={version}\"\n"
    );
    fs::write(dir.join("Cargo.toml"), manifest)?;
    let output =
        Command::new("cargo").args(["metadata", "--format-version", "1"]).current_dir(dir).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        io::Error::other(format!("{name} {version} cannot be fetched: {}", printed.trim()))
    })?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages
        .filter(|package| package["name"] == name && package["version"] == version)
        .find_map(|package| Path::new(package["manifest_path"].as_str()?).parent().map(Path::to_path_buf));
    found.ok_or_else(|| io::Error::other(format!("cargo knows no source of {name} {version}")))
}

/// A fresh copy that is a workspace of its own.
pub(super) fn copy(source: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    copy_directory(source, to)?;
    edit(&to.join("Cargo.toml"), |manifest| {
        if manifest.lines().any(|line| line.trim() == "[workspace]") {
            manifest.to_owned()
        } else {
            format!("{manifest}\n[workspace]\n")
        }
    })
}

/// Gives the copy of parking_lot another name, and the drop-in to its tests and to the examples in its
/// documentation.
pub(super) fn rename(copy: &Path, drop_in: &Path, stanchion: &Path, features: &str) -> io::Result<()> {
    let features: Vec<String> = features.split(',').map(|feature| format!("{feature:?}")).collect();
    edit(&copy.join("Cargo.toml"), |manifest| {
        format!(
            "{}\n[dev-dependencies.parking_lot]\npath = \"{}\"\nfeatures = [{}]\n\n[dev-dependencies.stanchion]\npath = \"{}\"\n\n[[test]]\nname = \"own\"\npath = \"tests/own.rs\"\n",
            manifest.replace("name = \"parking_lot\"", "name = \"theirs\""),
            drop_in.display(),
            features.join(", "),
            stanchion.display()
        )
    })?;
    // It names the package; cargo makes another.
    fs::remove_file(copy.join("Cargo.lock"))
}

/// The newest of all that the crate depends on, but of parking_lot the version that the drop-in stands in
/// for. What the crate was published with may be older than what the drop-in needs.
pub(super) fn settle(copy: &Path, words: &[&str]) -> io::Result<()> {
    let lock = copy.join("Cargo.lock");
    if lock.exists() {
        fs::remove_file(lock)?;
    }
    let update = ["update", "--quiet", "parking_lot@0.12", "--precise", "0.12.5"];
    let output = Command::new("cargo").args(update).args(words).current_dir(copy).output()?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("{}: {}", copy.display(), printed.trim())))
}

fn edit(path: &Path, change: impl Fn(&str) -> String) -> io::Result<()> {
    fs::write(path, change(&fs::read_to_string(path)?))
}

fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Whether the parking_lot of `version`'s kind that the lock file names is a directory here, and not the
/// published one.
pub(super) fn is_patched(lock: &str, version: &str) -> bool {
    let kind = version.rsplit_once('.').map_or(version, |(kind, _)| kind);
    let lock: toml::Table = lock.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let ours: Vec<bool> = packages
        .filter(|package| package.get("name").and_then(toml::Value::as_str) == Some("parking_lot"))
        .filter(|package| {
            let found = package.get("version").and_then(toml::Value::as_str).unwrap_or_default();
            found.starts_with(kind)
        })
        .map(|package| package.get("source").is_none())
        .collect();
    !ours.is_empty() && ours.into_iter().all(|ours| ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_tells_whose_parking_lot_it_is() {
        let theirs = "[[package]]\nname = \"parking_lot\"\nversion = \"0.12.5\"\nsource = \"registry\"\n";
        let ours = "[[package]]\nname = \"parking_lot\"\nversion = \"0.12.5\"\n";
        assert!(is_patched(ours, "0.12.5"));
        assert!(!is_patched(theirs, "0.12.5") && !is_patched(&format!("{ours}{theirs}"), "0.12.5"));
        assert!(!is_patched(ours, "0.13.0") && !is_patched("", "0.12.5"));
    }
}
