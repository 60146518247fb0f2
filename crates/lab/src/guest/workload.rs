//! What a guest can be told to do, and the locks that each of it takes.
use core::fmt;
use lab_kit::names::unknown;
use serde::{Deserialize, Serialize};
use stanchion_family::catalogue::{Facts, MUTEXES, RWLOCKS};

/// What a guest does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Workload {
    /// A load like a kernel build: tasks that compute, take a few hot locks, and block; how long it takes is
    /// the result
    #[default]
    Build,
    /// The kernel's locktorture, in interrupt handlers as well
    Torture,
    /// Every vCPU takes the same lock in a loop
    Counter,
    /// The same for reader-writer locks, with readers
    Rw,
    /// The conformance tests
    Conform,
    /// Nothing: all vCPUs come up, and the guest ends
    Boot,
}

impl Workload {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Torture => "torture",
            Self::Counter => "counter",
            Self::Rw => "rw",
            Self::Conform => "conform",
            Self::Boot => "boot",
        }
    }

    /// Whether it is at work for `--seconds`.
    pub(crate) fn lasts(self) -> bool {
        matches!(self, Self::Torture | Self::Counter | Self::Rw)
    }

    /// Whether the figures of interest are how much was done, not how long it took.
    pub(crate) fn has_rate(self) -> bool {
        matches!(self, Self::Counter | Self::Rw | Self::Torture)
    }

    /// Whether it measures anything.
    pub(crate) fn has_figures(self) -> bool {
        !matches!(self, Self::Conform | Self::Boot)
    }

    fn takes(self, sharing: bool) -> bool {
        match self {
            Self::Build | Self::Counter => !sharing,
            Self::Rw => sharing,
            Self::Torture | Self::Conform | Self::Boot => true,
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One boot tests all of them.
const ALL: &str = "all";
/// What a guest that only boots is said to run.
const NONE: &str = "none";
/// Those of a family that are there to be compared with each other.
const VARIANTS: &str = "variants";
/// Broken on purpose; which there are, the guest knows.
const BUSTED: &str = "busted-";

/// What the guest knows: not the locks that are others with tunables set, because its tunables are fixed.
fn known() -> impl Iterator<Item = &'static Facts> {
    MUTEXES.iter().chain(RWLOCKS)
}

/// The locks that `words` name, in their order and each once; the guest boots for each.
pub(crate) fn locks(workload: Workload, words: &[String]) -> Result<Vec<String>, String> {
    if workload == Workload::Boot {
        return Ok(vec![NONE.to_owned()]);
    }
    let mut chosen: Vec<String> = Vec::new();
    for word in words.iter().map(|word| word.trim()) {
        let group = |variant: bool| -> Vec<String> {
            let wanted =
                |facts: &&Facts| workload.takes(facts.shares.is_some()) && facts.is_variant() == variant;
            known().filter(wanted).map(|facts| facts.name.to_owned()).collect()
        };
        let named = match word {
            ALL if workload == Workload::Conform => vec![ALL.to_owned()],
            ALL => group(false),
            VARIANTS => group(true),
            busted if busted.starts_with(BUSTED) => vec![busted.to_owned()],
            _ => vec![single(workload, word)?],
        };
        for lock in named {
            if !chosen.contains(&lock) {
                chosen.push(lock);
            }
        }
    }
    if chosen.is_empty() {
        return Err("--lock names no lock".to_owned());
    }
    Ok(chosen)
}

fn single(workload: Workload, word: &str) -> Result<String, String> {
    let Some(facts) = known().find(|facts| facts.name == word) else {
        let names = known().map(|facts| facts.name).chain([ALL, VARIANTS]);
        return Err(unknown("lock", word, names));
    };
    let sharing = facts.shares.is_some();
    if !workload.takes(sharing) {
        let (takes, is) =
            if sharing { ("mutexes", "a reader-writer lock") } else { ("reader-writer locks", "a mutex") };
        return Err(format!("--workload {workload} takes {takes}, and {word} is {is}"));
    }
    Ok(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(workload: Workload, list: &str) -> Result<Vec<String>, String> {
        locks(workload, &list.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn groups_are_what_the_workload_takes() {
        let build = chosen(Workload::Build, "all").expect("locks");
        assert!(build.contains(&"ticket".to_owned()) && !build.contains(&"qrw".to_owned()));
        assert!(!build.contains(&"pv-qspin-hash".to_owned()));
        let rw = chosen(Workload::Rw, "all").expect("locks");
        assert!(rw.contains(&"qrw".to_owned()) && !rw.contains(&"ticket".to_owned()));
        let torture = chosen(Workload::Torture, "all,variants,ticket").expect("locks");
        assert_eq!(torture.len(), known().count());
        assert_eq!(chosen(Workload::Conform, "all"), Ok(vec!["all".to_owned()]));
        assert_eq!(chosen(Workload::Boot, "ticket").map(|locks| locks.len()), Ok(1));
    }

    #[test]
    fn unknown_and_unfit_locks_are_refused_in_a_line() {
        let error = chosen(Workload::Build, "tiket").expect_err("unknown");
        assert!(error.contains("nearest are ticket"), "{error}");
        let error = chosen(Workload::Rw, "ticket").expect_err("a mutex");
        assert!(error.contains("takes reader-writer locks, and ticket is a mutex"), "{error}");
        assert!(chosen(Workload::Counter, "qrw").is_err());
        for tuned in ["xen-pv-wake-all", "cna-10ms"] {
            assert!(chosen(Workload::Build, tuned).is_err(), "{tuned}: the guest's tunables are fixed");
        }
        assert!(chosen(Workload::Torture, "busted-none").is_ok(), "the guest knows these");
    }
}
