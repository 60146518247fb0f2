//! The work inside and outside the critical section, and the cheap randomness of the think time.
/// One step of a dependent integer chain: the next cannot start before this one has its product, so its
/// cost is a latency (about five cycles) and hardly depends on what else the core does. The shift is there
/// because compilers fold several steps of a mere multiplication and addition into one.
#[inline]
fn step(state: u64) -> u64 {
    (state ^ (state >> 29)).wrapping_mul(0x5851_F42D_4C95_7F2D)
}

/// Spends `steps` steps on the CPU, going on from `state`, and returns where the chain has got to.
///
/// A thread hands one state from critical section to think time and back. With a chain for each, the core
/// would start on the next while the last is under way, and 250 ns of work would take 210. Never inlined:
/// where the loop happens to lie can change its speed by 5 %, so all locks share one copy.
#[inline(never)]
#[must_use]
pub(crate) fn spend(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state = step(state);
    }
    state
}

/// SplitMix64: one multiplication-shift mix per number, which is all that think times need.
pub(crate) struct Random(u64);

impl Random {
    /// The stream `stream` of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        // Neighbouring streams start far apart only after a first mix.
        random.0 = random.next();
        random
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, near enough to uniform for bounds far below 2^32.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((self.next() >> 32) * bound) >> 32
    }

    /// Puts `items` into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The steps of one thread's loop.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub critical: u64,
    pub think: u64,
    /// Whether the holder gives up its slice in the middle of the section.
    pub yields: bool,
}

impl Steps {
    /// Spends the time of a critical section.
    #[inline]
    pub(crate) fn section(self, state: u64) -> u64 {
        if !self.yields {
            return spend(state, self.critical);
        }
        let state = spend(state, self.critical / 2);
        std::thread::yield_now();
        spend(state, self.critical - self.critical / 2)
    }

    /// Spends a think time uniform in [0.5, 1.5] of the mean, so that threads do not fall into step.
    #[inline]
    pub(crate) fn think(self, random: &mut Random, state: u64) -> u64 {
        if self.think == 0 {
            return state;
        }
        spend(state, self.think / 2 + random.below(self.think + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_goes_on_where_it_stopped() {
        assert_eq!(spend(spend(7, 3), 4), spend(7, 7));
        assert_eq!(spend(7, 0), 7);
    }

    #[test]
    fn a_seed_gives_one_stream_and_streams_differ() {
        let numbers = |stream| {
            let mut random = Random::new(7, stream);
            (0..4).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn numbers_stay_below_the_bound_and_fill_it() {
        let mut random = Random::new(1, 0);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (700..1300).contains(&count)), "{seen:?}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(3, 0).shuffle(&mut items);
        assert!(items.windows(2).any(|pair| pair[0] > pair[1]));
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
