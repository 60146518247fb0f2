//! The files of the workspace: where they are and what they hold.
use crate::files;
use crate::finding::Finding;
use crate::source::{self, Source};
use anyhow::Result;
use lab_kit::provenance::Provenance;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Everything the rules look at, read once.
pub(crate) struct Workspace {
    /// Parsed Rust files, sorted by path.
    pub(crate) sources: Vec<Source>,
    pub(crate) refused: Vec<Finding>,
    pub(crate) manifests: Vec<(String, String)>,
}

/// The workspace this program was started in: `cargo run` names the directory of this crate.
pub(crate) fn root() -> PathBuf {
    let here =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

/// Where a result comes from that is measured with what is built at `root`.
pub(crate) fn provenance(root: &Path) -> Provenance {
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(root).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let tree = |changes: String| if changes.is_empty() { "clean" } else { "dirty" };
    Provenance {
        build: "release".to_owned(),
        commit: git(&["rev-parse", "--short", "HEAD"]).unwrap_or_else(|| "unknown".to_owned()),
        tree: git(&["status", "--porcelain"]).map_or("unknown", tree).to_owned(),
        ..Provenance::collect(0)
    }
}

pub(crate) fn read(root: &Path) -> Result<Workspace> {
    let (mut sources, mut refused) = (Vec::new(), Vec::new());
    let below = |directory: &str| files::below(&root.join(directory));
    for path in [below("crates")?, below("fuzz")?, below("xtask")?].concat() {
        if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(root)?.to_string_lossy();
            match Source::parse(&relative, &fs::read_to_string(&path)?) {
                Ok(source) => sources.push(source),
                Err(finding) => refused.push(finding),
            }
        }
    }
    mark_test_files(&mut sources);
    Ok(Workspace { sources, refused, manifests: manifests(root)? })
}

/// Marks files that only a `#[cfg(test)] mod name;` brings in.
fn mark_test_files(sources: &mut [Source]) {
    let roots: Vec<String> = sources.iter().flat_map(source::test_module_paths).collect();
    for source in sources {
        source.test_only = roots.iter().any(|root| {
            source.path.strip_prefix(root.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
    }
}

pub(crate) fn manifests(root: &Path) -> Result<Vec<(String, String)>> {
    let manifest: toml::Table = files::read(root, "Cargo.toml")?;
    let members = manifest.get("workspace").and_then(|workspace| workspace.get("members")?.as_array());
    let mut found = Vec::new();
    for member in members.into_iter().flatten().filter_map(toml::Value::as_str) {
        let path = format!("{member}/Cargo.toml");
        let text = fs::read_to_string(root.join(&path))?;
        found.push((path, text));
    }
    Ok(found)
}

/// Writes a generated file, or says with `check` where it is not current. It is written `by` this command.
pub(crate) fn generate(root: &Path, path: &str, text: &str, check: bool, by: &str) -> io::Result<bool> {
    let old = fs::read_to_string(root.join(path)).unwrap_or_default();
    if old == text {
        return Ok(true);
    }
    if check {
        let line = first_difference(&old, text);
        println!("{path}:{line} is not current; run `cargo xtask {by}`");
        return Ok(false);
    }
    fs::write(root.join(path), text)?;
    println!("{path} is written");
    Ok(true)
}

/// The number of the first line that differs.
pub(crate) fn first_difference(old: &str, new: &str) -> usize {
    old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_test_modules_are_marked() {
        let parse = |path: &str, text: &str| Source::parse(path, text).expect("parses");
        let mut sources = [
            parse("crates/core/src/qspin/mod.rs", "#[cfg(test)]\nmod tests;\nmod node;\n"),
            parse("crates/core/src/qspin/tests.rs", ""),
            parse("crates/core/src/qspin/tests/deep.rs", ""),
            parse("crates/core/src/qspin/node.rs", ""),
        ];
        mark_test_files(&mut sources);
        assert_eq!(sources.map(|source| source.test_only), [false, true, true, false]);
    }

    #[test]
    fn the_first_different_line_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), 2);
        assert_eq!(first_difference("", "a\n"), 1);
    }

    #[test]
    fn this_workspace_is_found() {
        let workspace = read(&root()).expect("readable");
        assert!(workspace.sources.iter().any(|source| source.path == "xtask/src/main.rs"));
        assert!(workspace.manifests.iter().any(|(path, _)| path == "xtask/Cargo.toml"));
    }
}
