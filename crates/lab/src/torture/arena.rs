//! Everything the threads of one run share. It is leaked: a stuck thread may look at it for as long as it
//! likes.
use super::lock::{Skills, Tortured};
use super::orders::Orders;
use super::slot::{Slot, TEST_LOCKS};
use super::tally::Tally;
use super::test_lock::TestLock;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;

/// What is the same for every type of lock.
pub(super) struct Arena {
    pub(super) orders: Orders,
    pub(super) skills: Skills,
    /// The lock itself, the nested ones, and one per handler level. Workers know their type.
    pub(super) test_locks: [&'static TestLock<dyn Tortured>; TEST_LOCKS],
    /// The writers, then the readers, then the tormentor if there is one, which takes the handlers' locks
    /// too.
    pub(super) slots: Vec<Slot>,
    pub(super) switches: Switches,
}

/// What the supervisor switches and everybody else looks at.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Switches {
    /// The run is over: leave at the next opportunity.
    pub(super) stop: AtomicBool,
    /// The stutter holds everybody back.
    pub(super) pause: AtomicBool,
    /// Something looks stuck: send no signals at all, they might cure it.
    pub(super) hush: AtomicBool,
}

impl Arena {
    /// Sets the run up for `orders`.
    pub(super) fn leak(
        orders: Orders,
        skills: Skills,
        test_locks: [&'static TestLock<dyn Tortured>; TEST_LOCKS],
    ) -> &'static Self {
        let slots = (0..orders.writers + orders.readers + usize::from(orders.extras.signals))
            .map(|_| Slot::default())
            .collect();
        Box::leak(Box::new(Self { orders, skills, test_locks, slots, switches: Switches::default() }))
    }

    /// The slots of the writers and the readers.
    pub(super) fn workers(&self) -> &[Slot] {
        &self.slots[..self.orders.writers + self.orders.readers]
    }

    /// Whether the worker in `slot` writes.
    pub(super) fn writes(&self, slot: usize) -> bool {
        slot < self.orders.writers
    }

    /// "writer 3", "reader 0" or "tormentor".
    pub(super) fn name(&self, slot: usize) -> String {
        if self.writes(slot) {
            format!("writer {slot}")
        } else if slot < self.workers().len() {
            format!("reader {}", slot - self.orders.writers)
        } else {
            "tormentor".to_owned()
        }
    }

    pub(super) fn long_hold(&self) -> Duration {
        Duration::from_millis(self.orders.long_hold_ms)
    }

    pub(super) fn stopping(&self) -> bool {
        self.switches.stop.load(Relaxed)
    }

    /// The sums of the writers, and those of the readers. What each did on the other side is in the other
    /// total.
    pub(super) fn tallies(&self) -> (Tally, Tally) {
        let (writers, readers) = self.workers().split_at(self.orders.writers);
        (Self::tally(writers, readers, Slot::written), Self::tally(readers, writers, Slot::read))
    }

    fn tally(slots: &[Slot], others: &[Slot], acquired: fn(&Slot) -> u64) -> Tally {
        let threads: Vec<(u64, u64)> = slots.iter().map(|slot| (acquired(slot), slot.breaches())).collect();
        let mut tally = Tally::of(&threads);
        tally.total += others.iter().map(acquired).sum::<u64>();
        tally
    }

    /// How often `test_lock` was acquired to write there, by whomever: what its counter has to show.
    pub(super) fn writes_at(&self, test_lock: usize) -> u64 {
        self.slots.iter().map(|slot| slot.written_at(test_lock)).sum()
    }
}
