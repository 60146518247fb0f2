//! What a run of one lock is to do.
use lab_kit::names;
use serde::{Deserialize, Serialize};

/// Everything a run of one lock depends on. Told to the child process, and part of every result.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) lock: String,
    pub(crate) seconds: f64,
    pub(crate) writers: usize,
    pub(crate) readers: usize,
    pub(crate) seed: u64,
    pub(crate) stat_interval: f64,
    pub(crate) stall_seconds: f64,
    pub(crate) long_hold_ms: u64,
    pub(crate) stutter: f64,
    pub(crate) extras: Extras,
}

/// What torture does beyond taking and releasing the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each extra is on or off, whatever the others")]
pub(crate) struct Extras {
    /// All threads pause now and then, so that the lock goes idle and starts again from nothing.
    pub(crate) stutter: bool,
    /// Threads are moved between CPUs while they wait and hold.
    pub(crate) shuffle: bool,
    /// A second, third and fourth lock is taken while one is held.
    pub(crate) nested: bool,
    /// Signal handlers interrupt waiters and holders and take locks themselves.
    pub(crate) signals: bool,
    /// Threads end and are replaced by new ones, so that slots are reused.
    pub(crate) churn: bool,
    /// Some acquisitions try before they wait.
    pub(crate) tries: bool,
    /// Workers run at nice 19, as locktorture's do.
    pub(crate) nice: bool,
}

impl Extras {
    pub(crate) const NAMES: [&str; 7] = ["stutter", "shuffle", "nested", "signals", "churn", "tries", "nice"];

    fn named(&mut self) -> impl Iterator<Item = (&'static str, &mut bool)> {
        let Self { stutter, shuffle, nested, signals, churn, tries, nice } = self;
        Self::NAMES.into_iter().zip([stutter, shuffle, nested, signals, churn, tries, nice])
    }

    pub(crate) fn without(names: &[String]) -> Result<Self, String> {
        let known = Self::NAMES.into_iter().chain(["all"]);
        names::chosen("extra", known.collect(), names, |name| name)?;
        let mut extras = Self::default();
        extras.named().for_each(|(name, on)| *on = !names.iter().any(|word| word == name || word == "all"));
        Ok(extras)
    }

    pub(crate) fn names(mut self) -> Vec<&'static str> {
        self.named().filter_map(|(name, on)| on.then_some(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(names: &[&str]) -> Result<Extras, String> {
        Extras::without(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_extra_can_be_left_out_alone() {
        for name in &Extras::NAMES {
            let extras = without(&[name]).unwrap();
            assert_eq!(extras.names().len(), Extras::NAMES.len() - 1);
            assert!(!extras.names().contains(name));
        }
        assert!(without(&["nonsense"]).is_err());
        assert!(Extras::default().names().is_empty());
    }

    #[test]
    fn an_unknown_extra_is_answered_with_the_nearest() {
        let line = without(&["signal"]).unwrap_err();
        assert!(line.starts_with("unknown extra 'signal': nearest are signals"), "{line}");
    }

    #[test]
    fn all_extras_can_be_left_out_at_once() {
        assert_eq!(without(&["all"]), Ok(Extras::default()));
        assert_eq!(without(&[]).unwrap().names(), Extras::NAMES);
    }
}
