//! What a world tells the suite about itself.
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};
use stanchion_family::FamilyPlatform;
use stanchion_family::catalogue::{Facts, Outnumbered, Waits};

/// One context's work.
pub type Context = Box<dyn FnOnce() + Send>;

/// A world that runs locks: threads, a simulated machine, a model checker, vCPUs.
pub trait World: Sized + 'static {
    /// What its locks are made for.
    type Platform: FamilyPlatform;
    /// How contexts tell each other how far they are: [`AtomicU32`], or a cell that the world knows of.
    type Flag: Flag;
    /// Who looks at accesses of what a lock protects: `()`, or something that knows more about memory than
    /// the machine does.
    type Witness: Witness;

    /// Runs the contexts at the same time, each to its end. Panics, with `report`, if one panics or never
    /// ends.
    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>);

    /// Lets the calling context wait until `done`. Panics if that never comes.
    fn until(what: &str, done: &mut dyn FnMut() -> bool);

    /// Calls `check` as often as a test takes here, each time with as much to do as fits.
    fn run_case(case: &Case, check: fn(Load));
}

/// What a test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The name of the lock.
    pub lock: &'static str,
    /// The sort of lock that it is.
    pub sort: Sort,
    /// What its waiters do.
    pub waiting: Waiting,
    /// What is checked.
    pub body: Body,
}

/// Sorts of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Held alone.
    Mutex,
    /// Held alone, or together with other readers.
    ReaderWriter,
}

/// What the waiters of a lock do. It says how many contexts are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// They spin, and stop each other when they outnumber the CPUs.
    Spins,
    /// They spin, and get by with fewer CPUs if whoever runs is preempted now and then.
    GivesWay,
    /// They halt or yield, and may be many.
    Halts,
}

impl Waiting {
    /// Those of a lock of the catalogue.
    pub const fn of(facts: &Facts) -> Self {
        match (facts.waits, facts.outnumbered) {
            (_, Outnumbered::Collapses) => Self::Spins,
            (Waits::Spin, _) => Self::GivesWay,
            (Waits::Yield | Waits::Sleep, _) => Self::Halts,
        }
    }
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// No two are inside that may not be, and no acquisition is lost.
    Excludes,
    /// The same with contexts that try.
    ExcludesWithTries,
    /// Tries fail exactly while the lock is held.
    TriesFailWhileHeld,
    /// What was released is free.
    FreeAfterRelease,
    /// Two contexts take turns.
    PassesToAndFro,
    /// Many locks at once.
    ManyAtOnce,
    /// A lock belongs to no context.
    ReleasedByAnotherContext,
    /// Readers are inside at the same time.
    ReadersAreInTogether,
    /// A reader may read again, also while a writer waits.
    ReadsAgainWhileAWriterWaits,
    /// Several locks given back in every order.
    ReleasedInAnyOrder,
    /// A writer becomes a reader.
    Downgrades,
    /// Readers come in beside a writer that became one.
    DowngradedBesideReaders,
    /// An upgradable holder becomes the writer.
    Upgrades,
    /// Readers come in beside an upgradable holder.
    UpgradableBesideReaders,
}

/// How much a body does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// How many contexts there are, where a body does not need two.
    pub contexts: usize,
    /// How often each does its part.
    pub rounds: u64,
    /// How many locks there are, where there are many.
    pub locks: usize,
    /// How often a context tries in vain.
    pub tries: u32,
    /// How often a context acquires that is alone.
    pub alone: u32,
    /// Whether holders stay inside now and then until somebody else wants in, so that the lock is contended
    /// on any machine. Worlds that explore every schedule need no such help.
    pub company: bool,
}

impl Load {
    /// What is enough for worlds that go through a few schedules at full speed.
    pub const fn new(contexts: usize, rounds: u64) -> Self {
        // More acquisitions than any field of a lock can count.
        Self { contexts, rounds, locks: 300, tries: 100, alone: 70_000, company: true }
    }

    /// As little as still has every part in it, for worlds that go through all schedules.
    pub const fn least() -> Self {
        Self { contexts: 2, rounds: 1, locks: 2, tries: 1, alone: 2, company: false }
    }
}

/// A number by which contexts tell each other how far they are: who sees it also sees what came before it.
pub trait Flag: Default + Send + Sync + 'static {
    /// The number now.
    fn get(&self) -> u32;
    /// Changes it.
    fn set(&self, to: u32);
    /// Adds one.
    fn add_one(&self);
}

impl Flag for AtomicU32 {
    fn get(&self) -> u32 {
        self.load(Ordering::Acquire)
    }

    fn set(&self, to: u32) {
        self.store(to, Ordering::Release);
    }

    fn add_one(&self) {
        self.fetch_add(1, Ordering::AcqRel);
    }
}

/// Is told of each access of what a lock protects, and may panic if nothing orders it with another one.
pub trait Witness: Default + Send + Sync + 'static {
    /// The calling context reads.
    fn read(&self);
    /// The calling context writes.
    fn write(&self);
}

/// Sees nothing: the bodies' own checks must do.
impl Witness for () {
    fn read(&self) {}
    fn write(&self) {}
}

/// So many contexts.
pub(crate) fn repeat(count: usize, context: impl Fn(usize) -> Context) -> Vec<Context> {
    (0..count).map(context).collect()
}
