//! The shelf: what `mutants/*.toml` say, and whether it can be true.
use crate::files;
use anyhow::{Result, ensure};
use core::fmt;
use core::slice::from_ref;
use serde::Deserialize;
use std::path::Path;
use std::{fs, io};

pub(crate) const SHELF: &str = "mutants";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutant {
    pub(crate) name: String,
    /// The locks with which a detector must notice it, unless the detector names others.
    pub(crate) locks: Vec<String>,
    /// Where the fault is, from the root of the workspace.
    pub(crate) file: String,
    /// What is replaced: stands exactly once in the file.
    pub(crate) find: String,
    pub(crate) replace: String,
    pub(crate) breaks: String,
    pub(crate) explore: Option<Explore>,
    pub(crate) model: Option<Model>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explore {
    /// If not those of the mutant.
    #[serde(default)]
    pub(crate) locks: Vec<String>,
    /// Within how many schedules it must fail.
    pub(crate) schedules: u64,
    /// A fault that every schedule is to have, and no other; else each schedule draws its own.
    pub(crate) fault: Option<String>,
    pub(crate) sees: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    #[serde(default)]
    pub(crate) locks: Vec<String>,
    pub(crate) shape: String,
    pub(crate) sees: Vec<String>,
}

const EXPLORE_SEES: &[&str] =
    &["exclusion", "transition", "overtaken", "stuck", "hung", "halted", "destroyed", "leftover", "panicked"];
const EXPLORE_FAULTS: &[&str] = &["timed"];
const MODEL_SEES: &[&str] = &["race", "stuck", "assertion"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Detector {
    /// The schedule explorer of `stanchion-sim`.
    #[default]
    Explore,
    /// The model checker of `stanchion-model`.
    Model,
}

impl Detector {
    pub(crate) const fn package(self) -> &'static str {
        match self {
            Self::Explore => "stanchion-sim",
            Self::Model => "stanchion-model",
        }
    }

    /// The package's program, or an example of it, where cargo puts it.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::Explore => "examples/explore_one",
            Self::Model => "stanchion-model",
        }
    }

    pub(crate) fn example(self) -> Option<&'static str> {
        self.program().strip_prefix("examples/")
    }
}

impl fmt::Display for Detector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Explore => "explore",
            Self::Model => "model",
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) detector: Detector,
    pub(crate) lock: String,
    pub(crate) schedules: u64,
    pub(crate) fault: Option<String>,
    pub(crate) shape: String,
    pub(crate) sees: Vec<String>,
}

impl Check {
    /// Whether the other is the same run, but for how long it is.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let Self { detector, lock, fault, shape, .. } = other;
        (self.detector, &self.lock, &self.fault, &self.shape) == (*detector, lock, fault, shape)
    }
}

impl Mutant {
    pub(crate) fn checks(&self) -> Vec<Check> {
        let explore = self.explore.iter().map(|explore| {
            let Explore { locks, schedules, fault, sees } = explore.clone();
            (locks, Check { detector: Detector::Explore, schedules, fault, sees, ..Check::default() })
        });
        let model = self.model.iter().map(|model| {
            let Model { locks, shape, sees } = model.clone();
            (locks, Check { detector: Detector::Model, shape, sees, ..Check::default() })
        });
        let of_each_lock = |(own, check): (Vec<String>, Check)| {
            let locks = if own.is_empty() { self.locks.clone() } else { own };
            locks.into_iter().map(move |lock| Check { lock, ..check.clone() })
        };
        explore.chain(model).flat_map(of_each_lock).collect()
    }

