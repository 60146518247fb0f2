//! Locks that are broken on purpose, each in one way, to show that torture (or a sanitizer) would notice; and
//! the same without a flaw.
//!
//! `registry.rs` says of each flaw what is broken and what has to catch it, and CI holds torture to that.
//! None of them keeps what a lock promises: torture treats the data behind a lock as racing (see `arena.rs`).
#![expect(unsafe_code, reason = "to give back a lock under torture is unsafe, whatever the lock makes of it")]
use super::lock::{Side, Tortured, no_queue};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, compiler_fence};
use crossbeam_utils::CachePadded;
use rustix::thread::futex;
use stanchion::native::{Native, Silent};
use stanchion::stanchion_core::Machine as _;

/// Waits a little, and after many polls gives the CPU away: these locks are to be caught, not to burn time.
fn relax(polls: &mut u32) {
    *polls += 1;
    if polls.is_multiple_of(64) {
        std::thread::yield_now();
    } else {
        core::hint::spin_loop();
    }
}

/// What a reader-writer lock tells of itself.
fn inside(readers: usize, written: bool) -> String {
    let writer = if written { "a writer is in, or waits for readers" } else { "no writer" };
    format!("{readers} readers, {writer}")
}

/// A mutex. In a reader-writer lock's place it is one whose readers exclude each other.
pub(crate) const SOUND: u8 = 0;
/// Keeps nobody out: the kernel's `lock_busted`. To torture, the flags disagree within milliseconds.
pub(crate) const OPEN: u8 = 1;
/// Who saw it free takes it in a second step: for torture, a window of nanoseconds at every hand-over.
pub(crate) const CHECK_THEN_SET: u8 = 2;
/// A try may take what somebody holds, for torture with `tries` to see; without, a test shows, it is sound.
pub(crate) const TRY_LIES: u8 = 3;
/// All orderings are `Relaxed`: the lock excludes but makes no holder's writes visible to the next.
///
/// On x86 an atomic exchange orders everything around it whatever the source says, so torture alone *cannot*
/// see the bug there (on a weakly ordered machine the torn-view check may). Built with `-Zsanitizer=thread`,
/// the same run reports a data race on the protected words. The sound twin, which differs in nothing else,
/// shows that this is not the harness racing with itself.
pub(crate) const RELAXED: u8 = 4;
/// The first whose readers share.
pub(crate) const RW_SOUND: u8 = 5;
pub(crate) const CHECK_THEN_ACT: u8 = 6;
pub(crate) const NO_WAIT: u8 = 7;
pub(crate) const TRY_ENTERS: u8 = 8;
pub(crate) const LOST_WAKEUP: u8 = 9;
pub(crate) const WRONG_COUNT: u8 = 10;

const WRITER: u32 = 1 << 31;

/// A count of readers and a writer's flag. As a mutex it has the flag only.
///
/// Three flaws leave exclusion perfect: one stops (the watchdog's business), one lets one reader in at a time
/// (which the readers' own meetings tell), one orders nothing (which ThreadSanitizer tells).
#[derive(Default)]
pub(crate) struct Flag<const FLAW: u8> {
    /// The readers, and [`WRITER`].
    count: AtomicU32,
    /// Picks the moments of what happens rarely.
    rarely: AtomicU32,
}

impl<const FLAW: u8> Flag<FLAW> {
    const SHARES: bool = FLAW >= RW_SOUND;
    const ACQUIRE: Ordering = if FLAW == RELAXED { Ordering::Relaxed } else { Ordering::Acquire };
    const RELEASE: Ordering = if FLAW == RELAXED { Ordering::Relaxed } else { Ordering::Release };

    fn now(&self, one_in: u32) -> bool {
        self.rarely.fetch_add(1, Ordering::Relaxed) % one_in == one_in - 1
    }

