//! What can go wrong with a lock.

/// A class of failures. A failure that is cut down stays in its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two contexts were inside at once.
    Exclusion,
    /// The word did what its table does not list.
    Transition,
    /// A waiter was overtaken more often than the lock states.
    Overtaken,
    /// Nobody can go on: a lost wake-up or a deadlock.
    Stuck,
    /// Somebody goes on for ever.
    Hung,
    /// A context halted that must not.
    Halted,
    /// Somebody used a lock that its last holder had destroyed.
    Destroyed,
    /// Everybody is done, and a lock or the storage of a context is not as it was.
    Leftover,
    /// The lock's own code panicked: one of its checks.
    Panicked,
}

impl Kind {
    /// A word for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exclusion => "exclusion",
            Self::Transition => "transition",
            Self::Overtaken => "overtaken",
            Self::Stuck => "stuck",
            Self::Hung => "hung",
            Self::Halted => "halted",
            Self::Destroyed => "destroyed",
            Self::Leftover => "leftover",
            Self::Panicked => "panicked",
        }
    }
}

/// What went wrong in one schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The class.
    pub kind: Kind,
    /// The details.
    pub what: String,
}
