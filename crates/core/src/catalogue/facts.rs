//! What is said of a lock, as types: a row of the catalogue is one [`Facts`].
use super::bounds::Overtaking;
use super::stated::{Asks, Awaits, Stated};

/// What a waiter does that has polled for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It goes on polling.
    Spin,
    /// It gives its CPU away, and stays runnable.
    Yield,
    /// It sleeps until it is woken.
    Sleep,
}

/// What becomes of throughput when contexts outnumber the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outnumbered {
    /// It stays about what it was.
    Holds,
    /// It falls, to the pace at which the system switches contexts at worst.
    Falls,
    /// Nearly nothing is left: waiters spin away the time that the next in line needs.
    Collapses,
}

/// How a wait with a deadline waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// In the queue, as any other; it leaves the queue when the time is over.
    InQueue,
    /// It tries now and then, and may miss a lock that is hot until the time is over.
    ByTries,
}

/// What a signal or interrupt handler may do with a lock that the context uses which it interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InHandlers {
    /// Anything, with locks that the interrupted context does not hold.
    All,
    /// Read.
    Reads,
}

/// What readers of a reader-writer lock may do. All of them can be downgraded to, and tried for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Whether a context that reads may read again, whatever waits.
    pub reads_again: bool,
    /// Whether a context that waits to read may depend on one that reads.
    pub awaits: Awaits,
    /// By what a waiter asks for the lock.
    pub asks: Asks,
}

/// All that is said of a lock.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name on command lines and in files.
    pub name: &'static str,
    /// The name of its type in `stanchion::lock`.
    pub alias: &'static str,
    /// Its type in this crate, as its row has it.
    pub path: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// For whom it is.
    pub suits: &'static str,
    /// Its size.
    pub bytes: usize,
    /// What a context needs that waits, beside the lock, in bytes.
    pub bytes_a_context: usize,
    /// What a context needs for each class of locks that it reads, in bytes.
    pub bytes_a_class: usize,
    /// What its waiters do in the end.
    pub waits: Waits,
    /// The same in more words.
    pub waiting: &'static str,
    /// What becomes of it when contexts outnumber the CPUs.
    pub outnumbered: Outnumbered,
    /// How often others may go ahead of a waiter.
    pub overtaken: &'static str,
    /// Whether a waiter may wait for ever while others acquire.
    pub starves: bool,
    /// What waiters do while the holder does not run.
    pub holder_away: &'static str,
    /// What happens while the next in line does not run.
    pub next_away: &'static str,
    /// How waits with a deadline wait.
    pub timed: Timed,
    /// What handlers may do with it.
    pub in_handlers: InHandlers,
    /// What its readers may do, if it has readers.
    pub shares: Option<Shares>,
    /// Whether it can be held upgradably.
    pub upgrades: bool,
    /// Which bits of its word say who holds it, if a pthread mutex can be made of it.
    pub holder: Option<u32>,
    /// Why none can; of a reader-writer lock, why pthread ones are another.
    pub not_preloaded: Option<&'static str>,
    /// The lock that it is to be compared with, if it is there for that.
    pub variant_of: Option<&'static str>,
    /// Where it comes from.
    pub source: &'static str,
    /// Its bound, where tunables are small. "None" is a bound, too, with a reason.
    pub bound: Overtaking,
    /// Its word.
    pub stated: Stated,
}

impl Facts {
    /// Whether it is there to be compared with another one of the catalogue.
    pub const fn is_variant(&self) -> bool {
        self.variant_of.is_some()
    }
}
