//! The storage of classes of per-CPU reader-writer locks: a cell for each thread that reads, on a line of its
//! own.
//!
//! Invariants:
//! - **IR1** A class is in the list of classes before it has lines, and stays there.
//! - **IR2** The number of a thread that has ended while one of its cells says that it reads stays taken for
//!   good (`slots.rs` asks [`is_reading`]). So writers go on waiting for it: its guard may live on where
//!   nobody can see it.
use super::kinds::{Counting, Native, Silent};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use stanchion_core::{CpuId, ReaderCell};

/// One thread's cell. No other thread's is on the line.
#[repr(C, align(64))]
pub(super) struct Line(ReaderCell<Native<Silent>>);

const _: () = assert!(size_of::<Line>() == 64);

/// Lines of a class: one for each number that there can be.
const LINES: usize = CpuId::LIMIT as usize;

/// A resource class: threads read one lock of a class at a time without writing to anything that they share,
/// and further ones through the locks' own words.
///
/// - Memory: 24 bytes, and 64 for each thread number that was ever used to read a lock of the class, by whole
///   pages. A megabyte of addresses is set aside at the first use. Nothing is given back; as numbers are
///   reused, memory follows the largest number of threads at a time. If there is no memory, readers go
///   through the locks' own words.
/// - A writer looks at one line for each living thread that has a number.
#[derive(Debug)]
pub struct Class {
    /// All lines, or null before the first use. Pages that nobody has touched take no memory, so the table
    /// never moves.
    lines: AtomicPtr<Line>,
    /// Whether it is in the list of classes, or about to be (IR1), and what comes after it there.
    listed: AtomicBool,
    next: AtomicPtr<Class>,
}

/// All classes with cells (IR1).
static CLASSES: AtomicPtr<Class> = AtomicPtr::new(ptr::null_mut());

/// The class of locks that were made without one.
static COMMON: Class = Class::new();

/// See [`stanchion_core::Domain::readers`].
pub(super) fn common() -> &'static &'static Class {
    static COMMON_CLASS: &Class = &COMMON;
    &COMMON_CLASS
}

impl Class {
    /// A class that nobody reads.
    pub const fn new() -> Self {
        Self {
            lines: AtomicPtr::new(ptr::null_mut()),
            listed: AtomicBool::new(false),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The line of a number, if the class was ever used.
    #[inline(always)]
    pub(super) fn line(&'static self, cpu: CpuId) -> Option<&'static Line> {
        // ord: N67 pairs N68: the memory is there before its address is known
        let lines = NonNull::new(self.lines.load(Ordering::Acquire))?;
        // SAFETY: a non-null address was published by `make_lines`: that of a mapping of `LINES` zeroed lines
        // that is never unmapped, and the number is below that. A line is made of integer atomics, for which
        // zero is valid and means that nothing is read.
        Some(unsafe { lines.add(cpu.index().into()).as_ref() })
    }

    /// Makes the lines, unless somebody does or there is no memory.
    #[cold]
    pub(super) fn make_lines(&'static self) {
        // ord: N60 alone: one thread makes the lines; the others do without until they are there
        if self.listed.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some(lines) = crate::os::map(LINES * size_of::<Line>(), true) else {
            // ord: N69 alone: another read tries again; nothing was listed
            self.listed.store(false, Ordering::Relaxed);
            return;
        };
        self.enlist();
        // ord: N68 pairs N67: the kernel's zeroes, and the place in the list, come before the address
        self.lines.store(lines.cast().as_ptr(), Ordering::Release);
    }

    /// Whether it is the class of locks that were made without one.
    pub(super) fn is_common(&'static self) -> bool {
        ptr::eq(self, &raw const COMMON)
    }

    /// Puts the class into the list of classes. Called once.
    fn enlist(&'static self) {
        // ord: N61 alone: a guess, the compare-exchange decides
        let mut first = CLASSES.load(Ordering::Relaxed);
        loop {
            // ord: N62 alone: read by others only after N63
            self.next.store(first, Ordering::Relaxed);
            let this = ptr::from_ref(self).cast_mut();
            // ord: N63 pairs N64: who finds the class finds what comes after it
            match CLASSES.compare_exchange(first, this, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }
}

impl Default for Class {
    fn default() -> Self {
        Self::new()
    }
}

/// All classes with cells.
fn classes() -> impl Iterator<Item = &'static Class> {
    // ord: N64 pairs N63: what comes after the class was stored before it was in the list
    let mut next = NonNull::new(CLASSES.load(Ordering::Acquire));
    core::iter::from_fn(move || {
        // SAFETY: the list holds addresses of classes that were borrowed for `'static` when they were put
        // there (IR1).
        let class: &'static Class = unsafe { next?.as_ref() };
        // ord: N65 alone: stored before the class was in the list, and never again
        next = NonNull::new(class.next.load(Ordering::Relaxed));
        Some(class)
    })
}

/// Whether one of the cells of `cpu`, whose thread has ended, says that it reads.
pub(super) fn is_reading(cpu: CpuId) -> bool {
    classes().any(|class| class.line(cpu).is_some_and(|line| !line.0.has_left()))
}

/// In the child of a fork, which does not have the writers that waited: nobody waits for `cpu` to leave.
pub(super) fn forget_writers(cpu: CpuId) {
    classes().filter_map(|class| class.line(cpu)).for_each(|line| line.0.forget_waiter());
}

impl Line {
    /// The cell as locks of platform `Native<C>` see it: those that count events and those that do not share
    /// it.
    #[inline(always)]
    pub(super) fn cell<C: Counting>(&'static self) -> &'static ReaderCell<Native<C>> {
        let cell = ptr::from_ref(&self.0).cast::<ReaderCell<Native<C>>>();
        // SAFETY: `ReaderCell` is `repr(C)` and made of cells of the platform only, which are the same types
        // in `Native<C>` for every `C`; so both types have the same layout and the same validity.
        unsafe { &*cell }
    }
}
