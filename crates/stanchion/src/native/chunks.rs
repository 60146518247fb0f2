//! A table that grows by whole chunks, is never unmapped, and can grow inside a signal handler.
//!
//! Waiters of a lock read each other's entries without any protocol about lifetimes; that is sound because an
//! entry, once there, stays where it is for the rest of the process. Memory comes from `mmap` and not from
//! the allocator, because a first contended acquisition may happen in a signal handler that interrupted
//! `malloc`.
use crate::os;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// Entries a chunk.
const CHUNK: usize = 64;
/// Chunks a table: enough for every number of 16 bits. (They are pointers, of which most stay null.)
const CHUNKS: usize = (1 << 16) / CHUNK;

/// Marks types for which a run of zero bytes is a valid value, free of any state.
///
/// # Safety
///
/// All-zero memory must be a valid value of the type, and it must be sound to share (`Sync`).
pub(super) unsafe trait Zeroed: Sync + Sized + 'static {
    /// Whether the child of a `fork` begins with zeroes, where the system can do that.
    const WIPED: bool = false;
}

/// A growing table of `T`, indexed by slot number.
pub(super) struct Chunks<T: Zeroed> {
    chunks: [AtomicPtr<T>; CHUNKS],
}

impl<T: Zeroed> Chunks<T> {
    pub(super) const fn new() -> Self {
        Self { chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS] }
    }

    /// Entry `index`, if its chunk exists.
    #[inline(always)]
    pub(super) fn get(&'static self, index: usize) -> Option<&'static T> {
        // The remainder changes nothing, as numbers are small enough, and spares a comparison.
        // ord: N1 pairs N2: the chunk's memory is zero before its address is known
        let chunk = NonNull::new(self.chunks[index / CHUNK % CHUNKS].load(Ordering::Acquire))?;
        // SAFETY: a non-null chunk pointer was published by `get_or_map` and points to `CHUNK` entries that
        // are zeroed, valid (`Zeroed`), shared, and never unmapped; the index is below `CHUNK`.
        Some(unsafe { chunk.add(index % CHUNK).as_ref() })
    }

    /// Entry `index`, mapping its chunk if need be; `None` if the system has no memory.
    pub(super) fn get_or_map(&'static self, index: usize) -> Option<&'static T> {
        if let Some(entry) = self.get(index) {
            return Some(entry);
        }
        const { assert!(align_of::<T>() <= 4096) }; // what `mmap` guarantees
        let bytes = CHUNK * size_of::<T>();
        let fresh = os::map(bytes, false)?;
        if T::WIPED {
            // SAFETY: the mapping was made above with this size, and holds zeroes.
            unsafe { os::wipe_on_fork(fresh, bytes) };
        }
        let cell = &self.chunks[index / CHUNK];
        // ord: N2 pairs N1: the kernel's zeroes come before the address
        if cell
            .compare_exchange(ptr::null_mut(), fresh.cast().as_ptr(), Ordering::Release, Ordering::Relaxed)
            .is_err()
        {
            // SAFETY: the mapping was made above with this size and its address was published to nobody.
            unsafe { os::unmap(fresh, bytes) };
        }
        self.get(index)
    }

    /// Entry `index`, once every entry below exists, too; `None` if the system has no memory.
    pub(super) fn map_up_to(&'static self, index: usize) -> Option<&'static T> {
        (0..index).step_by(CHUNK).try_for_each(|lower| self.get_or_map(lower).map(drop))?;
        self.get_or_map(index)
    }

    /// All entries that exist, with their indices.
    pub(super) fn iter(&'static self) -> impl Iterator<Item = (usize, &'static T)> {
        let mapped = (0..CHUNKS * CHUNK).step_by(CHUNK).filter(|&first| self.get(first).is_some());
        mapped.flat_map(|first| first..first + CHUNK).filter_map(|index| Some((index, self.get(index)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicU32;

    struct Entry(AtomicU32);
    // SAFETY: an `AtomicU32` is valid for any bytes and may be shared.
    unsafe impl Zeroed for Entry {}

    #[test]
    fn entries_appear_by_chunks_and_stay_where_they_are() {
        static TABLE: Chunks<Entry> = Chunks::new();
        assert!(TABLE.get(70).is_none());
        let entry = TABLE.get_or_map(70).expect("memory");
        entry.0.store(7, Ordering::Relaxed);
        assert!(TABLE.get(0).is_none(), "the first chunk is not needed yet");
        assert!(ptr::eq(entry, TABLE.get_or_map(70).expect("mapped")));
        assert_eq!(TABLE.get(70).expect("mapped").0.load(Ordering::Relaxed), 7);
        assert_eq!(TABLE.iter().count(), CHUNK);
    }

    #[test]
    fn all_entries_up_to_one_can_be_looked_at() {
        static TABLE: Chunks<Entry> = Chunks::new();
        TABLE.map_up_to(3 * CHUNK).expect("memory");
        assert_eq!(TABLE.iter().count(), 4 * CHUNK);
        assert!((0..4 * CHUNK).all(|index| TABLE.get(index).is_some()));
    }
}
