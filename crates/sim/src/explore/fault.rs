//! What may go wrong around a lock: a fault each, and sets of them.

/// One kind of trouble. A lock must live with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// Plain stores wait in a buffer and become visible in order, but later.
    StoreBuffers,
    /// A context that holds the lock gets no turn for long.
    HolderAway,
    /// The first in the queue gets no turn for long.
    NextAway,
    /// Some context gets no turn for long, between any two steps.
    AnyAway,
    /// One context gets no turn while another can run, once it has queued.
    Starve,
    /// Halted contexts wake up for no reason.
    Spurious,
    /// Kicks arrive later.
    LateKicks,
    /// Kicks that come before the comparison of a halt are forgotten, and not kept for it.
    ForgottenKicks,
    /// Contexts are interrupted between any two steps, in handlers too, and handlers acquire locks.
    Interrupts,
    /// The heavy barrier cannot be had now and then.
    NoBarrier,
    /// There are fewer numbers than contexts, and who has none has no queue node.
    NoNumber,
    /// Heads have one or two parking slots to sleep at, or entries of the hash table; one or two readers are
    /// let in.
    FewPlaces,
    /// Contexts are numbered high, and parking slots; clocks and tickets are near their ends.
    LargeNumbers,
    /// Nobody may halt.
    NoHalts,
    /// Contexts try, or wait for a limited time, before they acquire.
    Tries,
    /// Contexts use a second lock, also while they hold the first.
    TwoLocks,
    /// Contexts give up at a deadline, in a queue that can be left.
    Timed,
}

impl Fault {
    /// Every kind, in the order of lists.
    pub const ALL: [Self; 17] = [
        Self::StoreBuffers,
        Self::HolderAway,
        Self::NextAway,
        Self::AnyAway,
        Self::Starve,
        Self::Spurious,
        Self::LateKicks,
        Self::ForgottenKicks,
        Self::Interrupts,
        Self::NoBarrier,
        Self::NoNumber,
        Self::FewPlaces,
        Self::LargeNumbers,
        Self::NoHalts,
        Self::Tries,
        Self::TwoLocks,
        Self::Timed,
    ];

    /// The name on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StoreBuffers => "store-buffers",
            Self::HolderAway => "holder-away",
            Self::NextAway => "next-away",
            Self::AnyAway => "any-away",
            Self::Starve => "starve",
            Self::Spurious => "spurious",
            Self::LateKicks => "late-kicks",
            Self::ForgottenKicks => "forgotten-kicks",
            Self::Interrupts => "interrupts",
            Self::NoBarrier => "no-barrier",
            Self::NoNumber => "no-number",
            Self::FewPlaces => "few-places",
            Self::LargeNumbers => "large-numbers",
            Self::NoHalts => "no-halts",
            Self::Tries => "tries",
            Self::TwoLocks => "two-locks",
            Self::Timed => "timed",
        }
    }

    /// What it does, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::StoreBuffers => "plain stores become visible later, in order (total store order)",
            Self::HolderAway => "a holder is descheduled for long",
            Self::NextAway => "the first in the queue is descheduled for long",
            Self::AnyAway => "somebody is descheduled for long between any two steps",
            Self::Starve => "one context runs only if nobody else can, once it has queued",
            Self::Spurious => "halts end for no reason",
            Self::LateKicks => "kicks arrive many steps later",
            Self::ForgottenKicks => {
                "kicks that come before the comparison of a halt are forgotten, and not kept for it"
            }
            Self::Interrupts => "handlers acquire other locks between any two steps, up to four levels deep",
            Self::NoBarrier => "the heavy barrier fails now and then",
            Self::NoNumber => "there are fewer context numbers than contexts, and no queue node without one",
            Self::FewPlaces => {
                "heads have one or two places to sleep at, and all of one hash, perhaps; one or two may read"
            }
            Self::LargeNumbers => {
                "contexts and places to sleep at are numbered high, and clocks and tickets are near their ends"
            }
            Self::NoHalts => "the world says that no waiter may halt",
            Self::Tries => "contexts try, or wait for a limited time, before they acquire",
            Self::TwoLocks => "a second lock, also taken while the first is held",
            Self::Timed => "contexts give up at a deadline, in a queue that can be left",
        }
    }

    /// The kind called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// A schedule that draws its faults has this one once in so many times.
    pub(super) const fn rarity(self) -> u64 {
        match self {
            Self::StoreBuffers | Self::ForgottenKicks | Self::Tries => 2,
            Self::HolderAway | Self::NextAway | Self::AnyAway | Self::Spurious => 4,
            Self::LateKicks | Self::Interrupts | Self::TwoLocks => 5,
            Self::Starve => 8,
            Self::FewPlaces | Self::Timed => 3,
            Self::LargeNumbers => 6,
            Self::NoBarrier | Self::NoNumber | Self::NoHalts => 16,
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Faults(u32);

impl Faults {
    /// No trouble at all.
    pub const NONE: Self = Self(0);

    /// The set with `fault`.
    #[must_use]
    pub const fn with(self, fault: Fault) -> Self {
        Self(self.0 | 1 << fault as u8)
    }

    /// The set without `fault`.
    #[must_use]
    pub const fn without(self, fault: Fault) -> Self {
        Self(self.0 & !(1 << fault as u8))
    }

    /// Whether `fault` is in the set.
    #[inline]
    pub const fn has(self, fault: Fault) -> bool {
        self.0 & 1 << fault as u8 != 0
    }

    /// The kinds in the set.
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |&fault| self.has(fault))
    }
}

/// The names, separated by commas; `none` stands for the empty set.
impl core::str::FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.split(',').filter(|&name| name != "none");
        names.map(|name| Fault::named(name).ok_or_else(|| format!("'{name}' is no fault"))).collect()
    }
}

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        faults.into_iter().fold(Self::NONE, Self::with)
    }
}

impl core::fmt::Display for Faults {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if *self == Self::NONE {
            return f.write_str("none");
        }
        let names: Vec<&str> = self.iter().map(Fault::name).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kinds() {
        for (index, fault) in Fault::ALL.into_iter().enumerate() {
            assert_eq!(fault as usize, index);
            assert_eq!(Fault::named(fault.name()), Some(fault));
            assert!(!fault.about().is_empty());
        }
        assert_eq!(Fault::named("nonsense"), None);
    }

    #[test]
    fn sets_hold_what_was_put_in() {
        let set = Faults::NONE.with(Fault::Spurious).with(Fault::TwoLocks);
        assert!(set.has(Fault::Spurious) && !set.has(Fault::Starve));
        assert_eq!(set.to_string(), "spurious,two-locks");
        assert_eq!(set.iter().collect::<Faults>(), set);
        assert_eq!(set.to_string().parse(), Ok(set));
        assert_eq!("none".parse(), Ok(Faults::NONE));
        assert!("spurious,nonsense".parse::<Faults>().is_err());
        assert_eq!(set.without(Fault::Spurious).without(Fault::TwoLocks), Faults::NONE);
    }
}
