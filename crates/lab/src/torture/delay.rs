//! How long a holder keeps the lock: mostly not at all, sometimes a little, very rarely for an age.
//!
//! The probabilities are locktorture's (`torture_spin_lock_write_delay`): rare *long* holds force massive
//! contention, more common *short* ones resemble likely code. They scale with the number of competing
//! threads, so that the run as a whole sees the same share of each however many threads there are.
use super::rng::{Chance as _, Rng};
use core::time::Duration;
use std::time::Instant;

/// The kernel's short hold.
const SHORT_HOLD: Duration = Duration::from_micros(2);

/// What a holder does before it releases; the draws are independent, several may come true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// Hold for the run's long hold; `Some(true)` if off the CPU, as a holder is whose vCPU was taken away.
    pub(crate) long: Option<bool>,
    /// Hold for two microseconds, on the CPU.
    pub(crate) short: bool,
    /// Give the CPU away while holding.
    pub(crate) yields: bool,
}

impl Hold {
    /// Draws for one acquisition among `threads` competing ones.
    pub(crate) fn draw(rng: &mut Rng, threads: u64) -> Self {
        let long = rng.one_in(threads * 2000 * 100);
        Self {
            long: long.then(|| rng.one_in(2)),
            short: rng.one_in(threads * 4),
            yields: rng.one_in(threads * 20_000),
        }
    }

    /// Carries it out. `long_hold` is how long a long one takes.
    pub(crate) fn perform(self, long_hold: Duration) {
        match self.long {
            Some(true) => std::thread::sleep(long_hold),
            Some(false) => busy(long_hold),
            None => {}
        }
        if self.short {
            busy(SHORT_HOLD);
        }
        if self.yields {
            std::thread::yield_now();
        }
    }
}

/// Stays on the CPU for `duration`.
pub(crate) fn busy(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        core::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::rng::stream;

    #[test]
    fn draws_are_named_by_their_seed() {
        let holds = |seed| {
            let mut rng = stream(seed, 0);
            (0..5000).map(|_| Hold::draw(&mut rng, 2)).collect::<Vec<_>>()
        };
        assert_eq!(holds(9), holds(9));
        assert_ne!(holds(9), holds(10));
    }

    #[test]
    fn draws_keep_the_kernel_s_proportions() {
        let mut rng = stream(5, 0);
        let threads = 2;
        let draws = 4_000_000_u64;
        let (mut long, mut short, mut yields) = (0_u64, 0_u64, 0_u64);
        for _ in 0..draws {
            let hold = Hold::draw(&mut rng, threads);
            long += u64::from(hold.long.is_some());
            short += u64::from(hold.short);
            yields += u64::from(hold.yields);
        }
        assert!((3..=20).contains(&long), "long holds: {long}, due 10");
        assert!((490_000..510_000).contains(&short), "short holds: {short}, due 500000");
        assert!((60..=140).contains(&yields), "yields: {yields}, due 100");
    }

    #[test]
    fn a_busy_hold_lasts_as_long_as_asked() {
        let start = Instant::now();
        busy(Duration::from_millis(3));
        assert!(start.elapsed() >= Duration::from_millis(3));
    }
}
