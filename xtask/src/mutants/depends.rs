//! What the verdict on a mutant depends on, as one number: entry, lock, what that stands on, and detectors.
//!
//! A number that is as it was when the mutant was killed says that it would be killed again: the explorer is
//! deterministic, and the model checker goes through the same executions. So the number must change with all
//! that a verdict can depend on, and where that is hard to tell it takes in more. CONTRIBUTING.md says what
//! it covers. A module counts if the lock's own, or one that counts, or shared code uses its name, whatever
//! it stands for there, or a name that the root of the package has from it.
use super::code::{Names, tokens};
use super::shelf::{Detector, Mutant};
use crate::{files, locks, workspace};
use anyhow::Result;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files that name all locks, and so lead to none.
const REGISTRIES: &[&str] = &["lib.rs", "catalogue.rs", "catalogue"];
/// The code that starts a detector and reads what it says.
const JUDGES: &[&str] = &[
    "crates/lab-kit/src/child.rs",
    "crates/lab-kit/src/interrupt.rs",
    "xtask/src/files.rs",
    "xtask/src/mutants/mod.rs",
    "xtask/src/mutants/scratch.rs",
    "xtask/src/mutants/shelf.rs",
    "xtask/src/process.rs",
];
/// Tables of the workspace's manifest that decide how a detector is built.
const DECIDE: &[&[&str]] =
    &[&["workspace", "dependencies"], &["profile", "dev"], &["profile", "mutants"], &["patch"]];

/// FNV-1a with 128 bits. Nobody who wants two texts of one number is kept from it; chance is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Digest(u128);

impl Default for Digest {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Digest {
    /// Takes in a text, and where it ends.
    pub(super) fn add(&mut self, text: &str) {
        for &byte in text.as_bytes().iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
}

#[derive(Clone, Default)]
struct Module {
    /// Its files and their tokens.
    files: BTreeMap<String, String>,
    uses: BTreeSet<String>,
    /// Its name, and the names of its items that the root of the package has.
    offers: BTreeSet<String>,
}

#[derive(Clone, Default)]
pub(super) struct Sources {
    /// What all mutants depend on that a detector has to notice.
    detectors: BTreeMap<Detector, Digest>,
    modules: BTreeMap<String, Module>,
    /// The names that shared code uses.
    shared: BTreeSet<String>,
    judges: Digest,
}

impl Sources {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let members = members(root)?;
        let packages: Lock = files::read(root, "Cargo.lock")?;
        let manifest: toml::Value = files::read(root, "Cargo.toml")?;
        let mut sources = Self::default();
        for judge in JUDGES {
            sources.judges.add(&tokens(&fs::read_to_string(root.join(judge))?).0);
        }
        for detector in [Detector::Explore, Detector::Model] {
            let mut digest = Digest::default();
            for path in DECIDE {
                let table = path.iter().try_fold(&manifest, |table, word| table.get(word));
                digest.add(&table.map_or_else(String::new, |table| format!("{table:?}")));
            }
            for package in packages.below(detector.package()) {
                digest.add(&format!("{package:?}"));
                if let Some(directory) = members.get(&package.name) {
                    sources.read_package(root, directory, detector, &mut digest)?;
                }
            }
            sources.detectors.insert(detector, digest);
        }
        Ok(sources)
    }

    fn read_package(
        &mut self,
        root: &Path,
        directory: &Path,
        detector: Detector,
        digest: &mut Digest,
    ) -> Result<()> {
        let with_locks = locks::modules_with_locks();
        let exported = tokens(&fs::read_to_string(directory.join("src/lib.rs")).unwrap_or_default()).1.used;
        let is_run = |example: &str| detector.example() == Some(example);
        let (mut has_locks, mut shared) = (false, BTreeSet::new());
        for path in files::below(directory)? {
            let within = path.strip_prefix(directory)?.to_string_lossy();
            // The file or directory right below `src`.
            let below = match within.split('/').collect::<Vec<_>>().as_slice() {
                ["src", below, ..] => *below,
                ["Cargo.toml" | "build.rs"] => "",
                ["examples", file] if file.strip_suffix(".rs").is_some_and(is_run) => "",
                _ => continue,
            };
            let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
            let mut text = files::text(&path)?;
            let mut names = Names::default();
            if path.extension().is_some_and(|extension| extension == "rs") {
                (text, names) = tokens(&text);
            }
            let module = below.strip_suffix(".rs").unwrap_or(below);
            if with_locks.contains(module) {
                has_locks = true;
                let of_module = self.modules.entry(module.to_owned()).or_default();
                of_module.files.insert(name, text);
                of_module.uses.extend(names.used);
                of_module.offers.extend(names.declared.intersection(&exported).cloned());
                of_module.offers.insert(module.to_owned());
            } else {
                digest.add(&name);
                digest.add(&text);
                if !REGISTRIES.contains(&below) {
                    shared.extend(names.used);
                }
            }
        }
        if has_locks {
            self.shared.extend(shared);
        }
        Ok(())
    }

    pub(super) fn of(&self, mutant: &Mutant) -> String {
        let mut digest = self.judges;
        digest.add(&format!("{mutant:?}"));
        let checks = mutant.checks();
        for (detector, of_detector) in &self.detectors {
            if checks.iter().any(|check| check.detector == *detector) {
                digest.add(&format!("{detector} {:x}", of_detector.0));
            }
        }
        let own = checks.iter().map(|check| locks::modules_of(&check.lock)).collect::<Option<Vec<_>>>();
        for module in self.reached(own.map(|own| own.into_iter().flatten().collect()), &mutant.file) {
            for (name, text) in &self.modules[module].files {
                digest.add(name);
                digest.add(text);
            }
        }
        format!("{:032x}", digest.0)
    }

