//! Who waits for a condition: those of the highest scheduling priority first, and among equals in the order
//! in which they came.
//!
//! # Invariants
//!
//! - **IL1** The list, and the links of the waiters in it, are touched by the holder of `guard` only. Who
//!   sees the list empty and then the guard free knows that nobody touches it.
//! - **IL2** A waiter is in the list exactly while it is waiting, looking, poked or leaving. So one that was
//!   chosen touches the list no more. Who notifies everybody waits for those that are leaving, and may
//!   destroy it at once.
//! - **IL3** Only a waiter that was in the list before the notifier took `guard` is chosen, in the order of
//!   the list: no wake-up is lost, or taken by somebody who came later.
//! - **IL4** A waiter's storage belongs to its thread and is touched by others while it is in a list or
//!   chosen only, and by a poke, which leaves a mark in any and changes the state of a waiting one only.
//!
//! ## Memory orderings
//!
//! The list is guarded by a lock (L10 with L11). What the notifier did before it told a waiter comes before
//! what that does next (IL3 with IL1).
use super::ring::{self, Last};
use super::waiter::{IDLE, LEAVING, POKED, Patience, TOLD, WAITING, Waiter};
use crate::deadline::Deadline;
use crate::futex::wait_and_look;
use crate::guard::Guard;
use crate::os;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Somebody notified this waiter.
    Notified,
    /// The deadline passed first.
    TimedOut,
    /// It was poked, and did not want to wait on.
    Interrupted,
}

/// What a queue shows beside itself, to whom it does not know: that somebody waits. `()` shows nothing.
pub trait Sign: Sync {
    /// Whether waiters [`look`](Self::look).
    const IS_LOOKED_AT: bool;

    /// The list is not empty any more. Its guard is held.
    fn put_up(&self);

    /// The list is empty, and may have been before. Its guard is held.
    fn take_down(&self);

    /// Waiters were taken out and others are left; or one has slept for a second, or as long again, at most a
    /// minute. The queue exists meanwhile.
    fn look(&self);
}

impl Sign for () {
    const IS_LOOKED_AT: bool = false;
    fn put_up(&self) {}
    fn take_down(&self) {}
    fn look(&self) {}
}

/// The list of those who wait for one condition. All-zero is a valid one.
#[repr(C)]
pub struct WaitQueue<S = ()> {
    /// Of those who wait.
    last: Last,
    guard: Guard,
    sign: S,
}

impl WaitQueue {
    /// One in which nobody waits.
    pub const fn new() -> Self {
        Self { last: Last::new(), guard: Guard::new(), sign: () }
    }
}

impl<S: Sign> WaitQueue<S> {
    /// What it shows.
    pub fn sign(&self) -> &S {
        &self.sign
    }

    /// Lists the calling thread. To be called while it holds the mutex of the condition, so that nobody can
    /// change that in between.
    ///
    /// # Safety
    ///
    /// `waiter` must be in no list, and stay where it is until [`sleep`](Self::sleep) of this queue, which
    /// must follow, has returned.
    pub unsafe fn list(&self, waiter: &Waiter, mutex: *const ()) {
        // SAFETY: as the caller promises.
        unsafe { self.list_if(waiter, mutex, |_| true) };
    }