    fn faults(&self) -> Vec<String> {
        let in_words =
            |text: &str| text.len() > 1 && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'));
        let mut claims = vec![
            (in_words(&self.name), "the name is not in small letters with hyphens".to_owned()),
            (self.breaks.ends_with('.'), "`breaks` is no sentence".to_owned()),
            (!self.locks.is_empty(), "no lock is named".to_owned()),
            (self.explore.is_some() || self.model.is_some(), "no detector is named".to_owned()),
            (self.find != self.replace, "it changes nothing".to_owned()),
        ];
        let mut some_of = |field: &str, given: &[String], all: &[&str]| {
            let known = !given.is_empty() && given.iter().all(|word| all.contains(&word.as_str()));
            claims.push((known, format!("`{field}` must be some of {}", all.join(", "))));
        };
        if let Some(Explore { sees, fault, .. }) = &self.explore {
            some_of("explore.sees", sees, EXPLORE_SEES);
            if let Some(fault) = fault {
                some_of("explore.fault", from_ref(fault), EXPLORE_FAULTS);
            }
        }
        if let Some(Model { sees, .. }) = &self.model {
            some_of("model.sees", sees, MODEL_SEES);
        }
        claims.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault).collect()
    }

    /// The file with the fault in it. If its text does not stand there exactly once, the mutant is stale.
    pub(crate) fn apply(&self, text: &str) -> Result<String, String> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            times => Err(format!("mutant {} is stale: {} has its text {times} times", self.name, self.file)),
        }
    }
}

/// Every mutant, file by file in the order of names. The error names everything that is wrong.
pub(crate) fn read(root: &Path) -> Result<Vec<Mutant>> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for path in files::ending_in(&["toml"], &root.join(SHELF))? {
        mutants.extend(files::entries::<Mutant>(root, &path.to_string_lossy(), "mutant")?);
    }
    let faults = faults(&mutants, |file| fs::read_to_string(root.join(file)));
    ensure!(faults.is_empty(), faults.join("\n"));
    Ok(mutants)
}

fn faults(mutants: &[Mutant], read: impl Fn(&str) -> io::Result<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (index, mutant) in mutants.iter().enumerate() {
        let name = &mutant.name;
        found.extend(mutant.faults().into_iter().map(|fault| format!("mutant {name}: {fault}")));
        if mutants[..index].iter().any(|other| other.name == *name) {
            found.push(format!("mutant {name}: there are two of this name"));
        }
        match read(&mutant.file) {
            Ok(text) => found.extend(mutant.apply(&text).err()),
            Err(error) => found.push(format!("mutant {name}: {}: {error}", mutant.file)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn the_shelf_of_this_workspace_is_well_formed() {
        let mutants = read(&workspace::root()).unwrap_or_else(|error| panic!("{error:#}"));
        assert!(mutants.len() >= 28, "{} mutants", mutants.len());
    }

    fn parse(text: &str) -> Vec<Mutant> {
        files::entries_of(text, "mutant").expect("well-formed")
    }

    const ONE: &str = r#"
[[mutant]]
name = "no-store"
locks = ["byte", "ticket"]
file = "a.rs"
find = "store(0, Release);"
replace = ""
breaks = "The lock stays held."
explore = { schedules = 10, sees = ["stuck"] }
model = { locks = ["byte"], shape = "two", sees = ["stuck"] }
"#;

    #[test]
    fn each_detector_checks_each_of_its_locks() {
        let checks = parse(ONE)[0].checks();
        let names: Vec<_> = checks.iter().map(|check| (check.detector, check.lock.as_str())).collect();
        assert_eq!(
            names,
            [(Detector::Explore, "byte"), (Detector::Explore, "ticket"), (Detector::Model, "byte")]
        );
    }

    #[test]
    fn a_text_that_does_not_stand_there_once_is_stale() {
        let mutants = parse(ONE);
        assert_eq!(mutants[0].apply("x.store(0, Release);").as_deref(), Ok("x."));
        for text in ["", "store(0, Release); store(0, Release);"] {
            assert!(mutants[0].apply(text).is_err_and(|error| error.contains("stale")));
        }
        let read = |_: &str| Ok("store(0, Release);".to_owned());
        assert!(faults(&mutants, read).is_empty());
        assert_eq!(faults(&parse(&ONE.repeat(2)), read), ["mutant no-store: there are two of this name"]);
    }

    #[test]
    fn entries_that_state_nothing_are_refused() {
        let wrong = ONE.replace("no-store", "No store").replace("held.", "held").replace("stuck", "stick");
        let found = faults(&parse(&wrong), |_| Ok("store(0, Release);".to_owned()));
        assert_eq!(found.len(), 4, "{found:?}");
        let lines: Vec<&str> = ONE.lines().filter(|line| !line.contains("sees")).collect();
        let none = lines.join("\n");
        let found = faults(&parse(&none), |_| Ok("store(0, Release);".to_owned()));
        assert_eq!(found, ["mutant no-store: no detector is named"]);
    }
}
