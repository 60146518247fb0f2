//! The heap: memory from the largest free piece, in blocks of powers of two that are kept in lists when they
//! are free.
use super::locked::Locked;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{self, NonNull};

/// The smallest block holds a link of its list.
const SMALLEST: usize = 16;
/// Sizes of blocks: 16 bytes times powers of two.
const SIZES: usize = 40;

/// All free memory.
struct Free {
    /// What was never handed out.
    next: usize,
    end: usize,
    /// Blocks that were given back, by size.
    lists: [Option<NonNull<Block>>; SIZES],
}

struct Block {
    next: Option<NonNull<Block>>,
}

// SAFETY: the blocks are memory that nobody else knows of, so whoever holds the lock may use them from any
// vCPU.
unsafe impl Send for Free {}

static FREE: Locked<Free> = Locked::new(Free { next: 0, end: 0, lists: [None; SIZES] });

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

/// Hands the memory from `start` on to the heap.
///
/// # Safety
/// Nobody else may use these `bytes`, which must be mapped.
pub(super) unsafe fn give(start: usize, bytes: usize) {
    FREE.with(|free| {
        free.next = start;
        free.end = start + bytes;
    });
}

/// Bytes that were never handed out.
pub(super) fn untouched() -> usize {
    FREE.with(|free| free.end - free.next)
}

/// The size of the block for `layout`, as a power of two times the smallest.
fn class(layout: Layout) -> Option<usize> {
    let bytes = layout.size().max(layout.align()).max(SMALLEST).checked_next_power_of_two()?;
    let class = (bytes / SMALLEST).trailing_zeros() as usize;
    (class < SIZES).then_some(class)
}

// SAFETY: blocks are as large as their class says, which is not below size and alignment of the layout; those
// from the untouched end are aligned to their size up to a page, and larger alignments are rounded up as
// well, and never taken from a list. None is handed out twice: the lists and the end move under the lock.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(layout) else { return ptr::null_mut() };
        FREE.with(|free| {
            // What was given back is aligned to a page at most.
            if layout.align() <= 4096
                && let Some(block) = free.lists[class]
            {
                // SAFETY: a block in a list is free memory that `dealloc` wrote a link to.
                free.lists[class] = unsafe { block.as_ref().next };
                return block.as_ptr().cast();
            }
            let bytes = SMALLEST << class;
            // Large blocks need not be aligned to their size.
            let align = bytes.min(4096).max(layout.align());
            let start = free.next.next_multiple_of(align);
            match start.checked_add(bytes) {
                Some(end) if end <= free.end => {
                    free.next = end;
                    ptr::with_exposed_provenance_mut(start)
                }
                _ => ptr::null_mut(),
            }
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // An alignment above a page is one that other blocks of the class do not have; there are few, and
        // none is given back often.
        if layout.align() > 4096 {
            return;
        }
        #[expect(clippy::cast_ptr_alignment, reason = "all blocks are aligned to 16 bytes at least")]
        let (Some(class), Some(block)) = (class(layout), NonNull::new(block.cast::<Block>())) else { return };
        FREE.with(|free| {
            // SAFETY: the caller gives the block back, it holds a link and is aligned for one, as the
            // smallest blocks are.
            unsafe { block.write(Block { next: free.lists[class] }) };
            free.lists[class] = Some(block);
        });
    }
}
