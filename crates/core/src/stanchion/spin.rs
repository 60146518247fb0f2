//! Rule 2, adaptive spinning: how a context that finds the lock held looks at it again.
//!
//! The lock counts its acquisitions, so whoever looks twice knows how often it was overtaken in between.
//!
//! - *Not overtaken*: the same holder is still at work. Looking costs nobody anything, as the line stays; the
//!   pause is short.
//! - *Overtaken*: the lock changes hands, and each look takes the line away from whoever uses it. The next
//!   pause is twice as long, up to [`Tunable::BackoffNanos`]. A newcomer that was overtaken
//!   [`Tunable::Overtakings`] times queues.
//! - *Hot*: so many acquisitions in one pause took less than a short pause each. One CPU alone gets more done
//!   with such a lock than two. An heir stops looking, and sleeps for a turn (rule 3).
//!
//! A spin ends after [`Tunable::SpinNanos`]. Where spins end in vain, because holders sleep or have no CPU,
//! each makes the next a quarter as long, and the third leaves one look. One that ends with the lock makes
//! them longer again. The lock itself remembers this, in two bits ([`Vain`]); one acquisition in 64 has spins
//! of full length, to find out that times have changed.
use super::word::{HELD, VAIN, acquisitions};
use crate::Tunable;
use crate::machine::Atomic;
use crate::order::Relaxed;
use crate::platform::Platform;

/// Looks of an heir between two looks at the clock.
pub(super) const LOOKS_A_CLOCK: u32 = 16;

/// What a look at the lock has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It is free.
    Free,
    /// It is held.
    Held,
    /// It changes hands faster than its line moves.
    Hot,
}

/// A sequence of looks at one lock.
pub(super) struct Looks {
    last: u8,
    overtaken: u32,
    /// Nanoseconds that were spent in pauses.
    spent: u32,
    /// The length of the next pause in nanoseconds.
    pause: u32,
}

impl Looks {
    /// Begins with what the first byte holds.
    pub(super) fn new(count: u8) -> Self {
        Self { last: count, overtaken: 0, spent: 0, pause: 0 }
    }

    /// What the last look found.
    pub(super) fn last(&self) -> u8 {
        self.last
    }

    /// Nanoseconds spent in pauses so far.
    pub(super) fn spent(&self) -> u32 {
        self.spent
    }

    /// How often the lock was acquired by others between looks.
    pub(super) fn overtaken(&self) -> u32 {
        self.overtaken
    }

    /// Pauses, and looks at the first byte of a lock.
    #[inline(always)]
    pub(super) fn look<P: Platform>(&mut self, cell: &P::U8) -> Seen {
        let shortest = P::tunable(Tunable::PauseNanos).max(1);
        let longest = P::tunable(Tunable::BackoffNanos);
        self.pause = self.pause.max(shortest);
        P::relax(self.pause);
        self.spent = self.spent.saturating_add(self.pause);
        // ord: SP1 alone: a claim decides the lock
        let count = cell.load(Relaxed);
        let times = acquisitions(self.last, count);
        let hot = is_hot(times, self.pause, shortest, P::tunable(Tunable::Overtakings));
        self.last = count;
        self.overtaken += times;
        if times > 0 {
            self.pause = self.pause.saturating_mul(2).min(longest);
        }
        match count & HELD {
            _ if hot => Seen::Hot,
            0 => Seen::Free,
            _ => Seen::Held,
        }
    }

    /// The next pause is a short one, whoever has the lock.
    pub(super) fn stay(&mut self) {
        self.pause = 0;
    }
}

/// Whether a lock was acquired often, `many` times at least, and each time for less than a `shortest` pause.
fn is_hot(times: u32, pause: u32, shortest: u32, many: u32) -> bool {
    times >= many && times.saturating_mul(shortest) >= pause
}

/// Twice the timer slack of Linux, 50 us (prctl(2), `PR_SET_TIMERSLACK`), in nanoseconds: on an idle machine
/// a timer may be late by so much.
const TIMERS: u64 = 100_000;

/// How many nanoseconds to spin after the deadline: `full`, or one look if a wait with a `limit` in
/// nanoseconds, which took `waited` microseconds, is late by more than half its limit. Then CPUs are short,
/// and the holder may have none.
pub(super) fn last_budget(full: u32, waited: u32, limit: u64) -> u32 {
    let late = (u64::from(waited) * 1_000).saturating_sub(limit);
    if late > TIMERS.max(limit / 2) { full.min(1) } else { full }
}

/// How often spins were in vain, as the lock remembers it: 0 to [`Vain::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vain(u8);