    /// The modules that count for locks with these and a fault in that file; all, if the locks are unknown.
    fn reached(&self, own: Option<BTreeSet<String>>, file: &str) -> BTreeSet<&str> {
        let Some(own) = own else { return self.modules.keys().map(String::as_str).collect() };
        let mut reached = BTreeSet::new();
        loop {
            let counts = |(name, module): &(&String, &Module)| {
                let is_used = |uses: &BTreeSet<String>| !uses.is_disjoint(&module.offers);
                own.contains(*name)
                    || module.files.contains_key(file)
                    || is_used(&self.shared)
                    || reached.iter().any(|other: &&str| is_used(&self.modules[*other].uses))
            };
            let now: BTreeSet<&str> =
                self.modules.iter().filter(counts).map(|(name, _)| name.as_str()).collect();
            if now == reached {
                return reached;
            }
            reached = now;
        }
    }
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "all of it is printed into the number")]
struct Package {
    name: String,
    version: String,
    checksum: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Lock {
    /// The package and all that it depends on, tests and examples included.
    fn below(&self, name: &str) -> Vec<&Package> {
        let (mut found, mut next) = (BTreeSet::new(), vec![name]);
        while let Some(name) = next.pop() {
            // `NAME VERSION` where there are several of a name.
            let name = name.split(' ').next().unwrap_or(name);
            if found.insert(name) {
                let packages = self.package.iter().filter(|package| package.name == name);
                next.extend(packages.flat_map(|package| &package.dependencies).map(String::as_str));
            }
        }
        self.package.iter().filter(|package| found.contains(package.name.as_str())).collect()
    }
}

/// The directories of this workspace's packages, by name.
fn members(root: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut members = BTreeMap::new();
    for (path, text) in workspace::manifests(root)? {
        let manifest: toml::Table = text.parse()?;
        let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
        if let (Some(name), Some(directory)) = (name, root.join(&path).parent()) {
            members.insert(name.to_owned(), directory.to_owned());
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::shelf;

    fn module(file: &str, text: &str) -> Module {
        let (tokens, names) = tokens(text);
        Module { files: [(file.to_owned(), tokens)].into(), uses: names.used, offers: names.declared }
    }

    fn small() -> Sources {
        Sources {
            modules: [
                ("byte".to_owned(), module("byte.rs", "pub struct ByteLock;")),
                ("rw".to_owned(), module("rw.rs", "use crate::ByteLock; pub struct Rw(ByteLock);")),
                ("other".to_owned(), module("other.rs", "pub struct Other;")),
            ]
            .into(),
            ..Sources::default()
        }
    }

    #[test]
    fn a_module_counts_for_whoever_names_what_it_has() {
        let sources = small();
        let reached = |own: &str, file: &str| sources.reached(Some([own.to_owned()].into()), file);
        assert_eq!(reached("rw", "rw.rs"), ["byte", "rw"].into());
        assert_eq!(reached("byte", "byte.rs"), ["byte"].into());
        assert_eq!(reached("byte", "other.rs"), ["byte", "other"].into());
        assert_eq!(sources.reached(None, "rw.rs").len(), 3, "a lock that is not known");
        let leads = Sources { shared: ["Other".to_owned()].into(), ..small() };
        assert_eq!(leads.reached(Some(["byte".to_owned()].into()), "byte.rs"), ["byte", "other"].into());
    }

    #[test]
    fn the_number_changes_with_the_entry_the_lock_and_the_detector() {
        let root = workspace::root();
        let shelf = shelf::read(&root).unwrap_or_else(|error| panic!("{error:#}"));
        let read = || Sources::read(&root).unwrap_or_else(|error| panic!("{error:#}"));
        let sources = read();
        let mutant = shelf.iter().find(|mutant| mutant.locks == ["ticket"]).expect("one of the ticket lock");
        let as_it_is = sources.of(mutant);
        assert_eq!(as_it_is, read().of(mutant), "twice the same");

        let mut entry = mutant.clone();
        entry.breaks.push('.');
        assert_ne!(as_it_is, sources.of(&entry));

        let change = |module: &str| {
            let mut sources = sources.clone();
            let module = sources.modules.get_mut(module).expect("there is one");
            module.files.values_mut().for_each(|text| text.push('x'));
            sources.of(mutant)
        };
        assert_ne!(as_it_is, change("ticket"));
        assert_eq!(as_it_is, change("xen_pv"), "a lock that has nothing to do with it");

        let mut detector = sources.clone();
        detector.detectors.values_mut().for_each(|digest| digest.add("x"));
        assert_ne!(as_it_is, detector.of(mutant));
    }

    #[test]
    fn what_is_below_a_detector_is_known() {
        let root = workspace::root();
        let packages: Lock = files::read(&root, "Cargo.lock").expect("a lock file");
        for detector in [Detector::Explore, Detector::Model] {
            let names: Vec<&str> =
                packages.below(detector.package()).iter().map(|package| package.name.as_str()).collect();
            assert!(names.contains(&detector.package()) && names.contains(&"stanchion-core"), "{names:?}");
            assert!(!names.contains(&"stanchion-lab"), "{names:?}");
        }
        assert!(!small().modules.is_empty() && Sources::read(&root).is_ok_and(|all| all.modules.len() > 10));
    }
}
