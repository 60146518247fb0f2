//! One CPU by itself: instructions on lines that it owns, spin hints, the shared cache and memory.
use super::sample::{Figures, What};
use super::threads::{alone, best_each, each};
use crate::bench::spend;
use core::hint::{black_box, spin_loop};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use crossbeam_utils::CachePadded;

/// Calls of a loop of a few nanoseconds.
const CALLS: u32 = 40_000;
/// Loads between an acquisition and its release.
const LOADS: u32 = 4;

/// Instructions of lock code, by differences of loops.
pub(super) fn instructions(cpu: usize, figures: &mut Figures) {
    alone(cpu, || {
        let lock = CachePadded::new(AtomicU32::new(0));
        let other = CachePadded::new(AtomicU32::new(0));
        let acquire = || black_box(lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok());
        best_each(CALLS, acquire); // the frequency settles
        let add = best_each(CALLS, || black_box(lock.fetch_add(1, Ordering::AcqRel)));
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
        figures.add(What::RMW, add.min(pair));
        figures.add(What::STORE, (pair - add).max(0.0));
        figures.add(What::HIT, ((with_loads - pair) / f64::from(LOADS)).max(0.0));
        let fenced = || {
            // Fences that stand next to each other would be compiled to one.
            black_box(&other);
            fence(Ordering::SeqCst);
        };
        let poll = || {
            if other.load(Ordering::Acquire) == 0 {
                spin_loop();
            }
        };
        figures.add(What::FENCE, best_each(CALLS, fenced));
        figures.add(What::POLL, best_each(CALLS / 8, poll));
    });
}

/// Loads in random order, each of a line of its own, and how far it was walked.
struct Chain {
    lines: Vec<CachePadded<AtomicUsize>>,
    order: Vec<usize>,
    at: usize,
    /// The place of `at` in the order.
    walked: usize,
}

/// The order is random within a block; from block to block it is not, so few address translations are missed.
const BLOCK_BYTES: usize = 1 << 20;
const LINE_BYTES: usize = size_of::<CachePadded<AtomicUsize>>();
/// Loads of a chain that are measured.
const WALK: u32 = 20_000;
/// Loads between work that are measured.
const AHEAD: u32 = 2_000;

impl Chain {
    fn new(bytes: usize) -> Self {
        let mut order: Vec<usize> = (0..bytes / LINE_BYTES).collect();
        let mut chance = fastrand::Rng::with_seed(1);
        order.chunks_mut(BLOCK_BYTES / LINE_BYTES).for_each(|block| chance.shuffle(block));
        let lines: Vec<CachePadded<AtomicUsize>> = order.iter().map(|_| CachePadded::default()).collect();
        for (&at, &next) in order.iter().zip(order.iter().cycle().skip(1)) {
            lines[at].store(next, Ordering::Relaxed);
        }
        let walked = order.iter().position(|&at| at == 0).unwrap_or(0);
        Self { lines, order, at: 0, walked }
    }

    /// How far a core looks ahead: the part of `latency` that does not add to the work around a load. The
    /// core knows the address, and no work needs the value. The work takes twice as long, so no two loads
    /// overlap.
    fn looks_ahead(&self, latency: f64) -> f64 {
        let mut state = 1;
        let step = each(AHEAD, || state = spend(state, 100)) / 100.0;
        let steps = (2.0 * latency / step).ceil() as u64;
        let alone = each(AHEAD, || state = spend(state, steps));
        let mut others = self.others();
        let both = each(AHEAD, || {
            state = spend(state, steps);
            black_box(others.next().map(|&at| self.lines[at].load(Ordering::Relaxed)));
        });
        black_box(state);
        latency - (both - alone).max(0.0)
    }

    /// All lines, from the one on that is as far from where the chain was walked as can be.
    fn others(&self) -> impl Iterator<Item = &usize> {
        let (first, second) = self.order.split_at((self.walked + self.order.len() / 2) % self.order.len());
        second.iter().chain(first)
    }

    /// Nanoseconds of one of `count` loads.
    fn walk(&mut self, count: u32) -> f64 {
        self.walked += count as usize;
        each(count, || self.at = self.lines[self.at].load(Ordering::Relaxed))
    }
}

/// The chains of the caches, where their sizes are known.
pub(super) struct Caches {
    shared: Option<Chain>,
    memory: Option<Chain>,
}

impl Caches {
    /// For the caches that a CPU has, of which the kernel tells in kibibytes.
    pub(super) fn of(cpu: usize) -> Self {
        let read = |index: u32, name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}");
            std::fs::read_to_string(path).ok()
        };
        let size = |level: &str| {
            let index =
                (0..8).find(|&index| read(index, "level").is_some_and(|text| text.trim() == level))?;
            Some(read(index, "size")?.trim().strip_suffix('K')?.parse::<usize>().ok()? * 1024)
        };
        Self::new(size("2"), size("3"))
    }

    /// `own`, `shared`: bytes of the caches of a core and of a group, as far as they are known.
    fn new(own: Option<usize>, shared: Option<usize>) -> Self {
        let chain = |bytes: usize| (1 << 20..=1 << 29).contains(&bytes).then(|| Chain::new(bytes));
        let middle = own.zip(shared).filter(|(own, shared)| shared / own >= 4);
        Self {
            shared: middle.and_then(|(own, _)| chain(own * 3)),
            memory: shared.and_then(|shared| chain(shared * 4)),
        }
    }

    /// The shared cache: a chain that is too long for the core's own caches. Memory: one too long for any.
    /// How far cores look ahead: of the farther of the two.
    pub(super) fn measure(&mut self, cpu: usize, figures: &mut Figures) {
        alone(cpu, || {
            let mut farthest = None;
            if let Some(chain) = &mut self.shared {
                chain.walk(chain.lines.len() as u32); // what others did to the caches meanwhile
                let latency = chain.walk(WALK);
                figures.add(What::SHARED_CACHE, latency);
                farthest = Some((&*chain, latency));
            }
            if let Some(chain) = &mut self.memory {
                let latency = chain.walk(WALK);
                figures.add(What::MEMORY, latency);
                farthest = Some((&*chain, latency));
            }
            if let Some((chain, latency)) = farthest {
                figures.add(What::LOOK_AHEAD, chain.looks_ahead(latency));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_visits_every_line_once() {
        let chain = Chain::new(3 * BLOCK_BYTES / 2);
        let (mut at, mut seen) = (0, vec![false; chain.lines.len()]);
        for _ in 0..chain.lines.len() {
            assert!(!core::mem::replace(&mut seen[at], true));
            at = chain.lines[at].load(Ordering::Relaxed);
        }
        assert_eq!(at, 0);
    }

    #[test]
    fn a_chain_knows_how_far_it_was_walked() {
        let mut chain = Chain::new(BLOCK_BYTES);
        for count in [0, 1, 7_000, 5_000] {
            chain.walk(count);
            let (length, half) = (chain.order.len(), chain.order.len() / 2);
            assert_eq!(chain.order[chain.walked % length], chain.at);
            assert_eq!(
                chain.others().position(|&line| line == chain.at),
                Some(half),
                "half of them come before"
            );
            assert_eq!(chain.others().count(), length);
        }
    }

    #[test]
    fn chains_are_left_out_where_caches_are_not_known() {
        let caches = Caches::new(Some(1 << 20), None);
        assert!(caches.shared.is_none() && caches.memory.is_none());
    }
}
