//! `fork()` while a thread blocks on a lock whose releases look for those that say so: in the child, threads
//! that block on a lock at the same address are woken.
#![cfg(feature = "std")]

#[path = "support/child.rs"]
mod child;
#[path = "support/sleeper.rs"]
mod sleeper;
#[path = "support/suppressions.rs"]
mod suppressions;

use child::{Step, assert_child_succeeds, eventually, skipped};
use core::cell::UnsafeCell;
use sleeper::start_sleeper;
use stanchion::lock::XenPvLock;
use stanchion::lock_api::Mutex;

struct Place(UnsafeCell<Mutex<XenPvLock, ()>>);

// SAFETY: the lock is shared by reference, but where the child replaces it, alone.
unsafe impl Sync for Place {}

static PLACE: Place = Place(UnsafeCell::new(Mutex::new(())));

/// Runs `meanwhile` while a thread blocks on the lock, which ends then. Steps from `first` on.
fn with_a_sleeper(first: i32, meanwhile: impl FnOnce()) -> Step {
    // SAFETY: nobody replaces the lock before this thread, alone, forks or returns.
    let lock: &'static Mutex<_, _> = unsafe { &*PLACE.0.get() };
    let held = lock.lock();
    let thread = start_sleeper(first, || drop(lock.lock()))?;
    meanwhile();
    drop(held);
    eventually(first + 3, || thread.is_finished())
}

#[test]
fn a_release_wakes_threads_of_the_child_only() {
    if skipped() {
        return;
    }
    let slept = with_a_sleeper(1, || {
        assert_child_succeeds(|| {
            // SAFETY: the child has one thread, and uses the old lock no more.
            unsafe { PLACE.0.get().write(Mutex::new(())) };
            with_a_sleeper(1, || ())
        });
    });
    assert_eq!(slept, Ok(()), "the step of the parent that failed");
}
