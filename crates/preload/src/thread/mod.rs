//! Who the calling thread is: a number that no other thread has that lives, and none that has ended for long.
//!
//! Its control block would be cheaper to name, but a new thread gets that of one that has ended, and would
//! pass for the owner of what that one left locked. The number stands in thread-local storage of the "initial
//! exec" kind, two instructions away, which only a library that is loaded with the program may have; the
//! language has no way to ask for it.
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod processor;

core::arch::global_asm!(
    ".pushsection .tbss.stanchion_thread_number, \"awT\", @nobits",
    ".balign 4",
    ".hidden stanchion_thread_number",
    ".globl stanchion_thread_number",
    ".type stanchion_thread_number, @object",
    ".size stanchion_thread_number, 4",
    "stanchion_thread_number:",
    ".zero 4",
    ".popsection",
);

/// Numbers are made of the thread's id, and of a count, since the id of a thread that has ended is given to
/// another in the end. They stand in mutexes where libc counts users, which are never so many.
///
/// | bits | what |
/// |---|---|
/// | 0–3 | [`MIDDLE`] |
/// | 4 | free for a mark |
/// | 5–26 | the thread id |
/// | 27–31 | 1 to 31, in turn |
const ID: u32 = 5;
const TURN: u32 = 27;

/// What the lowest bits of a number are. libc adds one when it locks a mutex, and takes one away when it
/// unlocks it.
const MIDDLE: u32 = 8;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// How often libc locked a mutex more than it unlocked it since a thread of ours noted its number there;
/// `None` if no thread did.
pub(crate) fn locked_by_libc(number: u32) -> Option<i32> {
    (number >> TURN != 0).then_some((number & 0xf).cast_signed() - MIDDLE.cast_signed())
}

/// The calling thread's number, which is not 0. The child of a `fork` keeps its parent's, and with that what
/// the parent held.
#[inline(always)]
pub(crate) fn me() -> u32 {
    let number = processor::number();
    if number == 0 { first() } else { number }
}

/// The calling thread's id, as the system knows it.
pub(crate) fn id() -> u32 {
    me() >> ID & 0x3f_ffff
}

#[cold]
#[inline(never)]
fn first() -> u32 {
    // ord: M52 alone: any turn will do
    let turn = COUNT.fetch_add(1, Ordering::Relaxed) % 31 + 1;
    // SAFETY: a call without arguments, which cannot fail.
    let id = unsafe { libc::gettid() } as u32;
    // A handler that comes in between gives the thread another number, which is replaced by this one; it has
    // released by then what it acquired under that.
    set(turn << TURN | id << ID | MIDDLE)
}

fn set(number: u32) -> u32 {
    processor::set_number(number);
    number
}

/// Where each thread has a value of thread-local storage: as its distance from the thread pointer, which is
/// the same in all threads. A library that is loaded with the program has its storage in one block with what
/// the thread pointer points to. Asking the language leads to a call of the loader, and to one's own value
/// only.
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
        // ord: M68 alone: every thread finds the same distance; whoever uses it says how it knows that it was
        // found
        self.distance
            .store(mine.expose_provenance().wrapping_sub(processor::thread_pointer()), Ordering::Relaxed);
    }

    /// The calling thread's.
    #[inline(always)]
    pub(crate) fn mine(&self) -> *const T {
        self.beside(processor::thread_pointer())
    }

    /// That of this thread, which must be there.
    pub(crate) fn of(&self, thread: libc::pthread_t) -> *const T {
        self.beside(processor::thread_pointer_of(thread))
    }

    #[inline(always)]
    fn beside(&self, thread_pointer: usize) -> *const T {
        // ord: M69 alone: see M68, whoever uses it knows that it was found
        ptr::with_exposed_provenance(thread_pointer.wrapping_add(self.distance.load(Ordering::Relaxed)))
    }
}
