//! Seeds of runs that were given none.
use core::hash::{BuildHasher, Hasher};
use std::hash::RandomState;

/// A new seed, short enough to be typed again and exact in JSON readers that use doubles.
pub fn fresh() -> u64 {
    // The standard library's per-process hash keys come from the operating system's randomness.
    RandomState::new().build_hasher().finish() >> 24
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_fresh_seed_survives_a_double() {
        let seed = super::fresh();
        assert_eq!(seed as f64 as u64, seed);
    }
}
