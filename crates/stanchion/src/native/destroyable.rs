//! Releases after which the lock is not touched any more, not even read: for locks whose memory may be gone
//! by then.
//!
//! POSIX allows it: who acquires a mutex last may destroy it and give its memory back while the thread that
//! released it before is still on its way out of `pthread_mutex_unlock`. So the mark that a sleeper leaves in
//! a lock's second byte must be read *before* the lock is released, and yet no mark may be overlooked that
//! comes in between. Two ways:
//!
//! - A *restartable sequence*: look at the mark, and if there is none, store 0. The kernel starts it over if
//!   the thread is interrupted in between, and the heavy barrier (`membarrier` for such sequences) makes it
//!   start over on every CPU. This costs two plain stores.
//! - One read-modify-write of both bytes, where the former cannot be had, where there is a mark, and where
//!   the lock has its releases fenced. Marks
//!   are written and read as bytes: this is an access of another size to the same memory, which the language
//!   does not describe. x86-64 and aarch64 do, for accesses that are aligned.
//!
//! Invariants:
//! - **IA3** A sleeper leaves its mark, passes the heavy barrier and looks at the lock. A sequence that
//!   looked at the mark before it was there has stored its 0 before the barrier returns, or starts over and
//!   finds the mark.
//! - **IA4** Sequences are used only after registration succeeded, and a heavy barrier settles that first; as
//!   IA1 and IA2 of `barrier.rs`.
use super::atomics::Cell8;
use crate::os;
use core::any::TypeId;
use core::sync::atomic::{AtomicU8, AtomicU16, Ordering, fence};
use stanchion_core::{Atomic, Released};

const UNKNOWN: u8 = 0;
const SEQUENCES: u8 = 1;
const TOGETHER: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Stores `value` to `first` if `then`, the byte beside it, has none of `marks` set.
#[inline(always)]
pub(super) fn release_unless_marked(first: &Cell8, value: u8, then: &Cell8, marks: u8) -> Released {
    let lock = both(first, then);
    // SAFETY: the two are native cells side by side, so they may be written through shared references.
    let stored = unsafe { store_unless_marked::<0>(lock, value, marks) };
    if stored { Released::Unmarked } else { Released::Held }
}

/// The same by a read-modify-write: whoever leaves a mark passes a fence in place of the heavy barrier.
#[inline(always)]
pub(super) fn release_together(first: &Cell8, value: u8, then: &Cell8, marks: u8) -> Released {
    let lock = both(first, then);
    // SAFETY: the two are native cells side by side, so they may be written through shared references.
    let stored = unsafe { store_together(lock, value, marks) };
    if stored { Released::Unmarked } else { Released::Held }
}

/// The address of the two neighbouring bytes of a lock.
#[inline(always)]
fn both(first: &Cell8, then: &Cell8) -> *mut u8 {
    let lock = core::ptr::from_ref(first).cast::<u8>().cast_mut();
    debug_assert_eq!(
        core::ptr::from_ref(then).cast::<u8>(),
        lock.wrapping_add(1),
        "two neighbouring bytes of a lock"
    );
    lock
}

/// Releases the lock at `first` and returns the mark at `then`, if these are the two neighbouring bytes of a
/// lock: for locks that look for marks after their release.
#[inline(always)]
pub(super) fn release<T, U>(first: &impl Atomic<T>, value: T, then: &impl Atomic<U>) -> Option<U>
where
    T: Copy + Eq,
    U: Copy + Eq,
{
    let (lock, mark) = (core::ptr::from_ref(first).cast::<u8>(), core::ptr::from_ref(then).cast::<u8>());
    if !(is_byte(first) && is_byte(then) && mark == lock.wrapping_add(1)) {
        return None;
    }
    // SAFETY: only `Cell8` is a byte here, which is an `Atomic<u8>` and nothing else; so `T` is `u8`.
    if unsafe { core::mem::transmute_copy::<T, u8>(&value) } != 0 {
        return None;
    }
    // SAFETY: the two are native cells, so they are two bytes side by side that may be written through shared
    // references.
    let found = unsafe { release_bytes(lock.cast_mut()) };
    // SAFETY: as for `T`, `U` is `u8`.
    Some(unsafe { core::mem::transmute_copy::<u8, U>(&found) })
}

#[inline(always)]
fn is_byte<A: 'static>(_: &A) -> bool {
    TypeId::of::<A>() == TypeId::of::<Cell8>()
}

/// Clears the first byte and returns the second.
///
/// # Safety
///
/// `lock` and the byte after it must be cells of a lock that the calling thread holds.
#[inline(always)]
unsafe fn release_bytes(lock: *mut u8) -> u8 {
    // ord: N71 alone: the other way is right in any state (IA4)
    if STATE.load(Ordering::Relaxed) == SEQUENCES {
        // SAFETY: the caller's cells, as it promises; sequences are to be had.
        let mark = unsafe { os::store_unless_marked::<0>(lock, 0, u8::MAX) };
        if mark == 0 {
            return 0;
        }
    }
    // SAFETY: the caller's cells; a lock is aligned to four bytes. The machine has no trouble with accesses
    // of several sizes, which the language does not describe; these are the only places of the native world
    // that need them.
    let both = unsafe { AtomicU16::from_ptr(lock.cast()) };
    let mark = u16::from_ne_bytes([0, 0xff]);
    // ord: N72 alone: one read-modify-write of both bytes; a mark is in it or comes after it, and then the
    // fence of `barrier.rs` shows us gone
    both.fetch_and(mark, Ordering::SeqCst).to_ne_bytes()[1]
}

