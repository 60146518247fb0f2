//! Who the calling thread is: a number that no other thread of the process ever has or had.
//!
//! Its control block would be cheaper to name, but a new thread gets that of one that has ended, and would pass for the owner of what
//! that one left locked. The number stands in thread-local storage of the "initial exec" kind, two instructions away, which only a library
//! that is loaded with the program may have; the language has no way to ask for it.
use core::marker::PhantomData;
use core::ptr;
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
///
/// Numbers stand in mutexes where libc has the thread id of the owner, and above that a count of users. No thread id has bit 30, and every number
/// does; and no count is as large as what stands in a number's upper half.
///
/// | bits | what |
/// |---|---|
/// | 0 | 0 |
/// | 1–29 | the thread's, counted from 1 |
/// | 30 | 1: ours |
/// | 31 | 0 |
/// | 32–39 | [`USERS`] |
/// | 40–62 | the process id, and what of the count does not fit into bits 1–29 |
/// | 63 | 1: ours |
const OURS: usize = 1 << 63 | 1 << 30;

/// What stands where libc's count of users has its last byte. libc adds one when it locks, and takes one away when it unlocks.
const USERS: u8 = 0x80;

static COUNT: AtomicUsize = AtomicUsize::new(1);

/// The number of the `count`th thread.
fn numbered(count: usize, process: usize) -> usize {
    let upper = (count >> 29).wrapping_add(process) & 0x7f_ffff;
    OURS | upper << 40 | usize::from(USERS) << 32 | (count & 0x1fff_ffff) << 1
}

/// Whether an owner is a thread of ours, and none that libc noted.
#[inline(always)]
pub(crate) fn is_ours(owner: usize) -> bool {
    owner & 1 << 30 != 0
}

/// How often libc locked a mutex more than it unlocked it, since a thread of ours noted itself as its owner; `None` if no traces of that are
/// left.
pub(crate) fn locked_by_libc(owner: usize) -> Option<i32> {
    let times = i32::from((owner >> 32) as u8) - i32::from(USERS);
    (owner & 1 << 63 != 0 && times.abs() <= 16).then_some(times)
}

/// The calling thread's number, which is not 0 ([`OURS`]). The child of a `fork` keeps its parent's.
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
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: a call without arguments, which cannot fail.
    let number = numbered(count, unsafe { libc::getpid() } as usize);
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

/// Where each thread has a value of thread-local storage: as its distance from the thread's control block, which is the same in all threads. A
/// library that is loaded with the program has its storage in one block with the control blocks. Asking the language leads to a call of the
/// loader, and to one's own value only.
pub(crate) struct Place<T> {
    distance: AtomicUsize,
    of: PhantomData<fn() -> T>,
}

impl<T> Place<T> {
    pub(crate) const fn new() -> Self {
        Self { distance: AtomicUsize::new(0), of: PhantomData }
    }

    /// Learns it from where the calling thread has the value.
    pub(crate) fn find(&self, mine: *const T) {
        // ord: M68 alone: every thread finds the same distance; whoever uses it says how it knows that it was found
        self.distance.store(mine.expose_provenance().wrapping_sub(control_block()), Ordering::Relaxed);
    }

    /// The calling thread's.
    #[inline(always)]
    pub(crate) fn mine(&self) -> *const T {
        self.of(control_block())
    }

    /// That of the thread with this control block.
    #[inline(always)]
    pub(crate) fn of(&self, control_block: usize) -> *const T {
        // ord: M69 alone: see M68, whoever uses it knows that it was found
        ptr::with_exposed_provenance(control_block.wrapping_add(self.distance.load(Ordering::Relaxed)))
    }
}

/// The calling thread's control block, which is what `pthread_t` is.
#[inline(always)]
fn control_block() -> usize {
    let pointer: usize;
    // SAFETY: on x86-64 Linux the first word of the thread control block, at `fs:0`, is its own address.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
    }
    pointer
}
