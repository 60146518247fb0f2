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

macro_rules! extras {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// What torture does beyond taking and releasing the lock. All on by default.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub(crate) struct Extras {
            $($(#[doc = $doc])+ pub(crate) $name: bool,)+
        }

        impl Extras {
            /// The names `--without` knows.
            pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),+];
            /// Everything on.
            pub(crate) const ALL: Self = Self { $($name: true),+ };
            /// Everything off.
            pub(crate) const NONE: Self = Self { $($name: false),+ };

            /// Switches one off; false if there is none of that name.
            pub(crate) fn leave_out(&mut self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => self.$name = false,)+
                    _ => return false,
                }
                true
            }

            /// The names of those that are on.
            pub(crate) fn names(&self) -> Vec<&'static str> {
                let mut on = Vec::new();
                $(if self.$name { on.push(stringify!($name)); })+
                on
            }
        }
    };
}

extras! {
    /// All threads pause now and then, so that the lock goes idle and starts again from nothing.
    stutter,
    /// Threads are moved between CPUs while they wait and hold.
    shuffle,
    /// A second, third and fourth lock is taken while one is held.
    nested,
    /// Signal handlers interrupt waiters and holders and take locks themselves.
    signals,
    /// Threads end and are replaced by new ones, so that slots are reused.
    churn,
    /// Some acquisitions try before they wait.
    tries,
    /// Workers run at nice 19, as locktorture's do.
    nice,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extra_can_be_left_out_alone() {
        for name in Extras::NAMES {
            let mut extras = Extras::ALL;
            assert!(extras.leave_out(name));
            assert_eq!(extras.names().len(), Extras::NAMES.len() - 1);
            assert!(!extras.names().contains(name));
        }
        assert!(!Extras::ALL.clone().leave_out("nonsense"));
        assert!(Extras::NONE.names().is_empty());
    }
}
