//! The seeded randomness of a torture run.
//!
//! A run is named by its seed. Each thread draws from a stream of its own, derived from that seed, so that
//! what a thread decides does not depend on how the scheduler interleaved it with the others (what the *lock*
//! does of course still does). Nothing here allocates or looks at other threads: handlers draw too.
pub(super) use fastrand::Rng;

/// The stream number `stream` of the run named `seed`.
pub(super) fn stream(seed: u64, stream: u64) -> Rng {
    // Neighbouring streams start close together; the fork separates them.
    Rng::with_seed(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95)).fork()
}

/// What torture draws again and again.
pub(super) trait Chance {
    /// True with probability 1/`n`; `n` of zero never is.
    fn one_in(&mut self, n: u64) -> bool;
}

impl Chance for Rng {
    fn one_in(&mut self, n: u64) -> bool {
        n != 0 && self.u64(..n) == 0
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
            let hits = (0..tries).filter(|_| rng.one_in(n)).count() as u64;
            assert!((3700..4300).contains(&hits), "1/{n}: {hits} hits where 4000 were due");
        }
        assert!((0..1000).all(|_| !rng.one_in(0)), "never means never");
        assert!((0..1000).all(|_| rng.one_in(1)), "always means always");
    }
}
