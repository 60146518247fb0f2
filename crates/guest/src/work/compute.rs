//! Work of a given size: not of a given time, which would pass while a vCPU does not run.
use crate::machine::Machine;
use crate::order::Order;
use core::hint::black_box;
use fastrand::Rng;

/// How many turns of the loop are a millisecond of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    rate: u64,
}

/// Turns of a loop that no compiler shortens, each waiting for the one before.
#[inline]
pub(crate) fn turns(count: u64) {
    let mut x = black_box(count);
    for _ in 0..count {
        x = black_box(x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
    }
}

impl Pace {
    /// What the order says; or it is measured, on one vCPU, while the others are idle.
    pub(crate) fn of<M: Machine>(order: &Order) -> Self {
        if order.rate > 0 { Self { rate: order.rate } } else { Self::measured::<M>() }
    }

    /// The shortest of many short tries: those in which nobody took the CPU away.
    fn measured<M: Machine>() -> Self {
        const TRY: u64 = 20_000;
        const TRIES: u32 = 200;
        let shortest = (0..TRIES).map(|_| {
            let start = M::now();
            turns(TRY);
            M::now() - start
        });
        let nanos = shortest.min().unwrap_or(1).max(1);
        Self { rate: (TRY * 1_000_000 / nanos).max(1) }
    }

    /// Turns of the loop in a millisecond of work.
    pub(crate) fn rate(self) -> u64 {
        self.rate
    }

    /// Works for as long as `nanos` nanoseconds were when the pace was measured.
    #[inline]
    pub(crate) fn work(self, nanos: u64) {
        turns(nanos.saturating_mul(self.rate) / 1_000_000);
    }
}

/// The random decisions of context `stream` of the run named `seed`.
pub(crate) fn dice(seed: u64, stream: u64) -> Rng {
    let mut mixer = Rng::with_seed(seed);
    Rng::with_seed(mixer.u64(..) ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// `span`, give or take so many percent.
pub(crate) fn about(dice: &mut Rng, span: u64, percent: u64) -> u64 {
    let width = span / 100 * percent + span % 100 * percent / 100;
    span - width + dice.u64(0..=2 * width)
}

/// True once in `n` times.
pub(crate) fn one_in(dice: &mut Rng, n: u64) -> bool {
    dice.u64(0..n) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_vary_as_asked() {
        let mut dice = dice(1, 0);
        let spans: alloc::vec::Vec<u64> = (0..1000).map(|_| about(&mut dice, 50_000, 50)).collect();
        assert!(spans.iter().all(|span| (25_000..=75_000).contains(span)));
        assert!(spans.iter().any(|span| *span < 30_000) && spans.iter().any(|span| *span > 70_000));
        assert_eq!(about(&mut dice, 77, 0), 77);
    }

    #[test]
    fn streams_of_a_seed_differ_and_come_again() {
        let draw = |seed, stream| dice(seed, stream).u64(..);
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }
}