impl Vain {
    /// One look is left then: holders sleep, and may need the CPU.
    const MOST: u8 = 3;

    /// Reads the second byte of a lock.
    pub(super) const fn of(flags: u8) -> Self {
        Self((flags & VAIN) >> VAIN.trailing_zeros())
    }

    /// The second byte with this in it.
    pub(super) const fn in_flags(self, flags: u8) -> u8 {
        flags & !VAIN | self.0 << VAIN.trailing_zeros()
    }

    /// For how many nanoseconds to spin where the most is `full` and the first byte holds `count`.
    pub(super) const fn budget(self, full: u32, count: u8) -> u32 {
        let is_trial = count & !HELD & 0x7e == 0;
        match self.0 {
            _ if is_trial => full,
            Self::MOST if full > 0 => 1,
            times => full >> (2 * times),
        }
    }

    /// After a spin of `spent` nanoseconds that ended with the lock: the next one is to be twice as long as
    /// this one was, at least, and longer than it would have been.
    pub(super) fn paid_off(self, spent: u32, full: u32) -> Self {
        let enough = (full / spent.saturating_mul(2).max(1)).checked_ilog2().unwrap_or(0) / 2;
        Self(self.0.saturating_sub(1).min(enough as u8))
    }

    /// After a spin that was too short.
    pub(super) fn in_vain(self) -> Self {
        Self((self.0 + 1).min(Self::MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_hot_if_many_acquisitions_take_less_than_a_short_pause_each() {
        assert!(is_hot(8, 25, 25, 8));
        assert!(!is_hot(7, 25, 25, 8));
        assert!(is_hot(70, 1_600, 25, 8), "23 ns each");
        assert!(!is_hot(10, 1_600, 25, 8), "160 ns each");
    }

    #[test]
    fn a_spin_in_vain_makes_the_next_a_quarter_as_long_and_the_third_leaves_one_look() {
        let mut vain = Vain::of(0);
        let budgets: [u32; 5] = core::array::from_fn(|_| {
            let budget = vain.budget(20_000, 3);
            vain = vain.in_vain();
            budget
        });
        assert_eq!(budgets, [20_000, 5_000, 1_250, 1, 1]);
        assert_eq!(vain.budget(0, 3), 0, "no spins are wanted");
    }

    #[test]
    fn a_spin_that_pays_off_lengthens_the_next_to_twice_its_length_at_least() {
        let worn = (0..4).fold(Vain::of(0), |vain, _| vain.in_vain());
        assert_eq!(worn.paid_off(50, 20_000).budget(20_000, 3), 1_250, "by one step at least");
        assert_eq!(worn.paid_off(600, 20_000).budget(20_000, 3), 1_250, "1200 would do");
        assert_eq!(worn.paid_off(3_000, 20_000).budget(20_000, 3), 20_000, "6000 would do, 5000 would not");
        assert_eq!(worn.paid_off(15_000, 20_000).budget(20_000, 3), 20_000);
        assert_eq!(Vain::of(0).paid_off(0, 20_000), Vain::of(0));
    }

    #[test]
    fn who_is_late_by_half_its_limit_looks_once() {
        assert_eq!(last_budget(10_000, 1_500, 1_000_000), 10_000);
        assert_eq!(last_budget(10_000, 1_501, 1_000_000), 1);
        assert_eq!(last_budget(10_000, 10_501, 10_000_000), 10_000);
        assert_eq!(last_budget(10_000, 999, 1_000_000), 10_000, "clocks of two CPUs may differ");
        assert_eq!(last_budget(10_000, 150, 50_000), 10_000, "a timer's slack");
        assert_eq!(last_budget(10_000, 151, 50_000), 1);
        assert_eq!(last_budget(10_000, 0, u64::MAX), 10_000, "the clock wraps after 71 minutes");
        assert_eq!(last_budget(0, 1_501, 1_000_000), 0, "no spins are wanted");
    }

    #[test]
    fn one_acquisition_in_64_has_spins_of_full_length() {
        let worn = (0..4).fold(Vain::of(0), |vain, _| vain.in_vain());
        let full = (0..=255u8).filter(|&count| worn.budget(20_000, count) == 20_000).count();
        assert_eq!(full, 256 / 64);
    }

    #[test]
    fn the_flags_keep_what_else_they_hold() {
        let flags = Vain::of(0).in_vain().in_vain().in_flags(0x93);
        assert_eq!(Vain::of(flags), Vain::of(0).in_vain().in_vain());
        assert_eq!(flags & !VAIN, 0x93);
    }
}
