//! Files that several jobs read and write alike: tables in TOML, and results that nobody sees half written.
use anyhow::{Context as _, Result, ensure};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, process};

/// Reads a file of the workspace that is written in TOML.
pub(crate) fn read<T: DeserializeOwned>(root: &Path, file: &str) -> Result<T> {
    let text = fs::read_to_string(root.join(file)).context(file.to_owned())?;
    toml::from_str(&text).context(file.to_owned())
}

/// The entries of a table of the workspace, all of which are called `name` there.
pub(crate) fn entries<T: DeserializeOwned>(root: &Path, file: &str, name: &str) -> Result<Vec<T>> {
    let mut all: BTreeMap<String, Vec<T>> = read(root, file)?;
    let entries = all.remove(name).unwrap_or_default();
    ensure!(all.is_empty() && !entries.is_empty(), "{file} must have [[{name}]] and nothing else");
    Ok(entries)
}

/// Writes a file that nobody sees half written, whatever was there before.
pub(crate) fn put(place: &Path, contents: &[u8]) -> Result<()> {
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    let fresh = place.with_extension(format!("new{}", process::id()));
    fs::write(&fresh, contents)?;
    Ok(fs::rename(&fresh, place)?)
}
