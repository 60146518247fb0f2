//! Stanchion's own reader-writer locks, under `lock_api`, each with a form that counts lock events.
use crate::bench::contender::Kind;
use crate::bench::rw::contender::{Memory, Row, RwContender};
use core::marker::PhantomData;
use lock_api::{RawRwLock, RwLock};
use stanchion::lock;
use stanchion::native::Counted;

/// Queue nodes and parker of each thread that ever waited, or has a cell.
const SLOT: Memory = Memory { per_thread: 128, ..Memory::NONE };
/// A class, and a line for each thread. Lines are numbered by thread in 1 MiB of address space, of which only touched pages are memory.
const CLASS: Memory =
    Memory { per_class: size_of::<stanchion::percpu::Class>(), per_thread_and_class: 64, ..SLOT };

/// A lock of Stanchion's as the benchmark sees it.
trait Ours: Send + Sync + 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const MEMORY: Memory;

    /// For the whole process, which is the cell's own.
    fn prepare() {}
}

/// One of the two forms of a lock.
struct Form<O, R>(RwLock<R, ()>, PhantomData<O>);

impl<O: Ours, R: RawRwLock + Send + Sync + 'static> RwContender for Form<O, R> {
    const NAME: &'static str = O::NAME;
    const KIND: Kind = Kind::Stanchion;
    const ABOUT: &'static str = O::ABOUT;
    const BYTES: usize = size_of::<R>();
    const MEMORY: Memory = O::MEMORY;

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

macro_rules! ours {
    ($($marker:ident: $name:literal = $lock:ident, $memory:expr, $about:literal $(, $variant:ident)? $(=> $prepare:path)?;)*) => {
        $(
            struct $marker;

            impl Ours for $marker {
                const NAME: &'static str = $name;
                const ABOUT: &'static str = $about;
                const MEMORY: Memory = $memory;
                $(fn prepare() {
                    $prepare();
                })?
            }
        )*

        /// The rows, in the order of tables.
        pub(super) static ALL: &[Row] = &[
            $(Row::counted::<Form<$marker, lock::$lock>, Form<$marker, lock::$lock<Counted>>>()$(.$variant())?,)*
        ];
    };
}

ours! {
    Simple: "rw-simple" = CountRwLock, Memory::NONE, "count and writer's flag, 4 bytes; writers first, spins";
    Queued: "qrw" = QueuedRwLock, SLOT, "readers count, the others queue and sleep; the default";
    QueuedSpin: "qrw-spin" = QueuedSpinRwLock, SLOT, "strictly in order, as in the kernel; never sleeps";
    PerCpu: "percpu-rw" = PerCpuRwLock, CLASS, "readers write to a line of their thread only";
    PerCpuSimple: "percpu-rw-simple" = PerCpuSimpleRwLock, CLASS, "percpu-rw over rw-simple, as announced", variant;
    PerCpuFenced: "percpu-rw-fenced" = PerCpuRwLock, CLASS, "percpu-rw with a full fence a reader, as without membarrier", variant
        => stanchion::native::force_fenced_release;
}
