//! Pages that must not be touched: below each stack, and the first one of all.
use super::arch::forget_page;
use super::boot::boot_directories;
use alloc::alloc::{alloc_zeroed, handle_alloc_error};
use core::alloc::Layout;
use core::sync::atomic::{AtomicU64, Ordering};

pub(super) const PAGE: usize = 4096;
const LARGE_PAGE: usize = 512 * PAGE;
const PRESENT_WRITABLE: u64 = 0b11;
const LARGE: u64 = 1 << 7;

type Table = [AtomicU64; 512];

/// Takes the page at `address` out of the map. By the first vCPU, before any other starts: the others never
/// saw it.
pub(super) fn forbid(address: usize) {
    debug_assert!(address.is_multiple_of(PAGE));
    // SAFETY: the directories are statics of the boot code, which is done with them; since then they are
    // written here only.
    let entry = unsafe { &boot_directories[address / LARGE_PAGE] };
    // ord: AB7 alone: one vCPU runs; its processor reads the tables through `invlpg`
    let found = entry.load(Ordering::Relaxed);
    let table = if found & LARGE == 0 { (found & !(PAGE as u64 - 1)) as usize } else { split(entry, found) };
    // SAFETY: an entry that is not a large page holds the address of a table that `split` made, which stays
    // for ever.
    let table = unsafe { &*core::ptr::with_exposed_provenance::<Table>(table) };
    // ord: AB8 alone: as AB7, one vCPU runs
    table[address / PAGE % 512].store(0, Ordering::Relaxed);
    forget_page(address);
}

/// Makes 512 small pages of a large one; where their table is.
fn split(entry: &AtomicU64, large: u64) -> usize {
    let layout = Layout::new::<Table>().align_to(PAGE).expect("a page is a valid alignment");
    // SAFETY: a table is not empty.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: fresh memory of a table's size and alignment, zeroed; it is never given back.
    let table: &'static Table = unsafe { &*memory.cast() };
    let base = large & !(LARGE_PAGE as u64 - 1);
    for (page, small) in (0_u64..).zip(table) {
        // ord: AB9 alone: as AB7, one vCPU runs, and the table is not in use yet
        small.store((base + page * PAGE as u64) | PRESENT_WRITABLE, Ordering::Relaxed);
    }
    let address = memory.expose_provenance();
    // ord: AB10 alone: x86 keeps stores in order, the processor's own reads of tables included
    entry.store(address as u64 | PRESENT_WRITABLE, Ordering::Release);
    forget_page(base as usize);
    address
}
