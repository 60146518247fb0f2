//! What cargo does for the tests of a published crate: it fetches the source, of which copies are made, and
//! prints, test by test, what came of them.
use super::Subject;
use crate::process::{shell, silently};
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;
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

/// Gives the copy of parking_lot another name, and the drop-in to its tests and examples.
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

/// Whether the parking_lot of this kind, such as `0.12`, in the lock file is a directory here.
pub(super) fn is_patched(lock: &str, kind: &str) -> bool {
    let of_kind = format!("\nname = \"parking_lot\"\nversion = \"{kind}.");
    let mut found = lock.split("[[package]]").filter(|package| package.starts_with(&of_kind)).peekable();
    found.peek().is_some() && found.all(|package| !package.contains("\nsource = "))
}

/// The target that a test is in, and its name.
pub(super) type Test = (String, String);

#[derive(Clone, Default)]
pub(super) struct Outcome {
    pub(super) passed: BTreeSet<Test>,
    pub(super) failed: usize,
}

/// Where [`super::own_tests`] puts them.
pub(super) const OWN_TESTS: &str = "tests/own.rs";

/// Reads both outputs of `cargo test`, mixed as they came.
pub(super) fn read(text: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let mut target = String::new();
    for line in text.lines() {
        if let Some(running) = line.trim_start().strip_prefix("Running ") {
            // `unittests src/lib.rs (target/...)` is `src/lib.rs`; its tests may be a program of their own.
            let path = running.split(" (").next().unwrap_or(running);
            target = path.trim_start_matches("unittests ").replace(OWN_TESTS, "src/lib.rs");
        } else if line.trim_start().starts_with("Doc-tests ") {
            "documentation".clone_into(&mut target);
        } else if let Some((name, passed)) = test_of(line) {
            let test = (target.clone(), name);
            if passed {
                outcome.passed.insert(test);
            } else {
                outcome.passed.remove(&test);
                outcome.failed += 1;
            }
        }
    }
    outcome
}

/// `test a::b - should panic ... ok`, and whether it is. What a test prints itself may come between.
fn test_of(line: &str) -> Option<(String, bool)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let passed = match end.split([',', ' ']).next()? {
        "ok" => true,
        "FAILED" => false,
        _ => return None,
    };
    Some((name.strip_suffix(" - should panic").unwrap_or(name).to_owned(), passed))
}

/// Those that pass `without` the drop-in and not `with` it, but those that are left out by name.
pub(super) fn lost(without: &Outcome, with: &Outcome, left_out: &[String]) -> Vec<Test> {
    let is_left_out = |name: &str| left_out.iter().any(|out| name.rsplit("::").next() == Some(out));
    without.passed.difference(&with.passed).filter(|(_, name)| !is_left_out(name)).cloned().collect()
}

/// What came of running a lost test again and again, with and without the drop-in in turn.
#[derive(Clone, Debug)]
pub(super) struct Again {
    pub(super) test: Test,
    pub(super) runs: u32,
    /// How often it failed without the drop-in, and with it.
    pub(super) failed: [u32; 2],
}

impl Again {
    /// It is lost unless it fails without the drop-in, too, and passes with it: then chance decides in both.
    pub(super) fn is_lost(&self) -> bool {
        self.failed[0] == 0 || self.failed[1] == self.runs
    }
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

    const PRINTED: &str = "\
     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)

running 4 tests
test once::tests::poison_bad ... ok
test condvar::tests::two_mutexes - should panic ... ok
test mutex::tests::smoke ... FAILED
test mutex::tests::long ... ignored, takes long
test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s
     Running tests/issue_203.rs (target/debug/deps/issue_203-0123456789abcdef)
test main ... ok
   Doc-tests a
test src/mutex.rs - mutex::Mutex (line 42) ... ok
";

    fn key(target: &str, name: &str) -> (String, String) {
        (target.to_owned(), name.to_owned())
    }

    #[test]
    fn tests_are_read_by_target() {
        let outcome = read(PRINTED);
        let passed = [
            key("src/lib.rs", "condvar::tests::two_mutexes"),
            key("src/lib.rs", "once::tests::poison_bad"),
            key("tests/issue_203.rs", "main"),
            key("documentation", "src/mutex.rs - mutex::Mutex (line 42)"),
        ];
        assert_eq!(outcome.passed, passed.into());
        assert_eq!(outcome.failed, 1, "one that was not run did not fail");
    }

    #[test]
    fn what_fails_or_is_missing_is_lost() {
        let without = read(PRINTED);
        assert_eq!(lost(&without, &without, &[]), []);
        let with = read(&PRINTED.replace("two_mutexes - should panic ... ok", "two_mutexes ... FAILED"));
        assert_eq!(lost(&without, &with, &[]), [key("src/lib.rs", "condvar::tests::two_mutexes")]);
        assert_eq!(lost(&without, &with, &["two_mutexes".to_owned()]), []);
        assert_eq!(lost(&without, &Outcome::default(), &[]).len(), 4);
    }

    #[test]
    fn a_lost_test_is_left_to_chance_only_if_chance_decides_on_both_sides() {
        let is_lost = |failed| Again { test: key("src/lib.rs", "a"), runs: 30, failed }.is_lost();
        assert!(is_lost([0, 1]) && is_lost([0, 0]), "it never fails without the drop-in");
        assert!(is_lost([1, 30]), "it never passes with it");
        assert!(!is_lost([1, 29]));
    }
}
