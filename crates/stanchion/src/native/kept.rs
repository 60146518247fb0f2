//! What a thread gave a lock's byte last: see [`Machine::keep`](stanchion_core::Machine::keep).
//!
//! On x86-64 a load of a byte waits for the locked instruction before it that wrote it, and the next locked
//! instruction waits for the store of what was loaded. An owner that releases at once so pays 13.4 ns for a
//! lock in place of 8.3 (`docs/runs/2026-12-01-release-reads-nothing`). In a shared library the thread-local
//! cell is a call away, so kinds that are for those keep nothing.
use super::atomics::Cell8;
use core::cell::Cell;

thread_local! {
    /// The address of the byte, and the value. Constant and without a destructor: it is safe in a signal
    /// handler, and while the thread exits. A handler may leave a pair of halves: an address and another
    /// byte's value, which is as good a guess as an old one.
    static KEPT: Cell<(usize, u8)> = const { Cell::new((0, 0)) };
}

#[inline(always)]
pub(super) fn keep(cell: &Cell8, value: u8) {
    // Unlike `set` and `get`, this is inlined wherever it is called from.
    let _ = KEPT.try_with(|kept| kept.set((core::ptr::from_ref(cell).addr(), value)));
}

#[inline(always)]
pub(super) fn kept(cell: &Cell8) -> Option<u8> {
    let (address, value) = KEPT.try_with(Cell::get).ok()?;
    (address == core::ptr::from_ref(cell).addr()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::Native;
    use stanchion_core::{Atomic, RawLock, StanchionLock};
    use std::sync::mpsc;

    #[test]
    fn the_last_value_is_kept_and_whose_it_is() {
        let (one, other) = (Cell8::new(0), Cell8::new(0));
        keep(&one, 3);
        assert_eq!((kept(&one), kept(&other)), (Some(3), None));
        keep(&other, 5);
        assert_eq!((kept(&one), kept(&other)), (None, Some(5)));
    }

    /// A thread to which a lock is passed has kept what it was when that thread had it itself.
    #[test]
    fn a_lock_that_is_passed_on_is_free_after_its_release() {
        static LOCK: StanchionLock<Native> = <StanchionLock<Native> as stanchion_core::ConstLock>::NEW;
        let (pass, is_passed) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let other = std::thread::spawn(move || {
            LOCK.acquire();
            LOCK.release();
            ready.send(()).expect("somebody waits");
            is_passed.recv().expect("somebody passes it");
            LOCK.release();
        });
        is_ready.recv().expect("it has had the lock");
        for _ in 0..3 {
            LOCK.acquire();
            LOCK.release();
        }
        LOCK.acquire();
        pass.send(()).expect("it waits");
        other.join().expect("no panic");
        assert!(LOCK.is_unused());
        assert!(LOCK.try_acquire() && !LOCK.try_acquire());
        LOCK.release();
        assert!(LOCK.is_unused());
    }
}
