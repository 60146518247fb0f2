//! What a guest can be told to do, and the locks that each of it takes.
use clap::ValueEnum;
use core::fmt;
use lab_kit::names::unknown;
use serde::{Deserialize, Serialize};
use stanchion_family::catalogue::{Facts, MUTEXES, RWLOCKS};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
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
    /// Whether it is at work for `--time`: how much was done is of interest, not how long it took.
    pub(crate) fn lasts(self) -> bool {
        matches!(self, Self::Torture | Self::Counter | Self::Rw)
    }

    fn takes(self, facts: &Facts) -> bool {
        match self {
            Self::Build | Self::Counter => facts.shares.is_none(),
            Self::Rw => facts.shares.is_some(),
            Self::Torture | Self::Conform | Self::Boot => true,
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().expect("each can be typed").get_name())
    }
}

/// What the guest knows: not the locks that are others with tunables set, because its tunables are fixed.
fn known() -> impl Iterator<Item = &'static Facts> {
    MUTEXES.iter().chain(RWLOCKS)
}

/// The locks that `words` name, in their order and each once; the guest boots for each.
pub(crate) fn locks(workload: Workload, words: &[String]) -> Result<Vec<String>, String> {
    let group = |variants: bool| {
        let wanted = |facts: &&Facts| workload.takes(facts) && facts.is_variant() == variants;
        known().filter(wanted).map(|facts| facts.name).collect()
    };
    let mut chosen: Vec<&str> = Vec::new();
    for word in words.iter().map(|word| word.trim()) {
        let mut named: Vec<&str> = match word {
            _ if workload == Workload::Boot => vec!["none"],
            "all" if workload == Workload::Conform => vec!["all"],
            "all" => group(false),
            "variants" => group(true),
            // Broken on purpose; which there are, the guest knows.
            busted if busted.starts_with("busted-") => vec![busted],
            _ => vec![single(workload, word)?],
        };
        named.retain(|lock| !chosen.contains(lock));
        chosen.extend(named);
    }
    if chosen.is_empty() {
        return Err("--lock names no lock".to_owned());
    }
    Ok(chosen.into_iter().map(str::to_owned).collect())
}

fn single(workload: Workload, word: &str) -> Result<&str, String> {
    let names = known().map(|facts| facts.name).chain(["all", "variants"]);
    let facts = known()
        .find(|facts| facts.name == word)
        .ok_or_else(|| format!("--lock: {}", unknown("lock", word, names)))?;
    let (takes, is) = match facts.shares {
        _ if workload.takes(facts) => return Ok(word),
        Some(_) => ("mutexes", "a reader-writer lock"),
        None => ("reader-writer locks", "a mutex"),
    };
    Err(format!("--workload {workload} takes {takes}, and {word} is {is}"))
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
