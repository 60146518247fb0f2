//! The catalogue: one row for each lock, and everything that is said of it.
//!
//! Another crate of locks has rows of its own, and a catalogue of both.
//! [`for_each_mutex!`](crate::for_each_mutex) and [`for_each_rwlock!`](crate::for_each_rwlock) hand the rows,
//! with the types of the locks, to a macro of the caller; [`MUTEXES`] and [`RWLOCKS`] have the same rows as
//! data. A row is a literal of all fields of [`Facts`], so one that leaves something out does not compile.
mod bounds;
mod mutexes;
mod rwlocks;
mod stated;

pub use bounds::Overtaking;
pub use stated::{AfterRelease, Asks, Awaits, InOrder, Programs, SecondByte, Stated, Tail};

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

/// Every mutex, in the order of tables. The first is the default.
pub const MUTEXES: &[Facts] = mutexes::FACTS;

/// Every reader-writer lock, in the order of tables.
pub const RWLOCKS: &[Facts] = rwlocks::FACTS;

/// The mutex of that name. In a constant, a name that is none does not compile.
///
/// # Panics
///
/// If there is none.
pub const fn mutex(name: &str) -> &'static Facts {
    find(MUTEXES, name)
}

/// The same for reader-writer locks.
///
/// # Panics
///
/// If there is none.
pub const fn rwlock(name: &str) -> &'static Facts {
    find(RWLOCKS, name)
}

/// The lock of that name among `all`.
///
/// # Panics
///
/// If there is none.
pub const fn find(all: &'static [Facts], name: &str) -> &'static Facts {
    let mut at = 0;
    while at < all.len() {
        if equal(all[at].name.as_bytes(), name.as_bytes()) {
            return &all[at];
        }
        at += 1;
    }
    panic!("no lock of the catalogue has this name")
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// From the rows to their facts.
#[doc(hidden)]
#[macro_export]
macro_rules! lock_facts {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        $(has $readers:ident $ways:ident $again:ident)? $(c $c:tt preload [$($holder:literal)?])? { $($fact:tt)* })*) => {
        pub(super) const FACTS: &[$crate::catalogue::Facts] = &[$({
            let facts = $crate::catalogue::Facts {
                name: $name,
                alias: stringify!($alias),
                path: stringify!($lock),
                about: $about,
                suits: $suits,
                upgrades: $crate::catalogue::upgrades(concat!("" $(, stringify!($ways))?)),
                holder: $crate::catalogue::first(&[$($($holder)?)?]),
                $($fact)*
            };
            assert!(
                facts.shares.is_some() || facts.holder.is_some() != facts.not_preloaded.is_some(),
                "it is preloaded, or there is a reason",
            );
            facts
        }),*];
    };
}

#[doc(hidden)]
pub const fn upgrades(ways: &str) -> bool {
    equal(ways.as_bytes(), b"upgrades")
}

#[doc(hidden)]
pub const fn first(all: &[u32]) -> Option<u32> {
    if all.is_empty() { None } else { Some(all[0]) }
}

#[cfg(test)]
mod tests {
    use super::{MUTEXES, RWLOCKS, equal};

    #[test]
    fn the_product_comes_first() {
        assert_eq!((MUTEXES[0].name, RWLOCKS[0].name), ("stanchion", "qrw"), "the defaults");
    }

    #[test]
    fn names_are_compared_as_a_whole() {
        assert!(equal(b"qrw", b"qrw") && !equal(b"qrw", b"qrw-spin") && !equal(b"qrw-spin", b"qrw"));
        assert!(!equal(b"qrw", b"qrx"));
    }
}
