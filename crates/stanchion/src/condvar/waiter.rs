//! One thread that waits for a condition, and how far its wait has come.
//!
//! # The life of a waiter
//!
//! | from | to | by |
//! |---|---|---|
//! | idle | waiting | the waiter lists itself, while it still holds the mutex |
//! | waiting, poked | chosen | a notifier, which takes it off the list |
//! | chosen | told | the notifier; or the one who releases the mutex that the waiter was relayed to ([`Relay`](super::Relay)) |
//! | waiting | poked | somebody who wants it to look around (a cancellation) |
//! | waiting | looking | the waiter, which looks at the queue that it stands in; nobody chooses it meanwhile |
//! | looking | waiting | the waiter, some instructions later |
//! | waiting, poked | leaving | the waiter, which then takes itself off the list |
//! | told, leaving | idle | the waiter, when it is done |
//!
//! The numbers of invariants are those of [`WaitQueue`](super::WaitQueue).
use crate::deadline;
use crate::futex::wake_one;
use crate::os;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;

pub(super) const IDLE: u32 = 0;
pub(super) const WAITING: u32 = 1;
pub(super) const POKED: u32 = 2;
const CHOSEN: u32 = 3;
pub(super) const TOLD: u32 = 4;
pub(super) const LEAVING: u32 = 5;
const LOOKING: u32 = 6;

/// How often one yields to a waiter that is about to be done before it sleeps, and for how long at a time: as
/// in the core's `wait_briefly`.
const YIELDS: u32 = 8;
const DOZE: Duration = Duration::from_micros(50);

/// Waits for a waiter that is done in a few instructions. It may be less urgent than we are: then yields get
/// it no CPU.
pub(super) struct Patience(u32);

impl Patience {
    pub(super) const fn new() -> Self {
        Self(YIELDS)
    }

    pub(super) fn wait(&mut self) {
        if self.0 > 0 {
            self.0 -= 1;
            os::yield_slice();
        } else {
            deadline::sleep(DOZE);
        }
    }
}

/// What one thread needs to wait for a condition. All-zero is a valid one.
pub struct Waiter {
    pub(super) state: AtomicU32,
    /// It was poked: it looks around each time that it begins to wait, until the poke is taken.
    pub(super) poked: AtomicBool,
    /// The real-time priority of its thread when it was listed.
    pub(super) priority: Cell<u8>,
    /// The CPU on which its thread listed it, then that of who told it, if that is at hand.
    pub(super) home: Cell<u16>,
    pub(super) next: Cell<*const Waiter>,
    pub(super) previous: Cell<*const Waiter>,
    /// The mutex that it will acquire next, as the one who waits names it.
    pub(super) mutex: Cell<*const ()>,
}

// SAFETY: the links, the priority, the home and the mutex are touched under a guard (IL1), or by the waiter's
// own thread while nobody else knows of it (IL4).
unsafe impl Sync for Waiter {}

impl Waiter {
    /// One that does not wait.
    pub const fn new() -> Self {
        Self {
            state: AtomicU32::new(IDLE),
            poked: AtomicBool::new(false),
            priority: Cell::new(0),
            home: Cell::new(0),
            next: Cell::new(ptr::null()),
            previous: Cell::new(ptr::null()),
            mutex: Cell::new(ptr::null()),
        }
    }

    /// Makes the waiter look around: now if it waits, and whenever it begins to wait until the poke is taken.
    pub fn poke(&self) {
        // ord: L19 pairs L17, L23, CW1: a waiter that we do not see waiting sees that it was poked
        self.poked.store(true, Ordering::SeqCst);
        // ord: L12 pairs L13, L17, L23: what the poke is about was there before
        if self.state.compare_exchange(WAITING, POKED, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            wake_one(&raw const self.state);
        }
    }

    /// Takes the poke: the waiter does not look around any more. For its own thread, while it does not wait.
    /// Whether it was poked.
    pub fn take_poke(&self) -> bool {
        // ord: CW1 pairs L19: what the poke is about was there before; what its thread reads next is read
        // after
        self.poked.swap(false, Ordering::SeqCst)
    }

    /// Whether its thread was on the calling thread's CPU when it was listed: it may take that CPU from the
    /// calling thread when it wakes. Once it was told: whether it took the CPU of who told it. Yes where a
    /// system call would have to tell.
    ///
    /// # Safety
    ///
    /// Nobody may list or tell the waiter meanwhile.
    pub unsafe fn is_at_home(&self) -> bool {
        os::cpu().is_none_or(|cpu| self.home.get() == cpu as u16)
    }

    /// Notes on which CPU the calling thread is.
    pub(super) fn note_home(&self) {
        self.home.set(os::cpu().unwrap_or_default() as u16);
    }

    /// The mutex that it named when it was listed.
    ///
    /// # Safety
    ///
    /// As for [`is_at_home`](Self::is_at_home).
    pub unsafe fn mutex(&self) -> *const () {
        self.mutex.get()
    }

    /// Ends the wait of one that was chosen. Nothing of it may be touched any more.
    ///
    /// # Safety
    ///
    /// The waiter must have been chosen, and told by nobody.
    pub(super) unsafe fn tell(waiter: NonNull<Self>) {
        // SAFETY: one that was chosen waits until it is told, so it exists now.
        let waiter = unsafe { waiter.as_ref() };
        waiter.note_home();
        let (state, address) = (&waiter.state, &raw const waiter.state);
        // ord: L3 pairs L1: what we did comes before what the waiter does next
        let before = state.swap(TOLD, Ordering::Release);
        debug_assert_eq!(before, CHOSEN, "told a waiter that was not chosen");
        wake_one(address);
    }

    /// Does something for which the queue has to exist, if the calling thread waits in it still.
    pub(super) fn while_listed(&self, does: impl FnOnce()) {
        // ord: L21 alone: from now on only this thread changes it
        if self.state.compare_exchange(WAITING, LOOKING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            does();
            // ord: L22 pairs L4: what was done comes before whoever chooses us lets the queue go
            self.state.store(WAITING, Ordering::SeqCst);
            // ord: L23 pairs L12, L19: as L17, we see that we were poked, or the poke sees us waiting
            if self.poked.load(Ordering::SeqCst) {
                self.poke();
            }
        }
    }

    /// Takes the waiter for a notifier; whether it did.
    pub(super) fn choose(&self) -> bool {
        let (mut state, mut patience) = (WAITING, Patience::new());
        loop {
            // ord: L4 pairs L22: a look of the waiter's is over; the guard orders the rest (L10, L11)
            match self.state.compare_exchange(state, CHOSEN, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now @ (WAITING | POKED)) => state = now,
                Err(LOOKING) => patience.wait(),
                Err(_) => return false,
            }
        }
    }
}

impl Default for Waiter {
    fn default() -> Self {
        Self::new()
    }
}
