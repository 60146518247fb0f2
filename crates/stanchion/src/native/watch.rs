//! What the calling thread did in the slow paths of [`Observed`](super::Observed) locks: for whoever looks
//! before and after an operation on a lock, and knows by that what happened at this one.
use super::Native;
use crate::futex::wait_and_look;
use crate::os;
use crate::rows::events::STEALS;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering};
use stanchion_core::Event;
use stanchion_core::nodes::WaitNode;
use std::sync::OnceLock;

/// Counts of one thread; they wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Locks taken ahead of others that waited in a queue.
    pub steals: u32,
    /// Halts, also those that found a kick and did not sleep.
    pub parks: u32,
    /// Kicks of other threads.
    pub kicks: u32,
}

impl Seen {
    /// What happened since `before`.
    #[must_use]
    #[inline(always)]
    pub fn since(self, before: Self) -> Self {
        Self {
            steals: self.steals.wrapping_sub(before.steals),
            parks: self.parks.wrapping_sub(before.parks),
            kicks: self.kicks.wrapping_sub(before.kicks),
        }
    }
}

static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    static SEEN: Cell<Seen> = const { Cell::new(Seen { steals: 0, parks: 0, kicks: 0 }) };
}

/// Counts from now on, in all threads.
pub fn start() {
    // ord: F1 alone: a statistic orders nothing
    ON.store(true, Ordering::Relaxed);
}

/// What the calling thread has done so far.
#[inline(always)]
pub fn seen() -> Seen {
    SEEN.with(Cell::get)
}

/// The address at which the calling thread keeps it, for whoever has a quicker way to thread-local storage.
/// It is the thread's alone.
pub fn place() -> *const Seen {
    SEEN.with(|cell| cell.as_ptr().cast_const())
}

#[inline(always)]
fn change(by: impl FnOnce(&mut Seen)) {
    // ord: F2 alone: a statistic orders nothing
    if ON.load(Ordering::Relaxed) {
        SEEN.with(|cell| {
            let mut seen = cell.get();
            by(&mut seen);
            cell.set(seen);
        });
    }
}

/// A lock event, of which only those that are steals are of interest.
#[inline(always)]
pub(super) fn count(event: Event, times: u32) {
    if STEALS.iter().any(|steal| steal.index() == event.index()) {
        change(|seen| seen.steals = seen.steals.wrapping_add(times));
    }
}

/// The calling thread halts.
#[inline(always)]
pub(super) fn parked() {
    change(|seen| seen.parks = seen.parks.wrapping_add(1));
}

/// The calling thread kicks another.
#[inline(always)]
pub(super) fn kicked() {
    change(|seen| seen.kicks = seen.kicks.wrapping_add(1));
}

/// What a thread does now and then that sleeps at a lock; it is given the lock's address.
static LOOK: OnceLock<fn(usize)> = OnceLock::new();

/// A thread that has slept for a second in the queue of a default lock of the kind
/// [`Looking`](super::Looking) calls `look` with the lock's address. It does
/// so again each time that it has slept as long again, and once a minute in the end. It stays in the queue
/// meanwhile.
pub fn look_around(look: fn(usize)) {
    let _ = LOOK.set(look);
}

/// As [`Machine::sleep`](stanchion_core::Machine::sleep) without a deadline.
pub(super) fn sleep(node: &WaitNode<Native>, value: u32) {
    let cell = &node.cell().0;
    match LOOK.get() {
        None => os::wait(cell, value, None),
        Some(look) => wait_and_look(cell, value, None, || look(node.report().lock)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::{Native, Observed};
    use core::sync::atomic::AtomicBool;
    use core::time::Duration;
    use stanchion_core::{ConstLock, RawLock};
    use stanchion_family::PvQSpinLock;

    /// A holder may release between the mark of a sleeper and its sleep: such a round says nothing, and there
    /// is another.
    #[test]
    fn a_thread_that_sleeps_at_a_lock_sees_a_park_and_its_holder_a_kick() {
        start();
        let lock: PvQSpinLock<Native<Observed>> = ConstLock::NEW;
        let seen_both = (0..200_u64).any(|round| {
            let slept = AtomicBool::new(false);
            let mut kicked = false;
            std::thread::scope(|scope| {
                lock.acquire();
                scope.spawn(|| {
                    let before = seen();
                    lock.acquire();
                    slept.store(seen().since(before).parks > 0, Ordering::Relaxed);
                    lock.release();
                });
                let before = seen();
                std::thread::sleep(Duration::from_millis(1 + round));
                lock.release();
                kicked = seen().since(before) == Seen { steals: 0, parks: 0, kicks: 1 };
            });
            kicked && slept.load(Ordering::Relaxed)
        });
        assert!(seen_both);
    }
}
