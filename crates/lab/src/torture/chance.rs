//! The seeded randomness of a torture run, and how long a holder keeps the lock.
//!
//! A run is named by its seed. Each thread draws from a stream of its own, derived from that seed. So what a
//! thread decides does not depend on how the scheduler interleaved it with the others; what the *lock* does
//! still does. Nothing here allocates or looks at other threads: handlers draw too.
use core::time::Duration;
pub(super) use fastrand::Rng;
use std::time::Instant;

pub(super) fn stream(seed: u64, stream: u64) -> Rng {
    // Neighbouring streams start close together; the fork separates them.
    Rng::with_seed(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95)).fork()
}

/// True with probability 1/`n`; `n` of zero never is.
pub(super) fn one_in(rng: &mut Rng, n: u64) -> bool {
    n != 0 && rng.u64(..n) == 0
}

const SHORT_HOLD: Duration = Duration::from_micros(2);

/// What a holder does before it releases: mostly nothing, sometimes a little, very rarely for an age. The
/// draws are independent, several may come true.
///
/// The probabilities are locktorture's (`torture_spin_lock_write_delay`): rare *long* holds force massive
/// contention, more common *short* ones resemble likely code. They scale with the number of competing
/// threads, so that the run as a whole sees the same share of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// Hold for the run's long hold; `Some(true)` if off the CPU, as a holder is whose vCPU was taken away.
    pub(crate) long: Option<bool>,
    /// Hold for two microseconds, on the CPU.
    pub(crate) short: bool,
    pub(crate) yields: bool,
}

impl Hold {
    /// Draws for one acquisition among `threads` competing ones.
    pub(crate) fn draw(rng: &mut Rng, threads: u64) -> Self {
        let long = one_in(rng, threads * 2000 * 100);
        Self {
            long: long.then(|| one_in(rng, 2)),
            short: one_in(rng, threads * 4),
            yields: one_in(rng, threads * 20_000),
        }
    }

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

pub(crate) fn busy(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        core::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_its_stream() {
        let draw = |seed, number| {
            let mut rng = stream(seed, number);
            [rng.u64(..), rng.u64(..), rng.u64(..)]
        };
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
        assert_ne!(draw(7, 3), draw(8, 3));
    }

    #[test]
    fn one_in_n_happens_about_once_in_n() {
        let mut rng = stream(42, 0);
        for n in [2, 16, 1000] {
            let tries = n * 4000;
            let hits = (0..tries).filter(|_| one_in(&mut rng, n)).count() as u64;
            assert!((3700..4300).contains(&hits), "1/{n}: {hits} hits where 4000 were due");
        }
        assert!((0..1000).all(|_| !one_in(&mut rng, 0)), "never means never");
        assert!((0..1000).all(|_| one_in(&mut rng, 1)), "always means always");
    }

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
