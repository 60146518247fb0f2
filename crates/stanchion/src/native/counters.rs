//! Lock events of the native world: one array of counters a thread slot, summed when read.
use super::chunks::{Chunks, Zeroed};
use super::kinds::{Counted, CountedDestroyable, Destroyable, Looking, Observed, Silent, sealed};
use super::slots;
use super::watch::count as watch;
use crate::rows::events::ALL;
use core::sync::atomic::{AtomicU64, Ordering};
use stanchion_core::Event;

macro_rules! kinds {
    ($($kind:ident: counts $counts:literal with $count:ident, destroyable $destroyable:literal, watches $watches:literal, looks $looks:literal;)*) => {
        $(
        impl sealed::Sealed for $kind {
            const COUNTS: bool = $counts;
            const DESTROYABLE: bool = $destroyable;
            const WATCHES: bool = $watches;
            const LOOKS: bool = $looks;

            #[inline(always)]
            fn count(event: Event, times: u32) {
                $count(event, times);
            }
        }
    )*
    };
}

kinds! {
    Silent: counts false with ignore, destroyable false, watches false, looks false;
    Counted: counts true with count, destroyable false, watches false, looks false;
    Destroyable: counts false with ignore, destroyable true, watches false, looks false;
    CountedDestroyable: counts true with count, destroyable true, watches false, looks false;
    Observed: counts false with watch, destroyable true, watches true, looks false;
    Looking: counts false with watch, destroyable true, watches true, looks true;
}

#[inline(always)]
fn ignore(_event: Event, _times: u32) {}

fn count(event: Event, times: u32) {
    let counters = slots::this_cpu().and_then(|cpu| COUNTERS.get_or_map(usize::from(cpu.index())));
    let counter = &counters.unwrap_or(&NUMBERLESS).0[event.index()];
    // ord: N40 alone: a statistic orders nothing
    counter.fetch_add(times.into(), Ordering::Relaxed);
}

#[repr(align(128))]
struct Counters([AtomicU64; ALL.len()]);

// SAFETY: an array of integer atomics is valid for any bytes and may be shared.
unsafe impl Zeroed for Counters {}

static COUNTERS: Chunks<Counters> = Chunks::new();
/// The counts of threads that have no number.
static NUMBERLESS: Counters = Counters([const { AtomicU64::new(0) }; ALL.len()]);

fn each(event: Event) -> impl Iterator<Item = &'static AtomicU64> {
    COUNTERS
        .iter()
        .map(|(_, counters)| counters)
        .chain([&NUMBERLESS])
        .filter_map(move |counters| counters.0.get(event.index())) // none of a lock that this build does not have
}

/// How often `event` was counted since the last reset, over all threads.
pub(crate) fn total(event: Event) -> u64 {
    // ord: N41 alone: a statistic orders nothing
    each(event).map(|counter| counter.load(Ordering::Relaxed)).sum()
}

/// Sets every counter to zero. Counts that happen at the same time may survive.
pub(crate) fn reset() {
    for counter in ALL.iter().flat_map(|&event| each(event)) {
        // ord: N42 alone: a statistic orders nothing
        counter.store(0, Ordering::Relaxed);
    }
}
