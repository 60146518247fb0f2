//! Directories and files that several jobs read and write alike.
use anyhow::{Context as _, Result, ensure};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io, process};

fn listed(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The files of a directory with these endings, in the order of names.
pub(crate) fn ending_in(endings: &[&str], directory: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = listed(directory)?;
    paths.retain(|path| endings.iter().any(|ending| path.extension().is_some_and(|own| own == *ending)));
    Ok(paths)
}

/// Every file below a directory, links followed, in the order of paths, but for what is hidden or cargo's.
pub(crate) fn below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in listed(directory)? {
        let name = path.file_name().unwrap_or_default();
        match path.is_dir() {
            _ if name == "target" || name.as_encoded_bytes().starts_with(b".") => {}
            true => found.extend(below(&path)?),
            false => found.push(path),
        }
    }
    Ok(found)
}

/// What a file says, which need not be UTF-8.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub(crate) fn read<T: DeserializeOwned>(root: &Path, file: &str) -> Result<T> {
    let text = fs::read_to_string(root.join(file)).context(file.to_owned())?;
    toml::from_str(&text).context(file.to_owned())
}

/// The entries of a table of the workspace, all of which are called `name` there.
pub(crate) fn entries<T: DeserializeOwned>(root: &Path, file: &str, name: &str) -> Result<Vec<T>> {
    let text = fs::read_to_string(root.join(file)).context(file.to_owned())?;
    entries_of(&text, name).context(file.to_owned())
}

pub(crate) fn entries_of<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>> {
    let mut all: BTreeMap<String, Vec<T>> = toml::from_str(text)?;
    let entries = all.remove(name).unwrap_or_default();
    ensure!(all.is_empty() && !entries.is_empty(), "it must have [[{name}]] and nothing else");
    Ok(entries)
}

/// Writes a file that nobody sees half written, whatever was there before.
pub(crate) fn put(place: &Path, contents: &[u8]) -> Result<()> {
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    let fresh = place.with_extension(format!("new{}", process::id()));
    fs::write(&fresh, contents)?;
    Ok(fs::rename(&fresh, place)?)
}
