//! Stanchion's own locks, as the catalogue has them. Variants are measured when they are named, or all
//! together as `variants`.
use crate::bench::contender::{Contender, Entry, Kind, Memory};
use lock_api::{Mutex, RawMutex};
use stanchion::native::{Counted, Counting, Native};
use stanchion::{Raw, lock};
use stanchion_core::RawLock;
use stanchion_family::catalogue;

/// A lock of ours.
struct Ours<R>(Mutex<R, ()>);

impl<C: Counting, L: RawLock<Platform = Native<C>>> Contender for Ours<Raw<L>>
where
    Raw<L>: RawMutex,
{
    const NAME: &'static str = L::NAME;
    const KIND: Kind = Kind::Stanchion;
    const ABOUT: &'static str = catalogue::mutex(L::NAME).about;
    const BYTES: usize = size_of::<L>();
    const MEMORY: Memory = Memory { per_thread: catalogue::mutex(L::NAME).bytes_a_context, ..Memory::NONE };

    fn new() -> Self {
        Self(Mutex::new(()))
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

macro_rules! family {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {
        /// The rows, in the order of tables: the lock that users get, and the same lock, counting.
        pub(super) static ALL: &[Entry] = &[
            $(Entry::counted::<Ours<lock::$alias>, Ours<lock::$alias<Counted>>>()
                .variant(catalogue::mutex($name).is_variant())),*
        ];
    };
}

stanchion_family::for_each_mutex! { (); family; }