    /// The same if nobody waits who named another mutex; whether it was listed.
    ///
    /// # Safety
    ///
    /// As for [`list`](Self::list). One that was not listed does not sleep.
    #[must_use]
    pub unsafe fn list_with_same(&self, waiter: &Waiter, mutex: *const ()) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.list_if(waiter, mutex, |other| ptr::eq(other.mutex.get(), mutex)) }
    }

    /// Lists the waiter if the last one in the list, if there is one, is as it should be.
    ///
    /// # Safety
    ///
    /// As for [`list`](Self::list).
    unsafe fn list_if(&self, waiter: &Waiter, mutex: *const (), fits: impl Fn(&Waiter) -> bool) -> bool {
        waiter.mutex.set(mutex);
        waiter.priority.set(os::priority());
        waiter.note_home();
        self.guard.acquire();
        // SAFETY: the guard is held, and those in the list exist (IL1, IL2).
        if unsafe { self.last.get().as_ref() }.is_some_and(|last| !fits(last)) {
            self.guard.release();
            return false;
        }
        // ord: L5 alone: the guard publishes it (L11); the fence of L17 orders it against a poke
        waiter.state.store(WAITING, Ordering::SeqCst);
        // ord: L17 pairs L12, L19: either we see that we were poked, or the poke sees us waiting
        if waiter.poked.load(Ordering::SeqCst) {
            waiter.poke();
        }
        if self.last.get().is_null() {
            self.sign.put_up();
        }
        // SAFETY: the guard is held (IL1), and the caller promises that the waiter is in no list and stays.
        unsafe { ring::insert(&self.last, waiter) };
        self.guard.release();
        true
    }

    /// Releases the guard, under which waiters may have been taken out.
    fn release(&self) {
        if self.last.get().is_null() {
            self.sign.take_down();
        } else {
            self.sign.look();
        }
        self.guard.release();
    }

    /// As `os::wait`, for one that waits.
    fn doze(&self, waiter: &Waiter, deadline: Option<&Deadline>) -> bool {
        if S::IS_LOOKED_AT {
            wait_and_look(&waiter.state, WAITING, deadline, || waiter.while_listed(|| self.sign.look()))
        } else {
            os::wait(&waiter.state, WAITING, deadline)
        }
    }

    /// Waits until the calling thread, which was listed, is notified, or the deadline has passed, or it was
    /// poked and `leaves` says so.
    ///
    /// The caller must not hold the mutex, and acquires it when this returns.
    pub fn sleep(
        &self,
        waiter: &Waiter,
        deadline: Option<&Deadline>,
        leaves: impl FnMut() -> bool,
    ) -> Ending {
        self.sleep_in_relay(waiter, deadline, leaves, || {})
    }

    /// As [`sleep`](Self::sleep), for a waiter that may be left in a relay. It calls `helps` there when it
    /// has slept for a second, again each time that it has slept as long again, and once a minute in the end:
    /// who was woken before it may be far from releasing the mutex, or stopped.
    pub fn sleep_in_relay(
        &self,
        waiter: &Waiter,
        deadline: Option<&Deadline>,
        mut leaves: impl FnMut() -> bool,
        mut helps: impl FnMut(),
    ) -> Ending {
        loop {
            // ord: L1 pairs L3: what the notifier did comes before what we do next
            // ord: L13 pairs L12: as far as a poke is concerned
            let state = waiter.state.load(Ordering::Acquire);
            let ending = match state {
                TOLD => {
                    // ord: L6 alone: nobody changes one that was told (L4)
                    waiter.state.store(IDLE, Ordering::Relaxed);
                    return Ending::Notified;
                }
                POKED if leaves() => Ending::Interrupted,
                POKED => {
                    // ord: L7 alone: back to waiting, which orders nothing
                    let _ =
                        waiter.state.compare_exchange(POKED, WAITING, Ordering::Relaxed, Ordering::Relaxed);
                    continue;
                }
                WAITING if !self.doze(waiter, deadline) => Ending::TimedOut,
                WAITING => continue,
                chosen => {
                    wait_and_look(&waiter.state, chosen, None, &mut helps);
                    continue;
                }
            };
            // ord: L8 alone: from now on only this thread changes it; the guard orders the rest
            if waiter.state.compare_exchange(state, LEAVING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                // SAFETY: it is in the list still (IL2).
                unsafe { self.leave(waiter) };
                return ending;
            }
        }
    }

    /// Takes out a waiter that is leaving.
    ///
    /// # Safety
    ///
    /// It must be in the list.
    unsafe fn leave(&self, waiter: &Waiter) {
        self.guard.acquire();
        // SAFETY: the guard is held (IL1), and the caller promises the rest.
        unsafe { ring::remove(&self.last, waiter) };
        // ord: L9 alone: out of the list, nobody else looks at it (L4)
        waiter.state.store(IDLE, Ordering::Relaxed);
        self.release();
    }

    /// Notifies the first `most` waiters. `relay` may take a waiter, whose mutex is in its hands, to tell it
    /// later: it returns whether it did. How many were notified.
    ///
    /// The queue is not touched once the last of them was told; nor, if `most` is everybody, by whoever has
    /// just left it at its deadline.
    pub fn notify(&self, most: usize, mut relay: impl FnMut(NonNull<Waiter>) -> bool) -> usize {
        // Who was listed before the mutex was released is seen by whoever has acquired that since.
        if self.last.get().is_null() && self.guard.is_free() {
            return 0;
        }
        let chosen = Last::new();
        let (mut count, mut some_leave) = (0, false);
        self.guard.acquire();
        // SAFETY: the guard is held (IL1); those in the list exist (IL2), and those chosen until they are
        // told.
        unsafe {
            ring::each(&self.last, |waiter| {
                // One that leaves takes itself off.
                if waiter.choose() {
                    ring::remove(&self.last, waiter);
                    ring::insert(&chosen, waiter);
                    count += 1;
                } else {
                    some_leave = true;
                }
                count < most
            });
        }
        self.release();
        if some_leave && most == usize::MAX {
            let mut patience = Patience::new();
            while self.counts().1 > 0 {
                patience.wait();
            }
        }
        // SAFETY: those chosen are in no list but ours, and exist until they are told.
        unsafe {
            while let Some(waiter) = ring::pop(&chosen) {
                if !relay(waiter) {
                    Waiter::tell(waiter);
                }
            }
        }
        count
    }

    /// Forgets who waits: they will not be notified.
    ///
    /// # Safety
    ///
    /// Nobody may use the queue meanwhile, and those who waited must not exist: in the child of a `fork` the
    /// parent's other threads do not.
    pub unsafe fn forget(&self) {
        self.guard.forget();
        self.last.set(ptr::null());
        self.sign.take_down();
    }

    /// Whether nobody waits, once those that are leaving have left. For the one who is about to destroy the
    /// queue.
    pub fn is_quiet(&self) -> bool {
        let mut patience = Patience::new();
        loop {
            match self.counts() {
                (0, 0) => return true,
                (0, _) => patience.wait(),
                _ => return false,
            }
        }
    }

    /// How many wait, and how many are leaving.
    fn counts(&self) -> (usize, usize) {
        let (mut waiting, mut leaving) = (0, 0);
        self.guard.acquire();
        // SAFETY: the guard is held; those in the list exist (IL1, IL2).
        unsafe {
            ring::each(&self.last, |waiter| {
                // ord: L14 alone: whoever leaves is found out of the list, under the guard, in the end
                match waiter.state.load(Ordering::Relaxed) {
                    LEAVING => leaving += 1,
                    _ => waiting += 1,
                }
                true
            });
        }
        self.guard.release();
        (waiting, leaving)
    }
}

impl Default for WaitQueue {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;
    use core::time::Duration;
    use std::thread;

    /// Whoever notified everybody may destroy the queue: nobody touches it then.
    #[test]
    fn who_notifies_everybody_waits_for_those_that_are_leaving() {
        let (queue, waiter, is_done) = (WaitQueue::new(), Waiter::new(), AtomicBool::new(false));
        // SAFETY: the waiter stays until it has left.
        unsafe { queue.list(&waiter, ptr::null()) };
        waiter.state.store(LEAVING, Ordering::Relaxed); // its time is over, and it has no CPU
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(queue.notify(usize::MAX, |_| false), 0);
                is_done.store(true, Ordering::Relaxed);
            });
            thread::sleep(Duration::from_millis(20));
            assert!(!is_done.load(Ordering::Relaxed), "one is about to touch the queue");
            // SAFETY: it was listed, and taken out by nobody.
            unsafe { queue.leave(&waiter) };
        });
        assert!(is_done.load(Ordering::Relaxed));
        assert_eq!(queue.notify(usize::MAX, |_| false), 0);
    }
}
