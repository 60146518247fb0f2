//! The memory that simulated contexts share. Its addresses mean something: a line is 64 bytes of it.
//!
//! Cells may lie elsewhere, too (tests keep their locks on the host's heap), but which of those share a line
//! is the host's doing.
use core::alloc::Layout;
use core::cell::Cell;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU16, Ordering};
use std::rc::Rc;

/// Bytes of a cache line.
pub(crate) const LINE_BYTES: usize = 64;

/// A fixed piece of memory from which objects are placed one after the other; they live as long as it does.
pub(crate) struct Arena {
    base: NonNull<u8>,
    bytes: usize,
    used: Cell<usize>,
}

/// An object in an arena, which it keeps alive.
pub(crate) struct Placed<T: 'static> {
    arena: Rc<Arena>,
    object: NonNull<T>,
}

impl Arena {
    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 4096).expect("a sensible size")
    }

    /// An arena for `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Rc<Self> {
        let bytes = bytes.next_multiple_of(4096);
        // SAFETY: the layout's size is not zero.
        let base = unsafe { std::alloc::alloc_zeroed(Self::layout(bytes)) };
        let base = NonNull::new(base).unwrap_or_else(|| std::alloc::handle_alloc_error(Self::layout(bytes)));
        Rc::new(Self { base, bytes, used: Cell::new(0) })
    }

    /// Where it begins; lines are counted from there.
    pub(crate) fn base(&self) -> usize {
        self.base.addr().get()
    }

    /// How many lines it has.
    pub(crate) fn lines(&self) -> usize {
        self.bytes / LINE_BYTES
    }

    /// Places an object at the start of a line of its own. Its destructor will not run.
    pub(crate) fn place<T: 'static>(self: &Rc<Self>, object: T) -> Placed<T> {
        let at = self.used.get().next_multiple_of(align_of::<T>().max(LINE_BYTES));
        let end = at + size_of::<T>();
        assert!(end <= self.bytes, "the arena was made too small");
        self.used.set(end);
        // SAFETY: `at + size_of::<T>()` is within the allocation, aligned for `T` (the base is aligned to a
        // page), and given to nobody else because `used` only grows.
        let object = unsafe {
            let slot = self.base.add(at).cast::<T>();
            slot.write(object);
            slot
        };
        Placed { arena: Rc::clone(self), object }
    }

    /// The next object begins at `at` or behind.
    pub(crate) fn skip_to(&self, at: usize) {
        self.used.set(self.used.get().max(at));
    }

    /// Adds to the number of two bytes at `at`, in an object that was placed there and has an atomic of that
    /// size at this place.
    pub(crate) fn add(&self, at: usize, more: u16) {
        assert!(at.is_multiple_of(2) && at + 2 <= self.used.get(), "it is within an object");
        // SAFETY: the two bytes are within the allocation, aligned, and were written by `place`; whoever else
        // uses them does so by an atomic of this size, as the caller says.
        let number = unsafe { AtomicU16::from_ptr(self.base.add(at).cast::<u16>().as_ptr()) };
        number.fetch_add(more, Ordering::Relaxed);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout; every `Placed` keeps the arena alive, so none is left.
        unsafe { std::alloc::dealloc(self.base.as_ptr(), Self::layout(self.bytes)) }
    }
}

impl<T> Clone for Placed<T> {
    fn clone(&self) -> Self {
        Self { arena: Rc::clone(&self.arena), object: self.object }
    }
}

impl<T> Deref for Placed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the object was written by `place` and lives as long as the arena, which `self` keeps;
        // nobody has a mutable reference to it.
        unsafe { self.object.as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_begin_lines_of_their_own() {
        let arena = Arena::new(1);
        let (one, two) = (arena.place(1_u8), arena.place([2_u64; 9]));
        let three = arena.place(3_u8);
        let line = |address: usize| (address - arena.base()) / LINE_BYTES;
        assert_eq!(line(core::ptr::from_ref(&*one).addr()), 0);
        assert_eq!(line(core::ptr::from_ref(&*two).addr()), 1);
        assert_eq!(line(core::ptr::from_ref(&*three).addr()), 3, "72 bytes take two lines");
        assert_eq!((*one, two[8], *three, arena.lines()), (1, 2, 3, 64));
    }

    #[test]
    fn a_number_within_an_object_is_added_to() {
        let arena = Arena::new(1);
        let halves = arena.place([AtomicU16::new(5), AtomicU16::new(7)]);
        arena.add(2, u16::MAX);
        assert_eq!([&halves[0], &halves[1]].map(|half| half.load(Ordering::Relaxed)), [5, 6]);
    }
}
