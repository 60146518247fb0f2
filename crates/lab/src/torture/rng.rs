//! The seeded randomness of a torture run: small, integer-only and reproducible.
//!
//! A run is named by its seed. Each thread draws from a stream of its own, derived from that seed, so that
//! what a thread decides does not depend on how the scheduler interleaved it with the others (what the *lock*
//! does of course still does).

/// A stream of pseudo-random numbers (SplitMix64: one multiply-xorshift chain per draw, any seed is good).
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// The stream number `stream` of the run named `seed`.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = Self { state: seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95) };
        // Neighbouring streams start close together; two draws separate them.
        rng.next();
        rng.next();
        rng
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`; `bound` must not be zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "an empty range has no member to draw");
        // The high half of the product: no division, and the bias is below 2^-32 for every bound used here.
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        debug_assert!(low <= high, "the range runs backwards");
        low + self.below(high - low + 1)
    }

    /// True with probability 1/`n`; `n` of zero never is.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        n != 0 && self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_its_stream() {
        let draw = |seed, stream| {
            let mut rng = Rng::new(seed, stream);
            [rng.next(), rng.next(), rng.next()]
        };
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
        assert_ne!(draw(7, 3), draw(8, 3));
    }

    #[test]
    fn one_in_n_happens_about_once_in_n() {
        let mut rng = Rng::new(42, 0);
        for n in [2, 16, 1000] {
            let tries = n * 4000;
            let hits = (0..tries).filter(|_| rng.one_in(n)).count() as u64;
            assert!((3700..4300).contains(&hits), "1/{n}: {hits} hits where 4000 were due");
        }
        assert!((0..1000).all(|_| !rng.one_in(0)), "never means never");
        assert!((0..1000).all(|_| rng.one_in(1)), "always means always");
    }

    #[test]
    fn ranges_are_inclusive_and_reached() {
        let mut rng = Rng::new(1, 1);
        let drawn: Vec<u64> = (0..1000).map(|_| rng.between(3, 5)).collect();
        assert!(drawn.iter().all(|&x| (3..=5).contains(&x)));
        for value in 3..=5 {
            assert!(drawn.contains(&value), "{value} never came");
        }
    }
}
