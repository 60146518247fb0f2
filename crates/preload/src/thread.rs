//! Who the calling thread is: a number that no other thread of the process ever has or had.
//!
//! Its control block would be cheaper to name, but a new thread gets that of one that has ended, and would pass for the owner of what
//! that one left locked. The number stands in thread-local storage of the "initial exec" kind, two instructions away, which only a library
//! that is loaded with the program may have; the language has no way to ask for it.
use core::sync::atomic::{AtomicUsize, Ordering};

core::arch::global_asm!(
    ".pushsection .tbss.stanchion_thread_number, \"awT\", @nobits",
    ".balign 8",
    ".hidden stanchion_thread_number",
    ".globl stanchion_thread_number",
    ".type stanchion_thread_number, @object",
    ".size stanchion_thread_number, 8",
    "stanchion_thread_number:",
    ".zero 8",
    ".popsection",
);

/// The least significant bit of a number is free for marks.
const STEP: usize = 2;

static NEXT: AtomicUsize = AtomicUsize::new(STEP);

/// The calling thread's number: even, and not 0. The child of a `fork` keeps its parent's.
#[inline(always)]
pub(crate) fn me() -> usize {
    let number: usize;
    // SAFETY: the symbol is eight bytes of this thread's own storage, defined above; they are read.
    unsafe {
        core::arch::asm!(
            "mov {number}, qword ptr [rip + stanchion_thread_number@GOTTPOFF]",
            "mov {number}, qword ptr fs:[{number}]",
            number = out(reg) number,
            options(nostack, preserves_flags, readonly),
        );
    }
    if number == 0 { first() } else { number }
}

#[cold]
#[inline(never)]
fn first() -> usize {
    // ord: M52 alone: only that numbers differ matters
    let number = NEXT.fetch_add(STEP, Ordering::Relaxed);
    // SAFETY: as in `me`; they are written, by their own thread. A handler that comes in between gives the thread another number, which
    // is replaced by this one; it has released by then what it acquired under that.
    unsafe {
        core::arch::asm!(
            "mov {place}, qword ptr [rip + stanchion_thread_number@GOTTPOFF]",
            "mov qword ptr fs:[{place}], {number}",
            place = out(reg) _,
            number = in(reg) number,
            options(nostack, preserves_flags),
        );
    }
    number
}

/// The calling thread's control block, which is what `pthread_t` is.
#[inline(always)]
pub(crate) fn control_block() -> usize {
    let pointer: usize;
    // SAFETY: on x86-64 Linux the first word of the thread control block, at `fs:0`, is its own address.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
    }
    pointer
}
