//! Waiting at the head of the queue, which is holding the queue's lock.
use super::slow::is_over;
use super::word::{READER, SLEEPER, UPGRADABLE, WAITING, WRITER, Want, readers};
use super::{QueuedRwLock, RwPolicy};
use crate::events::Event;
use crate::lock::RawLock;
use crate::machine::Atomic;
use crate::order::{Acquire, Relaxed};
use crate::platform::Platform;
use crate::rw::{RawRwLock, TooManyReaders};
use crate::tunables::Tunable;

impl<P: Platform, W: RwPolicy<P>> QueuedRwLock<P, W> {
    /// Waits as the head until it reads, or the deadline has passed; whether it reads. Writers may pass it
    /// for a while. Then it reserves its place: it counts itself while a writer is in, and is in once that
    /// one leaves (I2).
    pub(super) fn read_as_head(&self, until: Option<&P::Deadline>) -> Result<bool, TooManyReaders> {
        if !W::STRICT && self.read_if_possible()? {
            return Ok(true);
        }
        loop {
            // ord: J18 pairs J4: the last writer's section comes before ours
            let before = self.count.fetch_add(READER, Acquire);
            if readers(before) >= Self::MOST_READERS {
                self.release_read();
                return Err(TooManyReaders);
            }
            if Want::Read.can_go(before) {
                return Ok(true);
            }
            if before & UPGRADABLE == 0 {
                return Ok(self.wait_with_reservation(until));
            }
            self.release_read(); // whoever upgrades waits for all readers to leave
            if !self.outlast_upgrade(until) {
                return Ok(false);
            }
        }
    }

    /// Waits as the head until no upgrade waits for readers; whether the deadline has not passed before.
    fn outlast_upgrade(&self, until: Option<&P::Deadline>) -> bool {
        // Where all queue, nobody passes meanwhile, to upgrade in turn; the head may say so (I3).
        if W::STRICT {
            self.forbid_barging();
        }
        let is_over = self.wait_as_head(Want::Reserve, until).is_some();
        if W::STRICT {
            self.allow_barging();
        }
        is_over
    }

    /// Goes in as a reader if that is possible at some moment while it polls. Whether it did.
    fn read_if_possible(&self) -> Result<bool, TooManyReaders> {
        for _ in 0..P::tunable(Tunable::RwHeadPolls) {
            let polls = P::tunable(Tunable::RwHeadPolls);
            // ord: J17 alone: waits until going in has a chance, the compare-exchange decides
            let polled = self.count.wait_until_polls(polls, Relaxed, |count| Want::Read.can_go(count));
            let Ok(seen) = polled else { break };
            if Want::Read.is_too_many(seen, Self::MOST_READERS) {
                return Err(TooManyReaders);
            }
            if self.go(seen, Want::Read.gone(seen)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for the writer to leave, at whose time the calling context was counted. A later one that
    /// upgrades waits for the calling context. Whether it reads; else the deadline has passed.
    fn wait_with_reservation(&self, until: Option<&P::Deadline>) -> bool {
        loop {
            let polls = P::tunable(Tunable::RwHeadPolls);
            // ord: J10 pairs J4: the last writer's section comes before ours
            let polled = self.count.wait_until_polls(polls, Acquire, |count| Want::ReadAgain.can_go(count));
            if polled.is_ok() {
                return true;
            }
            if is_over::<P>(until) {
                self.release_read();
                return false;
            }
            self.halt_as_head(Want::ReadAgain, until);
        }
    }

    /// Waits as the head, for which nobody passes any more, until it holds the lock, or the deadline has
    /// passed; whether it holds the lock. Takes the no-barging flag back if it does (I3).
    pub(super) fn wait_for_all_to_leave(&self, want: Want, until: Option<&P::Deadline>) -> bool {
        loop {
            let Some(seen) = self.wait_as_head(want, until) else { return false };
            // ord: J33 pairs J4, J7: the sections of all holders before us that exclude us come before ours
            if self.count.compare_exchange(seen, want.gone(seen) & !WAITING, Acquire, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// Waits until the calling context holds the lock alone, or the deadline has passed: for other writers in
    /// the queue, for readers outside of it, so that they get in beside each other. By the holder of
    /// `writers`. Whether it holds the lock.
    pub(super) fn acquire_write_after_readers(&self, until: Option<&P::Deadline>) -> bool {
        P::count(Event::RwWriteSlow);
        loop {
            if !self.enter_queue(until) {
                return false;
            }
            self.forbid_barging();
            let nobody_writes = self.wait_as_head(Want::Upgradable, until).is_some();
            self.allow_barging();
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

    /// Waits for a word that it can go in with; `None` if the deadline has passed.
    fn wait_as_head(&self, want: Want, until: Option<&P::Deadline>) -> Option<u32> {
        let mut halts = 0;
        loop {
            let polls = P::tunable(Tunable::RwHeadPolls);
            // ord: J36 alone: as J17, the compare-exchange decides
            let polled = self.count.wait_until_polls(polls, Relaxed, |count| want.can_go(count));
            let (Ok(seen) | Err(seen)) = polled;
            if want.can_go(seen) {
                return Some(seen);
            }
            if is_over::<P>(until) {
                return None;
            }
            let may_nap = halts >= Self::HALTS_IN_VAIN && !matches!(want, Want::Reserve);
            if may_nap && self.nap_as_head(seen, halts - Self::HALTS_IN_VAIN, until)
                || self.halt_as_head(want, until)
            {
                halts += 1;
            }
        }
    }

    /// A head that forbids barging, has halted so often, and could not go in when it was woken, lets nobody
    /// pass any more.
    const HALTS_IN_VAIN: u32 = if P::EXPLORES { 1 } else { 4 };

    /// Halts without its number in the word: nobody passes, and nobody kicks it. For a turn at first, then
    /// for as long as it has napped before, 16 turns at most. Whether it did: not beyond the deadline.
    fn nap_as_head(&self, seen: u32, naps: u32, until: Option<&P::Deadline>) -> bool {
        // However long turns are: no busy loop, and no free lock that stands still for long.
        let turn = P::tunable(Tunable::TurnMicros).clamp(50, 1_000) * 1_000;
        let nanos = u64::from(turn << naps.min(4));
        if until.is_some_and(|until| P::remaining(until) <= nanos) {
            return false;
        }
        P::count(Event::RwHeadHalt);
        P::halt_while_until(&self.count, seen, &P::after(nanos));
        true
    }

    /// Sets the no-barging flag: nobody passes any more.
    pub(super) fn forbid_barging(&self) {
        // ord: J37 alone: a request; who does not see it passes once
        let before = self.count.fetch_add(WAITING, Relaxed);
        debug_assert_eq!(before & WAITING, 0, "one context at a time sets the flag, and clears it (I3)");
    }

    pub(super) fn allow_barging(&self) {
        // ord: J19 alone: as J37, who does not see it waits in the queue
        let before = self.count.fetch_add(WAITING.wrapping_neg(), Relaxed);
        debug_assert_ne!(before & WAITING, 0, "nobody else clears the flag (I3)");
    }

    /// Halts until a release leaves us the lock, the deadline has passed, or for no reason (I4). There is
    /// room for one number: of the head, while a writer is in, or of a writer that waits for readers. Whether
    /// it halted.
    fn halt_as_head(&self, want: Want, until: Option<&P::Deadline>) -> bool {
        if W::STRICT {
            return false;
        }
        let Some(me) = P::this_cpu().filter(|_| P::paravirt()) else {
            P::yield_slice();
            return false;
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
            return true;
        }
        false
    }
}
