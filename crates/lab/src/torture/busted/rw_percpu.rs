//! `busted-percpu-rw`: a reader-writer lock whose readers write to a cell of their own, and whose writer has
//! no barrier between its flag and its look at the cells; and `reference-percpu-rw`, which has one and
//! differs in nothing else.
//!
//! Detector: torture, on any machine with two CPUs. The reader's store and the writer's may both still be in
//! their CPUs' store buffers when each looks for the other's, on x86 too. The reader's side has a compiler
//! barrier only, as in the sound lock: there the writer's `membarrier` makes up for it.
use super::{inside, relax};
use crate::torture::lock::{Side, Skills, Tortured};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};
use crossbeam_utils::CachePadded;
use stanchion::native::{Native, Silent};
use stanchion::stanchion_core::Machine as _;

/// As many threads as have numbers.
const CELLS: usize = 1 << 14;

/// One more than the greatest number of a thread that has read.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);

/// The lock; sound if its writers are `HEAVY`.
pub(crate) struct PerCpuCells<const HEAVY: bool> {
    writes: CachePadded<AtomicBool>,
    /// Writers exclude each other.
    writers: CachePadded<AtomicBool>,
    cells: Vec<CachePadded<AtomicBool>>,
    /// Who came last, in several copies. Stores to lines that somebody else has keep the stores after them in
    /// the buffer for a while, as other work of a busy program does; the lock is as right or wrong as
    /// without.
    last: [CachePadded<AtomicUsize>; 8],
}

impl<const HEAVY: bool> PerCpuCells<HEAVY> {
    pub(crate) const SKILLS: Skills = Skills { handlers_write: false, ..Skills::READERS };

    fn mine(&self) -> &AtomicBool {
        let number =
            Native::<Silent>::this_cpu().expect("torture has far fewer threads than numbers").index();
        let number = usize::from(number);
        if number >= NUMBERS.load(Ordering::Relaxed) {
            NUMBERS.fetch_max(number + 1, Ordering::SeqCst);
        }
        &self.cells[number]
    }

    fn work(&self, who: usize) {
        for copy in &self.last {
            copy.store(who, Ordering::Relaxed);
        }
    }

    fn try_read(&self) -> bool {
        let cell = self.mine();
        self.work(core::ptr::from_ref(cell).addr());
        cell.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        if !self.writes.load(Ordering::Acquire) {
            return true;
        }
        cell.store(false, Ordering::Release);
        false
    }

    /// The calling thread is the only writer.
    fn announce(&self) {
        self.work(0);
        self.writes.store(true, Ordering::Release);
        if HEAVY {
            while !Native::<Silent>::heavy_barrier() {
                std::thread::yield_now();
            }
        } else {
            // BUG: the flag may still be in the store buffer when we look at the cells, as may be what a
            // reader put there.
            compiler_fence(Ordering::SeqCst);
        }
    }

    fn cells(&self) -> &[CachePadded<AtomicBool>] {
        &self.cells[..NUMBERS.load(Ordering::Relaxed)]
    }

    fn leave_write(&self) {
        self.writes.store(false, Ordering::Release);
        self.writers.store(false, Ordering::Release);
    }
}

impl<const HEAVY: bool> Tortured for PerCpuCells<HEAVY> {
    fn new(_test_lock: usize) -> Self {
        Self {
            writes: CachePadded::default(),
            writers: CachePadded::default(),
            cells: (0..CELLS).map(|_| CachePadded::new(AtomicBool::new(false))).collect(),
            last: Default::default(),
        }
    }

    fn acquire(&self, side: Side) {
        let mut polls = 0;
        if side == Side::Reads {
            while !self.try_read() {
                while self.writes.load(Ordering::Relaxed) {
                    relax(&mut polls);
                }
            }
            return;
        }
        while self.writers.swap(true, Ordering::Acquire) {
            relax(&mut polls);
        }
        self.announce();
        for cell in self.cells() {
            while cell.load(Ordering::Acquire) {
                relax(&mut polls);
            }
        }
    }

    fn try_acquire(&self, side: Side) -> bool {
        if side == Side::Reads {
            return self.try_read();
        }
        if self.writers.swap(true, Ordering::Acquire) {
            return false;
        }
        self.announce();
        let free = !self.cells().iter().any(|cell| cell.load(Ordering::Acquire));
        if !free {
            self.leave_write();
        }
        free
    }

    unsafe fn release(&self, side: Side) {
        if side == Side::Reads {
            self.mine().store(false, Ordering::Release);
        } else {
            self.leave_write();
        }
    }

    fn describe(&self) -> String {
        let readers = self.cells().iter().filter(|cell| cell.load(Ordering::Relaxed)).count();
        inside(readers, self.writes.load(Ordering::Relaxed))
    }
}
