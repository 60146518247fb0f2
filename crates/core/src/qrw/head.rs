//! Waiting at the head of the queue, which is holding the queue's lock.
use super::slow::is_over;
use super::word::{SLEEPER, WAITING, WRITER, Want};
use super::{QueuedRwLock, RwPolicy};
use crate::events::Event;
use crate::lock::RawLock;
use crate::machine::Atomic;
use crate::order::{Acquire, Relaxed};
use crate::platform::Platform;
use crate::rw::{RawRwLock, TooManyReaders};
use crate::tunables::Tunable;

impl<P: Platform, L: RawLock<Platform = P>, W: RwPolicy> QueuedRwLock<P, L, W> {
    /// Waits as the head until it is in, or the deadline has passed; whether it is in. It has cleared
    /// its no-barging flag then (I3). Polls that find the lock free and are in vain count, too: it sets the
    /// flag after as many of them.
    pub(super) fn wait_as_head(
        &self,
        want: Want,
        until: Option<&P::Deadline>,
    ) -> Result<bool, TooManyReaders> {
        let mut forbids = false;
        let mut races = P::tunable(Tunable::RwHeadPolls);
        loop {
            let Some(seen) = self.wait_for_turn(want, &mut forbids, until) else {
                self.allow_barging(forbids);
                return Ok(false);
            };
            if want.is_too_many(seen, Self::MOST_READERS) {
                self.allow_barging(forbids);
                return Err(TooManyReaders);
            }
            // ord: J10 pairs J4, J7: the sections of all holders before us that exclude us come before ours
            if self.count.compare_exchange(seen, want.gone(seen) & !WAITING, Acquire, Relaxed).is_ok() {
                return Ok(true);
            }
            races = races.saturating_sub(1);
            if races == 0 && !forbids {
                self.forbid_barging(&mut forbids);
            }
        }
    }

    /// Waits until the calling context holds the lock alone, or the deadline has passed: for other writers in
    /// the queue, for readers outside of it, so that they get in beside each other. By one context at a time.
    /// Whether it holds the lock.
    pub(super) fn acquire_write_after_readers(&self, until: Option<&P::Deadline>) -> bool {
        P::count(Event::RwWriteSlow);
        loop {
            if !self.enter_queue(until) {
                return false;
            }
            let mut forbids = false;
            let nobody_writes = self.wait_for_turn(Want::Upgradable, &mut forbids, until).is_some();
            self.allow_barging(forbids);
            self.queue.release();
            if !nobody_writes {
                return false;
            }
            if let Some(acquired) = self.wait_for_readers(until) {
                return acquired;
            }
        }
    }

    /// Waits until no reader is in, and goes in; `false` if the deadline has passed, `None` if a writer is
    /// in.
    fn wait_for_readers(&self, until: Option<&P::Deadline>) -> Option<bool> {
        loop {
            let polls = P::tunable(Tunable::RwHeadPolls);
            // ord: J32 alone: as J17, the compare-exchange decides
            let polled = self.count.wait_until_polls(polls, Relaxed, |count| Want::Write.can_go(count));
            let (Ok(seen) | Err(seen)) = polled;
            if Want::Write.can_go(seen) && self.go(seen, seen | WRITER) {
                return Some(true);
            }
            if !Want::Upgradable.can_go(seen) {
                return None;
            }
            if !Want::Write.can_go(seen) {
                if is_over::<P>(until) {
                    return Some(false);
                }
                self.halt_as_head(Want::Write, until);
            }
        }
    }

    /// Waits as the head for a word that it can go in with; `None` if the deadline has passed. It sets the
    /// no-barging flag before it halts: who is runnable finds that out and sleeps, too, so that there is a
    /// CPU for the holder that was preempted, and then for the head.
    fn wait_for_turn(&self, want: Want, forbids: &mut bool, until: Option<&P::Deadline>) -> Option<u32> {
        if !W::PASSING && !*forbids {
            self.forbid_barging(forbids);
        }
        loop {
            let polls = P::tunable(Tunable::RwHeadPolls);
            // ord: J17 alone: waits until going in has a chance, the compare-exchange decides
            let polled = self.count.wait_until_polls(polls, Relaxed, |count| want.can_go(count));
            let (Ok(seen) | Err(seen)) = polled;
            if want.can_go(seen) {
                return Some(seen);
            }
            if is_over::<P>(until) {
                return None;
            }
            if *forbids {
                self.halt_as_head(want, until);
            } else {
                self.forbid_barging(forbids);
            }
        }
    }

    /// Sets the no-barging flag: nobody passes any more.
    fn forbid_barging(&self, forbids: &mut bool) {
        // ord: J18 alone: a request; who does not see it passes once
        let before = self.count.fetch_add(WAITING, Relaxed);
        debug_assert_eq!(before & WAITING, 0, "one head at a time sets the flag, and clears it (I3)");
        *forbids = true;
    }

    fn allow_barging(&self, forbids: bool) {
        if forbids {
            // ord: J19 alone: as J18, who does not see it waits in the queue
            let before = self.count.fetch_add(WAITING.wrapping_neg(), Relaxed);
            debug_assert_ne!(before & WAITING, 0, "nobody else clears the head's flag (I3)");
        }
    }

    /// Halts until a release leaves us the lock, the deadline has passed, or for no reason (I4). There is
    /// room for one number: of the head, while a writer is in, or of a writer that waits for readers.
    fn halt_as_head(&self, want: Want, until: Option<&P::Deadline>) {
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
        // ord: J20 alone: whoever ends what we wait for changes the same cell, after us, and finds the code
        // (I4)
        } else if !want.can_go(before) && self.count.compare_exchange(before, seen, Relaxed, Relaxed).is_ok()
        {
            P::count(Event::RwHeadHalt);
            match until {
                None => P::halt_while(&self.count, seen),
                Some(until) => P::halt_while_until(&self.count, seen, until),
            }
            // ord: J21 alone: whoever kicks us once too often is harmless
            let before = self.count.fetch_add(code.wrapping_neg(), Relaxed);
            debug_assert_eq!(before & SLEEPER, code, "nobody else touches the sleeper's number (I3)");
        }
    }
}
