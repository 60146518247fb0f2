//! What the native world stores for the locks of `stanchion-family`. Without the feature `family`,
//! `no_family_storage.rs` stands in its place.
//!
//! Locks of all kinds of [`Native`] share it: cells are the same types whatever the kind, and what stands in
//! them is numbers of threads and addresses of locks.
use super::kinds::{Counting, Native, Silent};
use core::ptr::from_ref;
use stanchion_core::CpuId;
use stanchion_family::heads::{HEADS, HeadIndex, HeadTable, Heads};
use stanchion_family::parking::{ParkingRow, ParkingStorage};
use stanchion_family::percpu::PerCpu;

/// How many rows of parking slots there are: with 123 parking slots each, nearly as many as threads can have
/// numbers.
const ROWS: usize = 128;

static PARKING: [ParkingStorage<Native<Silent>>; ROWS] = [const { ParkingStorage::NEW }; ROWS];
static SLEEPERS: Heads<Native<Silent>> = Heads::NEW;

/// The row of parking slots that `spread`, which comes of a lock's address, selects.
#[inline(always)]
pub(super) fn parking<C: Counting>(spread: usize) -> ParkingRow<'static, Native<C>> {
    ParkingRow::of(PARKING[spread % ROWS].cells())
}

/// The hash table from locks to sleeping heads.
#[inline]
pub(super) fn heads<C: Counting>() -> HeadTable<'static, Native<C>> {
    let heads = from_ref(&SLEEPERS).cast::<Heads<Native<C>>>();
    // SAFETY: `Heads` and its entries are `repr(C)` and made of cells of the platform only, which are the
    // same types in `Native<C>` for every `C`; so both types have the same layout and the same validity.
    let heads: &'static Heads<Native<C>> = unsafe { &*heads };
    heads.table()
}

/// The process is the child of a fork, which has the thread `mine` only: nobody else sleeps where releasers
/// look. Whether `mine` is waiting somewhere the caller knows.
pub(super) fn forget_sleepers(mine: Option<CpuId>, is_waiting: bool) {
    for row in &PARKING {
        row.row().forget_but(mine);
    }
    // An entry of the table does not show whose it is: if the fork came while its thread waited, in the
    // handler of a signal, all stay.
    if !is_waiting {
        for entry in (1..=HEADS as u16).filter_map(HeadIndex::from_raw) {
            SLEEPERS.table().free(entry);
        }
    }
}

/// What a thread has in its slot.
#[repr(transparent)]
pub(super) struct InSlot(PerCpu<Native<Silent>>);

impl InSlot {
    /// The thread does not exist.
    pub(super) fn forget(&self) {
        self.0.forget();
    }

    /// Whether nodes of the thread stand in a queue.
    pub(super) fn is_in_use(&self) -> bool {
        self.0.nesting() != 0
    }

    /// The storage as locks of platform `Native<C>` see it: a context's nodes are in use by nesting level,
    /// whatever the lock.
    #[inline(always)]
    pub(super) fn percpu<C: Counting>(&self) -> &PerCpu<Native<C>> {
        let percpu = from_ref(&self.0).cast::<PerCpu<Native<C>>>();
        // SAFETY: `PerCpu` and its nodes are `repr(C)` and made of cells of the platform only, which are the
        // same types in `Native<C>` for every `C`; so both types have the same layout and the same validity.
        unsafe { &*percpu }
    }
}
