//! One CPU by itself: instructions on lines that it owns, spin hints, the shared cache and memory.
use super::sample::{Figures, What};
use super::threads::{alone, best_each};
use core::hint::{black_box, spin_loop};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use crossbeam_utils::CachePadded;

/// Calls of a loop of a few nanoseconds.
const CALLS: u32 = 40_000;

/// Instructions of lock code, by differences of loops.
pub(super) fn instructions(cpu: usize, figures: &mut Figures) {
    alone(cpu, || {
        let lock = CachePadded::new(AtomicU32::new(0));
        let other = CachePadded::new(AtomicU32::new(0));
        let acquire = || {
            black_box(lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok());
        };
        best_each(CALLS, acquire); // the frequency settles
        let add = best_each(CALLS, || {
            black_box(lock.fetch_add(1, Ordering::AcqRel));
        });
        lock.store(0, Ordering::Relaxed);
        let pair = best_each(CALLS, || {
            acquire();
            lock.store(0, Ordering::Release);
        });
        // Loads between the pairs, of another line: what they add is what they delay.
        let with_loads = best_each(CALLS, || {
            acquire();
            for _ in 0..LOADS {
                black_box(other.load(Ordering::Relaxed));
            }
            lock.store(0, Ordering::Release);
        });
        figures.add(What::Rmw, add.min(pair));
        figures.add(What::Store, (pair - add).max(0.0));
        figures.add(What::Hit, ((with_loads - pair) / f64::from(LOADS)).max(0.0));
        let fenced = || {
            // Fences that stand next to each other would be compiled to one.
            black_box(&other);
            fence(Ordering::SeqCst);
        };
        figures.add(What::Fence, best_each(CALLS, fenced));
        figures.add(What::Hint, best_each(CALLS / 8, spin_loop));
        figures.add(
            What::Poll,
            best_each(CALLS / 8, || {
                if other.load(Ordering::Acquire) == 0 {
                    spin_loop();
                }
            }),
        );
    });
}

const LOADS: u32 = 4;

/// A chain of loads in random order, each of a line of its own.
pub(super) struct Chain(Vec<CachePadded<AtomicUsize>>);

/// Within so many bytes the order is random; from block to block it is not, so that few address translations
/// are missed.
const BLOCK_BYTES: usize = 1 << 20;

impl Chain {
    pub(super) fn new(bytes: usize) -> Self {
        let line = size_of::<CachePadded<AtomicUsize>>();
        let (count, block) = (bytes / line, BLOCK_BYTES / line);
        let mut order: Vec<usize> = (0..count).collect();
        let mut state = 1_u64;
        for block in order.chunks_mut(block) {
            for last in (1..block.len()).rev() {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                block.swap(last, (state >> 33) as usize % (last + 1));
            }
        }
        let chain: Vec<CachePadded<AtomicUsize>> =
            core::iter::repeat_with(CachePadded::<AtomicUsize>::default).take(count).collect();
        for (index, &at) in order.iter().enumerate() {
            chain[at].store(order[(index + 1) % count], Ordering::Relaxed);
        }
        Self(chain)
    }

    /// Nanoseconds of one of `count` loads.
    pub(super) fn walk(&self, at: &mut usize, count: u32) -> f64 {
        super::threads::each(count, || *at = self.0[*at].load(Ordering::Relaxed))
    }
}

/// The shared cache: a chain that is too long for the core's own caches. Memory: one too long for any.
pub(super) fn caches(cpu: usize, chains: &mut Caches, figures: &mut Figures) {
    alone(cpu, || {
        if let Some((chain, at)) = &mut chains.shared {
            chain.walk(at, chain.0.len() as u32); // what others did to the caches meanwhile
            figures.add(What::SharedCache, chain.walk(at, 20_000));
        }
        if let Some((chain, at)) = &mut chains.memory {
            figures.add(What::Memory, chain.walk(at, 20_000));
        }
    });
}

/// The chains of the caches, and how far they were walked.
pub(super) struct Caches {
    shared: Option<(Chain, usize)>,
    memory: Option<(Chain, usize)>,
}

impl Caches {
    /// `own`, `shared`: bytes of the caches of a core and of a group, as far as they are known.
    pub(super) fn new(own: Option<usize>, shared: Option<usize>) -> Self {
        let fits = |bytes: &usize| (1 << 20..=1 << 29).contains(bytes);
        let middle = own.zip(shared).filter(|(own, shared)| shared / own >= 4).map(|(own, _)| own * 3);
        Self {
            shared: middle.filter(fits).map(|bytes| (Chain::new(bytes), 0)),
            memory: shared.map(|shared| shared * 4).filter(fits).map(|bytes| (Chain::new(bytes), 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_visits_every_line_once() {
        let chain = Chain::new(3 * BLOCK_BYTES / 2);
        let (mut at, mut seen) = (0, vec![false; chain.0.len()]);
        for _ in 0..chain.0.len() {
            assert!(!core::mem::replace(&mut seen[at], true));
            at = chain.0[at].load(Ordering::Relaxed);
        }
        assert_eq!(at, 0);
    }

    #[test]
    fn chains_are_left_out_where_caches_are_not_known() {
        let caches = Caches::new(Some(1 << 20), None);
        assert!(caches.shared.is_none() && caches.memory.is_none());
    }
}
