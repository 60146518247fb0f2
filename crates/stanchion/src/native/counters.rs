//! Lock events of the native world: one array of counters a thread slot, summed when read.
use super::chunks::{Chunks, Zeroed};
use super::family::Tables;
use super::slots;
use super::watch::count as watch;
use core::sync::atomic::{AtomicU64, Ordering};
use stanchion_core::{CpuId, Event};

/// Whether a native platform counts lock events, and what it may do to a lock that it has released.
/// Implemented by [`Silent`], [`Counted`], [`Destroyable`], [`CountedDestroyable`] and [`Observed`] only.
pub trait Counting: sealed::Sealed {}

/// Lock events are not counted and cost nothing.
#[derive(Debug)]
pub enum Silent {}

/// Lock events are counted; read them with [`crate::events`].
#[derive(Debug)]
pub enum Counted {}

/// As [`Silent`], and a lock's memory may be gone as soon as it is released: `pv-qspin` does not even read it
/// then.
///
/// A thread keeps a pointer into the code that it released a lock with last: code that uses this kind must
/// not be unloaded (`dlclose`) while its threads live.
///
/// Locks that do not release through [`Machine::store_then_load`](stanchion_core::Machine::store_then_load)
/// with two neighbouring bytes are what they are anyway.
#[derive(Debug)]
pub enum Destroyable {}

/// As [`Destroyable`], and lock events are counted.
#[derive(Debug)]
pub enum CountedDestroyable {}

/// As [`Destroyable`], and each thread can see what it did at locks of this kind: [`watch`](super::watch).
#[derive(Debug)]
pub enum Observed {}

impl<C: sealed::Sealed> Counting for C {}

pub(super) mod sealed {
    use super::{Event, Tables};

    /// What differs between them; each has its own storage because storage is typed by platform.
    pub trait Sealed: Sized + 'static {
        /// Whether it counts.
        const COUNTS: bool;
        /// Whether a lock may be gone once it was released.
        const DESTROYABLE: bool;
        /// Whether threads see what they did.
        const WATCHES: bool;
        fn count(event: Event, times: u32);
        fn tables() -> &'static Tables<Self>;
    }
}

macro_rules! kinds {
    ($($kind:ident: counts $counts:literal with $count:ident, destroyable $destroyable:literal, watches $watches:literal;)*) => {
        $(
        impl sealed::Sealed for $kind {
            const COUNTS: bool = $counts;
            const DESTROYABLE: bool = $destroyable;
            const WATCHES: bool = $watches;

            #[inline(always)]
            fn count(event: Event, times: u32) {
                $count(event, times);
            }

            #[inline(always)]
            fn tables() -> &'static Tables<Self> {
                static TABLES: Tables<$kind> = Tables::NEW;
                &TABLES
            }
        }
    )*
        /// The process is the child of a fork, and all its threads but this one are gone: so are those that
        /// slept where releasers look for them.
        pub(super) fn forget_sleepers(mine: Option<CpuId>) {
            $(<$kind as sealed::Sealed>::tables().forget_but(mine);)*
        }
    };
}

kinds! {
    Silent: counts false with ignore, destroyable false, watches false;
    Counted: counts true with count, destroyable false, watches false;
    Destroyable: counts false with ignore, destroyable true, watches false;
    CountedDestroyable: counts true with count, destroyable true, watches false;
    Observed: counts false with watch, destroyable true, watches true;
}

#[inline(always)]
fn ignore(_event: Event, _times: u32) {}

fn count(event: Event, times: u32) {
    let counters = slots::this_cpu().and_then(|cpu| COUNTERS.get_or_map(usize::from(cpu.index())));
    let counter = &counters.unwrap_or(&NUMBERLESS).0[event as usize];
    // ord: N40 alone: a statistic orders nothing
    counter.fetch_add(times.into(), Ordering::Relaxed);
}

#[repr(align(128))]
struct Counters([AtomicU64; Event::ALL.len()]);

// SAFETY: an array of integer atomics is valid for any bytes and may be shared.
unsafe impl Zeroed for Counters {}

static COUNTERS: Chunks<Counters> = Chunks::new();
/// The counts of threads that have no number.
static NUMBERLESS: Counters = Counters([const { AtomicU64::new(0) }; Event::ALL.len()]);

fn each(event: Event) -> impl Iterator<Item = &'static AtomicU64> {
    COUNTERS
        .iter()
        .map(|(_, counters)| counters)
        .chain([&NUMBERLESS])
        .map(move |counters| &counters.0[event as usize])
}

/// How often `event` was counted since the last reset, over all threads.
pub(crate) fn total(event: Event) -> u64 {
    // ord: N41 alone: a statistic orders nothing
    each(event).map(|counter| counter.load(Ordering::Relaxed)).sum()
}

/// Sets every counter to zero. Counts that happen at the same time may survive.
pub(crate) fn reset() {
    for counter in Event::ALL.iter().flat_map(|&event| each(event)) {
        // ord: N42 alone: a statistic orders nothing
        counter.store(0, Ordering::Relaxed);
    }
}