/// Stores `value` to the first byte if the second has none of `marks` set, in one step; whether it did.
///
/// # Safety
///
/// As [`release_bytes`].
#[inline(always)]
unsafe fn store_unless_marked<const PAUSES: usize>(lock: *mut u8, value: u8, marks: u8) -> bool {
    // ord: N82 alone: as N71, the other way is right in any state (IA4)
    if STATE.load(Ordering::Relaxed) == SEQUENCES {
        // SAFETY: the caller's cells, as it promises; sequences are to be had.
        return unsafe { os::store_unless_marked::<PAUSES>(lock, value, marks) } & marks == 0;
    }
    // SAFETY: as the caller promises.
    unsafe { store_together(lock, value, marks) }
}

/// As [`store_unless_marked`], by a read-modify-write of both bytes.
///
/// # Safety
///
/// As [`release_bytes`].
#[inline(always)]
unsafe fn store_together(lock: *mut u8, value: u8, marks: u8) -> bool {
    // SAFETY: as in `release_bytes`, it is the caller's cells and aligned.
    let both = unsafe { AtomicU16::from_ptr(lock.cast()) };
    let stored = |both: u16| {
        let mark = both.to_ne_bytes()[1];
        (mark & marks == 0).then_some(u16::from_ne_bytes([value, mark]))
    };
    // ord: N83 pairs ST21: as N72, a mark is in it, or comes after it and its fence shows us gone
    both.fetch_update(Ordering::SeqCst, Ordering::Relaxed, stored).is_ok()
}

/// The heavy side, if releases are sequences. If they are not, the one of `barrier.rs` is right: a release by
/// read-modify-write has the mark, or the fence shows us that release. To the pairs of `barrier.rs` this one
/// is as good as theirs.
pub(super) fn heavy_barrier() -> bool {
    // ord: N74 alone: between our mark and our look as far as this thread is concerned; the others' part is
    // membarrier's
    fence(Ordering::SeqCst);
    // Every running thread passes a full barrier, and starts its sequence over if it is in one (IA3).
    os::restart_everywhere()
        // A process may have lost its registration (a fork whose kernel does not inherit it).
        || (os::register_restarts() && os::restart_everywhere())
}

/// Which way releases go, settled if it was not.
pub(super) fn settle() -> u8 {
    // ord: N75 alone: a state other than UNKNOWN stays true (IA4)
    let state = STATE.load(Ordering::Relaxed);
    if state != UNKNOWN {
        return state;
    }
    let settled = if os::register_restarts() { SEQUENCES } else { TOGETHER };
    // ord: N76 alone: whoever loses takes the winner's answer, which the process as a whole gave
    STATE.compare_exchange(UNKNOWN, settled, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(settled)
}

/// Whether releases are restartable sequences.
pub(super) fn uses_sequences() -> bool {
    settle() == SEQUENCES
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;
    use stanchion_core::order::{Acquire, Relaxed, Release};
    use std::thread;

    #[repr(C, align(4))]
    struct Lock(Cell8, Cell8);

    /// Ends the other thread's loop, also when a check fails.
    struct Over<'a>(&'a AtomicBool);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// A barrier that did not start sequences over would come between the look and the store in most rounds
    /// here.
    #[test]
    fn a_release_that_has_looked_starts_over_when_a_mark_comes() {
        // SAFETY: the cells are two neighbours of a lock that nobody else releases, as the caller promises.
        let release = |lock: *mut u8| unsafe { store_unless_marked::<200>(lock, 0, u8::MAX) };
        assert_neither_overlooks(release, || settle() == TOGETHER || heavy_barrier());
    }

    #[test]
    fn to_a_release_by_read_modify_write_a_fence_is_enough() {
        let release = |lock: *mut u8| {
            (0..200).for_each(|_| core::hint::spin_loop());
            // SAFETY: the cells are two neighbours of a lock that nobody else releases, as the caller
            // promises.
            unsafe { store_together(lock, 0, u8::MAX) }
        };
        assert_neither_overlooks(release, || true);
    }

    /// One thread calls `release` with a lock that is held, which nobody else releases; the other one leaves
    /// a mark, passes `barrier` and a fence, and looks.
    fn assert_neither_overlooks(release: impl Fn(*mut u8) -> bool + Sync, barrier: impl Fn() -> bool) {
        const ROUNDS: u32 = 3_000;
        let lock = Lock(Cell8::new(0), Cell8::new(0));
        let over = AtomicBool::new(false);
        let mut both = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    if lock.0.load(Acquire) == 1 {
                        let stored = release((&raw const lock.0).cast::<u8>().cast_mut());
                        lock.0.store(0, Release);
                        lock.1.store(if stored { 2 } else { 3 }, Release);
                    } else {
                        core::hint::spin_loop();
                    }
                }
            });
            let _over = Over(&over);
            for round in 0..ROUNDS {
                lock.1.store(0, Relaxed);
                lock.0.store(1, Release);
                for _ in 0..round % 256 {
                    core::hint::spin_loop();
                }
                // The mark comes late in some rounds: the release is over.
                if lock.1.compare_exchange(0, 1, Relaxed, Relaxed).is_ok() {
                    assert!(barrier(), "the barrier can be had");
                    fence(Ordering::SeqCst);
                    let held = lock.0.load(Relaxed) == 1;
                    let saw = lock.1.wait_until(Acquire, |word| word >= 2) == 3;
                    assert!(saw || !held, "round {round}: neither saw the other; a sleeper would sleep on");
                    both += u32::from(saw);
                } else {
                    lock.1.wait_until(Acquire, |word| word >= 2);
                }
            }
        });
        assert!(both > 0, "a mark was seen now and then");
    }
}
