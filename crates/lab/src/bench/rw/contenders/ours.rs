//! Stanchion's own reader-writer locks, as the catalogue has them, each with a form that counts lock events;
//! and `percpu-rw-fenced`.
use crate::bench::contender::{Entry, Kind, Memory};
use crate::bench::rw::contender::RwContender;
use core::marker::PhantomData;
use lock_api::{RawRwLock, RwLock};
use stanchion::lock;
use stanchion::native::{Counted, force_fenced_release};
use stanchion_family::catalogue::{self, Facts};

/// What a lock needs beside itself. Lines of a class are numbered by thread in 1 MiB of address space, of
/// which only touched pages are memory.
const fn memory(facts: &Facts) -> Memory {
    Memory {
        heap_per_lock: 0,
        per_thread: facts.bytes_a_context,
        per_class: if facts.bytes_a_class > 0 { size_of::<stanchion::percpu::Class>() } else { 0 },
        per_thread_and_class: facts.bytes_a_class,
    }
}

/// A row of the catalogue, as a type, since types of locks share names.
trait OfRow: Send + Sync + 'static {
    const FACTS: &'static Facts;
    const NAME: &'static str = Self::FACTS.name;
    const ABOUT: &'static str = Self::FACTS.about;

    /// For the whole process, which is the cell's own.
    fn prepare() {}
}

/// A lock of ours.
struct Ours<O, R>(RwLock<R, ()>, PhantomData<O>);

impl<O: OfRow, R: RawRwLock + Send + Sync + 'static> RwContender for Ours<O, R> {
    const NAME: &'static str = O::NAME;
    const KIND: Kind = Kind::Stanchion;
    const ABOUT: &'static str = O::ABOUT;
    const BYTES: usize = size_of::<R>();
    const MEMORY: Memory = memory(O::FACTS);

    fn new() -> Self {
        Self(RwLock::new(()), PhantomData)
    }

    fn settle(&self) {
        O::prepare();
    }

    fn events() -> Vec<(&'static str, u64)> {
        let counts = stanchion::events::snapshot();
        counts.iter().map(|line| (line.event.name(), line.count)).collect()
    }

    by_guards!();
}

/// `percpu-rw` on a machine without `membarrier`.
struct Fenced;

impl OfRow for Fenced {
    const FACTS: &'static Facts = catalogue::rwlock("percpu-rw");
    const NAME: &'static str = "percpu-rw-fenced";
    const ABOUT: &'static str = "As percpu-rw without membarrier: each read pays for a full fence.";

    fn prepare() {
        force_fenced_release();
    }
}

macro_rules! rows {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {
        $(
            struct $alias;

            impl OfRow for $alias {
                const FACTS: &'static Facts = catalogue::rwlock($name);
            }
        )*

        /// The rows, in the order of tables.
        pub(super) static ALL: &[Entry] = &[
            $(Entry::rw_counted::<Ours<$alias, lock::$alias>, Ours<$alias, lock::$alias<Counted>>>()
                .variant($alias::FACTS.is_variant()),)*
            Entry::rw_counted::<Ours<Fenced, lock::PerCpuRwLock>, Ours<Fenced, lock::PerCpuRwLock<Counted>>>()
                .variant(true),
        ];
    };
}

stanchion_family::for_each_rwlock! { (); rows; }
