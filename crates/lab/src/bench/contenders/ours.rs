//! What all locks of Stanchion have in common here: `lock_api`, and a form that counts lock events.
use crate::bench::contender::{Contender, Entry, Kind};
use core::marker::PhantomData;
use lock_api::{Mutex, RawMutex};

/// A lock of Stanchion's as the benchmark sees it.
pub(crate) trait Ours: Send + Sync + 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    /// Whether it is there to be compared with another lock of ours only.
    const VARIANT: bool;
    /// The lock users get: counting compiles to nothing.
    type Silent: RawMutex + Send + Sync + 'static;
    /// The same, counting.
    type Counted: RawMutex + Send + Sync + 'static;
}

/// One of the two forms of a lock.
struct Form<O, R>(Mutex<R, ()>, PhantomData<O>);

impl<O: Ours, R: RawMutex + Send + Sync + 'static> Contender for Form<O, R> {
    const NAME: &'static str = O::NAME;
    const KIND: Kind = Kind::Stanchion;
    const ABOUT: &'static str = O::ABOUT;
    const BYTES: usize = size_of::<R>();

    fn new() -> Self {
        Self(Mutex::new(()), PhantomData)
    }

    fn events() -> Vec<(&'static str, u64)> {
        let counts = stanchion::events::snapshot();
        counts.iter().map(|line| (line.event.name(), line.count)).collect()
    }

    #[inline]
    fn with<T>(&self, critical: impl FnOnce() -> T) -> T {
        let _guard = self.0.lock();
        critical()
    }
}

/// The row of a lock of ours.
pub(crate) const fn entry<O: Ours>() -> Entry {
    Entry { variant: O::VARIANT, ..Entry::counted::<Form<O, O::Silent>, Form<O, O::Counted>>() }
}
