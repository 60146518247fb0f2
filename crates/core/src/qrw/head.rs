//! Waiting at the head of the queue, which is holding the queue's lock.
use super::word::{SLEEPER, WAITING, WRITER, Want};
use super::{QueuedRwLock, RwPolicy};
use crate::events::Event;
use crate::lock::RawLock;
use crate::order::{Acquire, Relaxed};
use crate::platform::{Atomic, Platform};
use crate::rw::{RawRwLock, TooManyReaders};
use crate::tunables::Tunable;

impl<P: Platform, L: RawLock<Platform = P>, W: RwPolicy> QueuedRwLock<P, L, W> {
    /// Waits as the head until it is in. The `waiting` mark is gone then (I3). Polls that find it free and are in vain count, too: it objects
    /// after as many of them.
    pub(super) fn wait_as_head(&self, want: Want) -> Result<(), TooManyReaders> {
        let mut objects = false;
        let mut races = P::tunable(Tunable::RwHeadPolls);
        loop {
            let seen = self.wait_for_turn(want, &mut objects);
            if want.is_too_many(seen, Self::MOST_READERS) {
                self.withdraw(objects);
                return Err(TooManyReaders);
            }
            // ord: J10 pairs J4, J7: the sections of all holders before us that exclude us come before ours
            if self.count.compare_exchange(seen, want.gone(seen) & !WAITING, Acquire, Relaxed).is_ok() {
                return Ok(());
            }
            races = races.saturating_sub(1);
            if races == 0 && !objects {
                self.object(&mut objects);
            }
        }
    }

    /// Waits until the calling context holds the lock alone: for other writers in the queue, for readers outside of it, so that they get in beside
    /// each other. By one context at a time.
    pub(super) fn acquire_write_after_readers(&self) {
        P::count(Event::RwWriteSlow);
        loop {
            self.queue.acquire();
            let mut objects = false;
            self.wait_for_turn(Want::Upgradable, &mut objects); // nobody writes
            self.withdraw(objects);
            self.queue.release();
            if self.wait_for_readers() {
                return;
            }
        }
    }

    /// Waits until no reader is in; `false` if a writer is.
    fn wait_for_readers(&self) -> bool {
        loop {
            let polls = P::tunable(Tunable::RwHeadPolls);
            // ord: J32 alone: as J17, the compare-exchange decides
            let polled = self.count.wait_until_polls(polls, Relaxed, |count| Want::Write.can_go(count));
            let (Ok(seen) | Err(seen)) = polled;
            if Want::Write.can_go(seen) && self.go(seen, seen | WRITER) {
                return true;
            }
            if !Want::Upgradable.can_go(seen) {
                return false;
            }
            if !Want::Write.can_go(seen) {
                self.halt_as_head(Want::Write);
            }
        }
    }

    /// Waits as the head for a word that it can go in with. It objects before it halts: who is runnable finds that out and sleeps, too,
    /// so that there is a CPU for the holder that was preempted, and then for the head.
    fn wait_for_turn(&self, want: Want, objects: &mut bool) -> u32 {
        if !W::PATIENT && !*objects {
            self.object(objects);
        }
        loop {
            let polls = P::tunable(Tunable::RwHeadPolls);
            // ord: J17 alone: waits until going in has a chance, the compare-exchange decides
            let polled = self.count.wait_until_polls(polls, Relaxed, |count| want.can_go(count));
            let (Ok(seen) | Err(seen)) = polled;
            if want.can_go(seen) {
                return seen;
            }
            if *objects {
                self.halt_as_head(want);
            } else {
                self.object(objects);
            }
        }
    }

    /// Lets nobody pass any more.
    fn object(&self, objects: &mut bool) {
        // ord: J18 alone: a request; who does not see it passes once
        let before = self.count.fetch_add(WAITING, Relaxed);
        debug_assert_eq!(before & WAITING, 0, "one head at a time objects, and takes it back (I3)");
        *objects = true;
    }

    fn withdraw(&self, objects: bool) {
        if objects {
            // ord: J19 alone: as J18, who does not see it waits in the queue
            self.count.fetch_add(WAITING.wrapping_neg(), Relaxed);
        }
    }

    /// Halts until a release leaves us the lock, or for no reason (I4). There is room for one number: of the head, while a writer is in, or of a
    /// writer that waits for readers.
    fn halt_as_head(&self, want: Want) {
        let me = if W::HALTS && P::paravirt() { P::this_cpu() } else { None };
        let Some(me) = me else {
            if W::HALTS {
                P::yield_slice();
            }
            return;
        };
        let code = u32::from(me.index()) + 1;
        // ord: J34 alone: the compare-exchange decides
        let before = self.count.load(Relaxed);
        let seen = before + code;
        if before & SLEEPER != 0 {
            P::yield_slice(); // of the head and a writer that waits for readers, one has been kicked
        // ord: J20 alone: whoever ends what we wait for changes the same cell, after us, and finds the code (I4)
        } else if !want.can_go(before) && self.count.compare_exchange(before, seen, Relaxed, Relaxed).is_ok()
        {
            P::count(Event::RwHeadHalt);
            P::halt_while(&self.count, seen);
            // ord: J21 alone: whoever kicks us once too often is harmless
            self.count.fetch_add(code.wrapping_neg(), Relaxed);
        }
    }
}
