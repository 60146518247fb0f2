//! Everything the threads of one run share. It is leaked: a stuck thread may look at it for as long as it
//! likes.
#![expect(unsafe_code, reason = "giving a lock back is unsafe to call")]
use super::orders::Orders;
use super::slot::{Activity, HANDLER_LEVELS, Slot, TEST_LOCKS, handler_lock};
use super::tally::Tally;
use super::test_lock::TestLock;
use super::tortured::{Side, Tortured};
use super::worker;
use core::ops::Deref;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use core::time::Duration;

/// The workers' slots and the switches: what is the same for every lock.
pub(crate) struct Arena {
    pub(crate) orders: Orders,
    /// The writers, then the readers.
    pub(crate) slots: Vec<Slot>,
    /// The tormentor takes the handlers' locks too and books what it sees here.
    pub(crate) tormentor: Slot,
    pub(crate) switches: Switches,
    /// Acquisitions made while holding another lock.
    pub(crate) nested: AtomicU64,
}

/// What the supervisor switches and everybody else looks at.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Switches {
    /// The run is over: leave at the next opportunity.
    pub(crate) stop: AtomicBool,
    /// The stutter holds everybody back.
    pub(crate) pause: AtomicBool,
    /// Something looks stuck: send no signals at all, they might cure it.
    pub(crate) hush: AtomicBool,
}

/// An arena and the locks in it.
pub(crate) struct Ring<L> {
    arena: Arena,
    /// The lock itself, the nested ones, and one per handler level.
    pub(crate) test_locks: [TestLock<L>; TEST_LOCKS],
}

/// What the supervisor asks of a ring, whatever the type of the lock.
pub(crate) trait AnyRing: Sync {
    fn arena(&self) -> &Arena;
    /// Whether readers are inside together.
    fn shares(&self) -> bool;
    /// The body of a worker's thread: see [`worker::work`].
    fn work(&'static self, number: usize, generation: u64);
    /// Reads a test lock, and gives it back after `within`.
    fn read(&self, test_lock: usize, within: &mut dyn FnMut());
    /// Takes the handlers' lock of a level as the tormentor, and gives it back after `within`.
    fn besiege(&self, level: usize, within: &mut dyn FnMut());
    /// See [`Tortured::describe`].
    fn describe(&self, test_lock: usize) -> String;
    /// See [`TestLock::counted`].
    fn counted(&self, test_lock: usize) -> u64;
}

impl<L: Tortured> Ring<L> {
    /// Sets the run up for `orders`, with every lock free.
    pub(crate) fn leak(orders: Orders) -> &'static Self {
        let test_locks = core::array::from_fn(|test_lock| TestLock::new(L::new(test_lock)));
        Box::leak(Box::new(Self { arena: Arena::new(orders), test_locks }))
    }
}

impl<L> Deref for Ring<L> {
    type Target = Arena;

    fn deref(&self) -> &Arena {
        &self.arena
    }
}

impl<L: Tortured> AnyRing for Ring<L> {
    fn arena(&self) -> &Arena {
        self
    }

    fn shares(&self) -> bool {
        L::SKILLS.shares
    }

    fn work(&'static self, number: usize, generation: u64) {
        worker::work(self, number, generation);
    }

    fn read(&self, test_lock: usize, within: &mut dyn FnMut()) {
        let lock = &self.test_locks[test_lock].lock;
        let guard = lock.acquire(Side::Reads);
        within();
        // SAFETY: the guard is what this thread acquired from this very lock above.
        unsafe { lock.release(guard) };
    }

    fn besiege(&self, level: usize, within: &mut dyn FnMut()) {
        let (slot, test_lock) = (&self.tormentor, handler_lock(level));
        let place = &self.test_locks[test_lock];
        // Beyond every worker's numbers.
        let context = Arena::context(self.slots.len(), level);
        slot.does(Activity::Waiting, test_lock);
        let guard = place.lock.acquire(Side::Writes);
        slot.does(Activity::Holding, test_lock);
        let mut seen = place.enter_write(context);
        slot.handler_count(test_lock, true);
        within();
        seen += place.leave_write(context);
        slot.charge(seen);
        slot.does(Activity::Releasing, test_lock);
        // SAFETY: `guard` is what `acquire` of this very lock returned above, in this context.
        unsafe { place.lock.release(guard) };
    }

    fn describe(&self, test_lock: usize) -> String {
        self.test_locks[test_lock].lock.describe()
    }

    fn counted(&self, test_lock: usize) -> u64 {
        self.test_locks[test_lock].counted()
    }
}

impl Arena {
    fn new(orders: Orders) -> Self {
        let slots = (0..orders.writers + orders.readers).map(|_| Slot::default()).collect();
        Self {
            orders,
            slots,
            tormentor: Slot::default(),
            switches: Switches::default(),
            nested: AtomicU64::new(0),
        }
    }

    /// Whether the worker in `slot` writes.
    pub(crate) fn writes(&self, slot: usize) -> bool {
        slot < self.orders.writers
    }

    /// "writer 3" or "reader 0".
    pub(crate) fn worker_name(&self, slot: usize) -> String {
        if self.writes(slot) {
            format!("writer {slot}")
        } else {
            format!("reader {}", slot - self.orders.writers)
        }
    }

    pub(crate) fn long_hold(&self) -> Duration {
        Duration::from_millis(self.orders.long_hold_ms)
    }

    pub(crate) fn stopping(&self) -> bool {
        self.switches.stop.load(Relaxed)
    }

    /// The number under which a context enters sections: unique per thread and handler depth.
    pub(crate) fn context(slot: usize, depth: usize) -> u64 {
        (slot * (HANDLER_LEVELS + 1) + depth) as u64
    }

    /// The sums of the writers. What others wrote is in the total.
    pub(crate) fn writes_tally(&self) -> Tally {
        let (writers, readers) = self.slots.split_at(self.orders.writers);
        Self::tally(writers, readers, Slot::written)
    }

    /// The sums of the readers. What others read is in the total.
    pub(crate) fn reads_tally(&self) -> Tally {
        let (writers, readers) = self.slots.split_at(self.orders.writers);
        Self::tally(readers, writers, Slot::read)
    }

    fn tally(slots: &[Slot], others: &[Slot], acquired: fn(&Slot) -> u64) -> Tally {
        let mut tally = Tally::of(slots.iter().map(|slot| {
            let seen = slot.breaches();
            (acquired(slot), seen.exclusion + seen.torn)
        }));
        tally.total += others.iter().map(acquired).sum::<u64>();
        tally
    }

    /// How often `test_lock` was acquired to write there, by whomever: what its counter has to show.
    pub(crate) fn writes_at(&self, test_lock: usize) -> u64 {
        self.slots.iter().chain([&self.tormentor]).map(|slot| slot.written_at(test_lock)).sum()
    }
}
