//! Stacks, each with a page below it that must not be touched: an overflow is an exception, not somebody
//! else's memory.
use super::paging::{PAGE, forbid};
use super::stubs::{LEVELS, SLICE};
use alloc::alloc::{alloc, handle_alloc_error};
use core::alloc::Layout;

/// Bytes of the stack that a vCPU runs workloads on, and of the one for exceptions; the guard pages included.
const MAIN: usize = 256 * 1024;
const EXCEPTIONS: usize = 20 * 1024;

/// Where the stacks of one vCPU end, which is where they begin to be used.
pub(super) struct Stacks {
    pub(super) main: usize,
    pub(super) interrupts: usize,
    pub(super) exceptions: usize,
}

impl Stacks {
    /// New ones, for ever. By the first vCPU, before any other starts (IG2).
    pub(super) fn new() -> Self {
        Self { main: stack(MAIN), ..Self::for_first(0) }
    }

    /// The same for a vCPU that has a stack to run on, which ends at `main`.
    pub(super) fn for_first(main: usize) -> Self {
        let interrupts = stack(SLICE * LEVELS);
        for level in 1..LEVELS {
            forbid(interrupts - SLICE * level);
        }
        Self { main, interrupts, exceptions: stack(EXCEPTIONS) }
    }
}

/// Memory for a stack, its lowest page forbidden; where it ends.
fn stack(bytes: usize) -> usize {
    let layout = Layout::from_size_align(bytes, PAGE).expect("a page is a valid alignment");
    // SAFETY: a stack is not empty.
    let lowest = unsafe { alloc(layout) };
    if lowest.is_null() {
        handle_alloc_error(layout);
    }
    let lowest = lowest.expose_provenance();
    forbid(lowest);
    lowest + bytes
}
