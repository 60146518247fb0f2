//! What a child process is told to do to its one lock, and the extras that can be left out.
use serde::{Deserialize, Serialize};

/// Everything a run of one lock depends on. Passed from parent to child as JSON, and part of every result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) lock: String,
    pub(crate) seconds: f64,
    pub(crate) writers: usize,
    pub(crate) readers: usize,
    pub(crate) seed: u64,
    pub(crate) stat_interval: f64,
    pub(crate) stall_seconds: f64,
    pub(crate) long_hold_ms: u64,
    /// Seconds between two pauses.
    pub(crate) stutter: f64,
    pub(crate) extras: Extras,
}

/// What torture does beyond taking and releasing the lock. All on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The names `--without` knows.
    pub(crate) const NAMES: [&str; 7] = ["stutter", "shuffle", "nested", "signals", "churn", "tries", "nice"];

    /// All of them on, or off.
    pub(crate) const fn all(on: bool) -> Self {
        Self { stutter: on, shuffle: on, nested: on, signals: on, churn: on, tries: on, nice: on }
    }

    fn named(&mut self) -> impl Iterator<Item = (&'static str, &mut bool)> {
        let Self { stutter, shuffle, nested, signals, churn, tries, nice } = self;
        Self::NAMES.into_iter().zip([stutter, shuffle, nested, signals, churn, tries, nice])
    }

    /// Switches one off; false if there is none of that name.
    pub(crate) fn leave_out(&mut self, name: &str) -> bool {
        self.named().find(|(known, _)| *known == name).map(|(_, on)| *on = false).is_some()
    }

    /// The names of those that are on.
    pub(crate) fn names(mut self) -> Vec<&'static str> {
        self.named().filter_map(|(name, on)| on.then_some(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extra_can_be_left_out_alone() {
        for name in &Extras::NAMES {
            let mut extras = Extras::all(true);
            assert!(extras.leave_out(name));
            assert_eq!(extras.names().len(), Extras::NAMES.len() - 1);
            assert!(!extras.names().contains(name));
        }
        assert!(!Extras::all(true).leave_out("nonsense"));
        assert!(Extras::all(false).names().is_empty());
    }
}
