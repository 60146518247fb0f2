//! Rule 2, adaptive spinning: how a context that finds the lock held looks at it again.
//!
//! The lock counts its acquisitions, so whoever looks twice knows how often it was overtaken in between.
//!
//! - *Not overtaken*: the same holder is still at work. Looking costs nobody anything, as the line stays; the pause is short.
//! - *Overtaken*: the lock changes hands faster than we look, and each look takes the line away from whoever uses it. The pause is long.
//! - *Hot*: in one pause the lock was acquired so often that an acquisition takes less time than moving the line to us, which the look has
//!   just measured. One CPU alone gets more done with the lock than two. The context stops looking, and sleeps for a turn (rule 3).
//!
//! A spin ends after [`Tunable::SpinNanos`]. Where spins end in vain, because holders sleep or have no CPU, each makes the next half as long,
//! down to some looks. One that ends with the lock makes them longer again. The lock itself remembers this, in four bits ([`Vain`]); one
//! acquisition in 64 has spins of full length, to find out that times have changed.
use super::word::{HELD, VAIN, acquisitions};
use crate::Tunable;
use crate::order::Relaxed;
use crate::platform::{Atomic, Platform};

/// What a look at the lock has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It is free, and its first byte held this.
    Free(u8),
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
    /// The length of the pause before the next look.
    pause: u32,
    /// The last look had to fetch the line.
    fetched: bool,
    /// How long the quickest look took that fetched the line.
    transfer: u32,
    /// When the last look was over; see [`Platform::poll`].
    clock: u64,
}

impl Looks {
    /// Begins with what the first byte holds.
    pub(super) fn new(count: u8) -> Self {
        Self { last: count, overtaken: 0, spent: 0, pause: 0, fetched: false, transfer: u32::MAX, clock: 0 }
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
        // ord: SP1 alone: a claim decides the lock
        let (count, took) = P::poll(&mut self.clock, self.pause, || cell.load(Relaxed));
        self.spent = self.spent.saturating_add(self.pause.max(1));
        let times = acquisitions(self.last, count);
        self.last = count;
        self.overtaken += times;
        let fetched = took >= FETCH;
        if fetched {
            self.transfer = self.transfer.min(took);
        }
        let many = times >= P::tunable(Tunable::Overtakings) && P::tunable(Tunable::Turns) != 0;
        let hot = many && fetched && is_hot(times, self.transfer, self.pause);
        let again = core::mem::replace(&mut self.fetched, fetched) && fetched;
        let away = if times > 0 || again { P::tunable(Tunable::Away) } else { 0 };
        self.pause = P::tunable(Tunable::PauseNanos).max(took.saturating_mul(away));
        match count & HELD {
            _ if hot => Seen::Hot,
            0 => Seen::Free(count),
            _ => Seen::Held,
        }
    }

    /// The next pause is a short one, whatever the last look has told.
    pub(super) fn stay(&mut self) {
        self.fetched = false;
        self.pause = 0;
    }
}

/// A look that took so many nanoseconds had to fetch the line. One that finds it takes one or two.
const FETCH: u32 = 10;

/// Whether `times` acquisitions in a pause of `pause` nanoseconds took less time each than a transfer of the line.
fn is_hot(times: u32, transfer: u32, pause: u32) -> bool {
    times.saturating_mul(transfer) > pause
}

/// How often spins were in vain, as the lock remembers it: 0 to [`Vain::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vain(u8);

impl Vain {
    /// Of 20 us, some looks are left then.
    const MOST: u8 = 8;

    /// Reads the second byte of a lock.
    pub(super) const fn of(flags: u8) -> Self {
        Self((flags & VAIN) >> VAIN.trailing_zeros())
    }

    /// The second byte with this in it.
    pub(super) const fn in_flags(self, flags: u8) -> u8 {
        flags & !VAIN | self.0 << VAIN.trailing_zeros()
    }

    /// For how long to spin where the most is `full` nanoseconds and the first byte holds `count`.
    pub(super) const fn budget(self, full: u32, count: u8) -> u32 {
        let is_trial = count & !HELD & 0x7e == 0;
        if is_trial { full } else { full >> self.0 }
    }

    /// After a spin of `spent` nanoseconds that ended with the lock: the next one is to be twice as long as this one was, at least, and
    /// longer than it would have been.
    pub(super) fn paid_off(self, spent: u32, full: u32) -> Self {
        let enough = (full / spent.saturating_mul(2).max(1)).checked_ilog2().unwrap_or(0);
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
    fn a_lock_is_hot_if_acquisitions_take_less_than_a_transfer() {
        assert!(is_hot(70, 50, 400), "6 ns each, and the line takes 50");
        assert!(!is_hot(1, 200, 400), "400 ns each");
        assert!(!is_hot(8, 40, 400), "50 ns each, and the line takes 40");
        assert!(!is_hot(127, 0, 400), "nothing was measured");
    }

    #[test]
    fn spins_in_vain_halve_the_next_down_to_a_few_looks() {
        let mut vain = Vain::of(0);
        let budgets: [u32; 10] = core::array::from_fn(|_| {
            let budget = vain.budget(20_000, 3);
            vain = vain.in_vain();
            budget
        });
        assert_eq!(budgets, [20_000, 10_000, 5_000, 2_500, 1_250, 625, 312, 156, 78, 78]);
    }

    #[test]
    fn a_spin_that_pays_off_lengthens_the_next_to_twice_its_length_at_least() {
        let worn = (0..8).fold(Vain::of(0), |vain, _| vain.in_vain());
        assert_eq!(worn.paid_off(50, 20_000).budget(20_000, 3), 156, "by one halving at least");
        assert_eq!(worn.paid_off(3_000, 20_000).budget(20_000, 3), 10_000, "6000 would do");
        assert_eq!(worn.paid_off(15_000, 20_000).budget(20_000, 3), 20_000);
        assert_eq!(Vain::of(0).paid_off(0, 20_000), Vain::of(0));
    }

    #[test]
    fn one_acquisition_in_64_has_spins_of_full_length() {
        let worn = (0..8).fold(Vain::of(0), |vain, _| vain.in_vain());
        let full = (0..=255u8).filter(|&count| worn.budget(20_000, count) == 20_000).count();
        assert_eq!(full, 256 / 64);
    }

    #[test]
    fn the_flags_keep_what_else_they_hold() {
        let flags = Vain::of(0).in_vain().in_vain().in_flags(0x83);
        assert_eq!(Vain::of(flags), Vain::of(0).in_vain().in_vain());
        assert_eq!(flags & !VAIN, 0x83);
    }
}
