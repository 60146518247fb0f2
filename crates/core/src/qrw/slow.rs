//! Those who could not have the lock at once: as newcomers for a short while, then in the queue. Each may
//! have a deadline, at which it leaves the lock as if it had never come.
use super::word::{Want, readers};
use super::{QueuedRwLock, RwPolicy};
use crate::events::Event;
use crate::lock::RawLock;
use crate::machine::{Atomic, Machine, sooner};
use crate::order::Relaxed;
use crate::platform::Platform;
use crate::rw::{RawRwLock, TooManyReaders};
use crate::tunables::Tunable;

impl<P: Platform, W: RwPolicy<P>> QueuedRwLock<P, W> {
    /// The rest of an acquisition as a reader, up to the deadline. Whether it is in.
    #[cold]
    #[inline(never)]
    pub(super) fn acquire_read_slow(
        &self,
        before: u32,
        until: Option<&P::Deadline>,
    ) -> Result<bool, TooManyReaders> {
        self.release_read(); // takes the addition back, and does what the last reader has to do
        if readers(before) >= Self::MOST_READERS {
            return Err(TooManyReaders);
        }
        if P::is_priority() {
            P::count(Event::RwBypass);
            return self.wait_to_read_again(until);
        }
        P::count(Event::RwReadSlow);
        self.acquire_in_line(Want::Read, until)
    }

    /// Waits for the writer that is in, up to the deadline. Whether it reads.
    ///
    /// It may have interrupted the first of those in the queue. So it queues for [`TURNS_IN_QUEUE`] only, and
    /// looks for a while then, again and again: behind the one that it interrupted nobody gets on, and
    /// writers that find the lock free take it.
    pub(super) fn wait_to_read_again(&self, until: Option<&P::Deadline>) -> Result<bool, TooManyReaders> {
        let nanos = u64::from(P::tunable(Tunable::TurnMicros)) * 1_000 * TURNS_IN_QUEUE;
        while !self.try_acquire_read_again()? {
            P::count(Event::RwReadSlow);
            if P::is_priority() || W::STRICT {
                self.wait_or_yield(|count| Want::ReadAgain.can_go(count), until);
            } else {
                let look = P::after(nanos);
                if self.acquire_in_line(Want::Read, Some(sooner::<P>(&look, until)))? {
                    return Ok(true);
                }
                let polls = P::tunable(Tunable::RwHeadPolls);
                // ord: J27 alone: waits until a try has a chance
                let _ = self.count.wait_until_polls(polls, Relaxed, |count| Want::ReadAgain.can_go(count));
            }
            if is_over::<P>(until) {
                return self.try_acquire_read_again();
            }
        }
        Ok(true)
    }

    /// The rest of an acquisition as a writer, up to the deadline. Whether it is in.
    #[cold]
    #[inline(never)]
    pub(super) fn acquire_write_slow(&self, until: Option<&P::Deadline>) -> bool {
        P::count(Event::RwWriteSlow);
        let acquired = self.acquire_in_line(Want::Write, until);
        debug_assert!(acquired.is_ok(), "only readers are counted");
        acquired == Ok(true)
    }

    /// Waits until it is in or the deadline has passed: as a newcomer for a short while, then in line.
    /// Whether it is in.
    pub(super) fn acquire_in_line(
        &self,
        want: Want,
        until: Option<&P::Deadline>,
    ) -> Result<bool, TooManyReaders> {
        if self.acquire_as_newcomer(want)? {
            return Ok(true);
        }
        if !matches!(want, Want::Read) {
            return Ok(self.acquire_alone(want, until));
        }
        if !self.enter_queue(until) {
            return Ok(false);
        }
        let result = self.read_as_head(until);
        self.queue.release();
        result
    }

    /// Waits as one that others must leave the lock to: in line among its kind, then in the queue. It sets
    /// the no-barging flag before it queues, so nobody passes who queued before (I5). Whether it is in.
    fn acquire_alone(&self, want: Want, until: Option<&P::Deadline>) -> bool {
        if W::STRICT {
            if !self.enter_queue(until) {
                return false;
            }
            self.forbid_barging();
            return self.lead(want, until);
        }
        if !acquire(&self.writers, until) {
            return false;
        }
        let acquired = self.acquire_as_newcomer(want) == Ok(true) || {
            self.forbid_barging();
            if self.enter_queue(until) {
                self.lead(want, until)
            } else {
                self.allow_barging();
                false
            }
        };
        self.writers.release();
        acquired
    }

    /// Waits as the head until it is in, or the deadline has passed, and leaves the queue. Whether it is in.
    fn lead(&self, want: Want, until: Option<&P::Deadline>) -> bool {
        let acquired = self.wait_for_all_to_leave(want, until);
        if !acquired {
            self.allow_barging();
        }
        self.queue.release();
        acquired
    }

    /// Waits until the calling context is the head, or the deadline has passed. Whether it is the head.
    pub(super) fn enter_queue(&self, until: Option<&P::Deadline>) -> bool {
        acquire(&self.queue, until)
    }

    /// Polls for a short while, as somebody who may pass the head. Whether it is in.
    pub(super) fn acquire_as_newcomer(&self, want: Want) -> Result<bool, TooManyReaders> {
        if W::STRICT {
            return Ok(false);
        }
        let polls = P::tunable(Tunable::RwNewcomerPolls);
        let done = |count| want.may_pass_in(count) || want.is_in_vain(count);
        // ord: J12 alone: waits until going in has a chance, the compare-exchange decides
        let (Ok(seen) | Err(seen)) = self.count.wait_until_polls(polls, Relaxed, done);
        if !want.may_pass_in(seen) {
            return Ok(false);
        }
        if want.is_too_many(seen, Self::MOST_READERS) {
            return Err(TooManyReaders);
        }
        Ok(self.go(seen, want.gone(seen)) && self.may_stay(want, seen))
    }

    /// Waits for a word that nobody will be told of, up to the deadline. Whether it came.
    pub(super) fn wait_or_yield(&self, done: impl Fn(u32) -> bool, until: Option<&P::Deadline>) -> bool {
        let polls = P::tunable(Tunable::RwHeadPolls);
        // ord: J16 alone: waits until a change of the word has a chance
        while self.count.wait_until_polls(polls, Relaxed, &done).is_err() {
            if is_over::<P>(until) {
                return false;
            }
            P::yield_slice();
        }
        true
    }
}

/// For how many turns a reader queues at a time that must not wait behind others: 6.4 ms, beside which its
/// looks take nothing.
const TURNS_IN_QUEUE: u64 = 32;

/// Waits for `lock`, up to the deadline. Whether the calling context holds it.
pub(super) fn acquire<L: RawLock>(lock: &L, until: Option<&<L::Platform as Machine>::Deadline>) -> bool {
    match until {
        None => lock.acquire(),
        Some(until) => return lock.acquire_until(until),
    }
    true
}

/// Whether the deadline has passed, if there is one.
pub(super) fn is_over<P: Platform>(until: Option<&P::Deadline>) -> bool {
    until.is_some_and(|until| P::remaining(until) == 0)
}