    fn try_read(&self) -> bool {
        let seen = self.count.load(Ordering::Relaxed);
        if seen & WRITER != 0 {
            return false;
        }
        if FLAW == CHECK_THEN_ACT {
            if self.now(16) {
                std::thread::yield_now(); // gives the bug below a fair chance
            }
            // BUG: a writer may have come since, and seen nobody.
            self.count.fetch_add(1, Ordering::Acquire);
            return true;
        }
        self.count.compare_exchange(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The flag is ours; readers may still be in.
    fn try_flag(&self) -> bool {
        match FLAW {
            // BUG: nobody is kept out.
            OPEN => true,
            // BUG: between the load and the store anybody else may do the same.
            CHECK_THEN_SET => {
                let free = self.count.load(Ordering::Acquire) == 0;
                if free {
                    self.count.store(WRITER, Ordering::Relaxed);
                }
                free
            }
            // With RELAXED this is the BUG, together with the release.
            _ => self.count.fetch_or(WRITER, Self::ACQUIRE) & WRITER == 0,
        }
    }

    fn wait_for_readers(&self) {
        if FLAW == NO_WAIT {
            return; // BUG: they may be in.
        }
        let mut polls = 0;
        loop {
            let seen = self.count.load(Ordering::Acquire);
            if seen == WRITER {
                return;
            }
            if FLAW == LOST_WAKEUP {
                // An error is a spurious return (a signal, or the count has changed): look again.
                let _ = futex::wait(&self.count, futex::Flags::PRIVATE, seen, None);
            } else {
                relax(&mut polls);
            }
        }
    }

    fn leave_read(&self) {
        let seen = self.count.load(Ordering::Relaxed);
        // BUG: with 2, another one is still in. With LOST_WAKEUP, the BUG is that the writer is not told.
        let left = if FLAW == WRONG_COUNT && seen & !WRITER > 1 && self.now(16) { 2 } else { 1 };
        self.count.fetch_sub(left, Ordering::Release);
    }
}

impl<const FLAW: u8> Tortured for Flag<FLAW> {
    fn new(_test_lock: usize) -> Self {
        Self::default()
    }

    fn acquire(&self, side: Side) {
        let mut polls = 0;
        let shares = Self::SHARES && side.reads();
        while !(if shares { self.try_read() } else { self.try_flag() }) {
            relax(&mut polls);
            while self.count.load(Ordering::Relaxed) & WRITER != 0 {
                relax(&mut polls);
            }
        }
        if Self::SHARES && !shares {
            self.wait_for_readers();
        }
    }

    fn try_acquire(&self, side: Side) -> bool {
        if !Self::SHARES {
            // BUG: with TRY_LIES it is held, whatever this says.
            return self.try_flag() || FLAW == TRY_LIES && self.now(64);
        }
        if !side.reads() {
            return self.count.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok();
        }
        let lies = FLAW == TRY_ENTERS && self.count.load(Ordering::Relaxed) == WRITER;
        if lies {
            self.count.fetch_add(1, Ordering::Acquire); // BUG: somebody writes.
        }
        lies || self.try_read()
    }

    unsafe fn release(&self, side: Side) {
        if Self::SHARES && side.reads() {
            self.leave_read();
        } else if FLAW != OPEN {
            self.count.fetch_and(!WRITER, Self::RELEASE);
        }
    }

    fn describe(&self) -> String {
        match self.count.load(Ordering::Relaxed) {
            count if Self::SHARES => inside((count & !WRITER) as usize, count & WRITER != 0),
            count => no_queue(if count == 0 { "free" } else { "held" }),
        }
    }
}

/// The release now and then serves two tickets, each of which serves the next: two hold it ever after.
pub(crate) const DOUBLE_GRANT: u8 = 0;
/// A waiter looks whether it is its turn *before* it notes which wake-up it is waiting for. One in between is
/// missed, and since the lock was handed to that very waiter, nobody gets it ever again, which the watchdog
/// sees. A signal without `SA_RESTART` ends a futex wait, and the waiter looks again: signals *cure* this
/// bug. That is why the tormentor has calm spells, and spares workers that are getting nowhere.
pub(crate) const MISSED: u8 = 1;

#[derive(Default)]
pub(crate) struct Ticket<const FLAW: u8> {
    next: AtomicU32,
    serving: AtomicU32,
    /// Counts wake-ups; waiters that park sleep on it.
    wakeups: AtomicU32,
}

impl<const FLAW: u8> Ticket<FLAW> {
    fn park(&self) {
        // A last chance for the holder before we pay for a sleep. It also gives the bug below a fair chance.
        std::thread::yield_now();
        // BUG: this load belongs before the check. As it is, the wake-up may already be in the number that we
        // wait to see change.
        let seen = self.wakeups.load(Ordering::Relaxed);
        // An error is a spurious return (a signal, or the number changed after all): look again.
        let _ = futex::wait(&self.wakeups, futex::Flags::PRIVATE, seen, None);
    }
}

impl<const FLAW: u8> Tortured for Ticket<FLAW> {
    fn new(_test_lock: usize) -> Self {
        Self::default()
    }

    fn acquire(&self, _side: Side) {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut polls = 0;
        // "Served or already past": what makes a skipped ticket a second holder rather than a lost one.
        while ticket.wrapping_sub(self.serving.load(Ordering::Acquire)).cast_signed() > 0 {
            if FLAW == MISSED {
                self.park();
            } else {
                relax(&mut polls);
            }
        }
    }

    fn try_acquire(&self, _side: Side) -> bool {
        let serving = self.serving.load(Ordering::Relaxed);
        let next = serving.wrapping_add(1);
        self.next.compare_exchange(serving, next, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    unsafe fn release(&self, _side: Side) {
        let serving = self.serving.load(Ordering::Relaxed);
        let waiters = self.next.load(Ordering::Relaxed).wrapping_sub(serving).cast_signed() - 1;
        let wrong = FLAW == DOUBLE_GRANT && waiters >= 2 && serving.is_multiple_of(1024);
        // BUG: the skipped ticket and the one after it are both served now.
        self.serving.fetch_add(if wrong { 2 } else { 1 }, Ordering::Release);
        if FLAW == MISSED {
            self.wakeups.fetch_add(1, Ordering::Relaxed);
            // Waking nobody is not an error worth knowing.
            let _ = futex::wake(&self.wakeups, futex::Flags::PRIVATE, u32::MAX >> 1);
        }
    }

    fn describe(&self) -> String {
        let [next, serving, wakeups] =
            [&self.next, &self.serving, &self.wakeups].map(|number| number.load(Ordering::Relaxed));
        format!("next ticket {next}, serving {serving}, {wakeups} wake-ups sent")
    }
}

/// So many threads have numbers.
const CELLS: usize = 1 << 14;

/// One more than the greatest number of a thread that has read.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);

/// A reader-writer lock whose readers write to a cell of their own; sound if its writers are `HEAVY`.
///
/// If not, the reader's store and the writer's may both still be in their CPUs' store buffers when each looks
/// for the other's, on x86 too. The reader has a compiler barrier only, for which the writer's `membarrier`
/// makes up.
#[derive(Default)]
pub(crate) struct PerCpuCells<const HEAVY: bool> {
    writes: CachePadded<AtomicBool>,
    /// Writers exclude each other.
    writers: CachePadded<AtomicBool>,
    cells: Vec<CachePadded<AtomicBool>>,
    /// Who came last, in several copies. Stores to lines that somebody else has keep the stores after them in
    /// the buffer for a while, as other work of a busy program does.
    last: [CachePadded<AtomicUsize>; 8],
}

impl<const HEAVY: bool> PerCpuCells<HEAVY> {
    fn mine(&self) -> &AtomicBool {
        let cpu = Native::<Silent>::this_cpu().expect("torture has far fewer threads than numbers");
        let number = usize::from(cpu.index());
        if number >= NUMBERS.load(Ordering::Relaxed) {
            NUMBERS.fetch_max(number + 1, Ordering::SeqCst);
        }
        &self.cells[number]
    }

    fn work(&self, who: usize) {
        self.last.iter().for_each(|copy| copy.store(who, Ordering::Relaxed));
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
            // BUG: the flag may still be in the store buffer when we look at the cells; so may a reader's.
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
        let cells = (0..CELLS).map(|_| CachePadded::default()).collect();
        Self { cells, ..Self::default() }
    }

    fn acquire(&self, side: Side) {
        let mut polls = 0;
        if side.reads() {
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
        if side.reads() {
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
        if side.reads() {
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
