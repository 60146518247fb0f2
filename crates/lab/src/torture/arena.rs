//! Everything the threads of one run share, which is leaked: a stuck thread may look at it for as long as it
//! likes. And what each context does around a section.
#![expect(unsafe_code, reason = "a lock under torture is given back by unsafe functions")]
use super::args::Orders;
use super::handler::Claims;
use super::lock::{Side, Skills, Tortured};
use super::slot::{Activity, HANDLER_LEVELS, Slot, TEST_LOCKS, one_more};
use super::tally::Tally;
use super::test_lock::TestLock;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;

pub(super) struct Arena {
    pub(super) orders: Orders,
    pub(super) skills: Skills,
    pub(super) test_locks: [&'static TestLock<dyn Tortured>; TEST_LOCKS],
    /// The writers, then the readers, then the tormentor if there is one.
    pub(super) slots: Vec<Slot>,
    pub(super) switches: Switches,
}

/// What the supervisor switches and everybody else looks at.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Switches {
    pub(super) stop: AtomicBool,
    /// The stutter holds everybody back.
    pub(super) pause: AtomicBool,
    /// Something looks stuck: send no signals at all, they might cure it.
    pub(super) hush: AtomicBool,
}

impl Arena {
    pub(super) fn leak(
        orders: Orders,
        skills: Skills,
        test_locks: [&'static TestLock<dyn Tortured>; TEST_LOCKS],
    ) -> &'static Self {
        let slots = orders.writers + orders.readers + usize::from(orders.extras.signals);
        let slots = (0..slots).map(|_| Slot::default()).collect();
        Box::leak(Box::new(Self { orders, skills, test_locks, slots, switches: Switches::default() }))
    }

    pub(super) fn workers(&self) -> &[Slot] {
        &self.slots[..self.orders.writers + self.orders.readers]
    }

    pub(super) fn writes(&self, slot: usize) -> bool {
        slot < self.orders.writers
    }

    pub(super) fn name(&self, slot: usize) -> String {
        match slot.checked_sub(self.orders.writers) {
            None => format!("writer {slot}"),
            Some(reader) if reader < self.orders.readers => format!("reader {reader}"),
            Some(_) => "tormentor".to_owned(),
        }
    }

    pub(super) fn long_hold(&self) -> Duration {
        Duration::from_millis(self.orders.long_hold_ms)
    }

    pub(super) fn stopping(&self) -> bool {
        self.switches.stop.load(Relaxed)
    }

    pub(super) fn tallies(&self) -> (Tally, Tally) {
        let (writers, readers) = self.workers().split_at(self.orders.writers);
        (Tally::of(writers, readers, Slot::written), Tally::of(readers, writers, Slot::read))
    }
}

/// A worker, a signal handler on its thread, or the tormentor: says what it does, checks what the lock
/// protects, and counts.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) arena: &'static Arena,
    /// Where it says what it does, and the number of that.
    pub(super) slot: &'static Slot,
    pub(super) number: usize,
    /// How many contexts of its thread it has interrupted.
    pub(super) depth: usize,
}

impl Context {
    pub(super) fn of(arena: &'static Arena, number: usize) -> Self {
        Self { arena, slot: &arena.slots[number], number, depth: 0 }
    }

    pub(super) fn does(self, activity: Activity, test_lock: usize) {
        self.slot.does(self.depth, activity, test_lock);
    }

    /// Takes a test lock by `acquire`, and looks around inside.
    #[inline(always)]
    pub(super) fn enter<L: Tortured + ?Sized>(
        self,
        place: &TestLock<L>,
        test_lock: usize,
        side: Side,
        acquire: impl FnOnce(&L),
    ) {
        self.claims(|claims| claims.about_to(self.depth, test_lock, side));
        acquire(&place.lock);
        self.claims(|claims| claims.holds(self.depth, test_lock, side));
        self.does(Activity::Holding, test_lock);
        self.begin(place, test_lock, side);
    }

    /// The section begins: what is there to see is booked.
    pub(super) fn begin<L: ?Sized>(self, place: &TestLock<L>, test_lock: usize, side: Side) {
        let writes = side == Side::Writes;
        let seen = if writes {
            place.enter_write(self.id())
        } else {
            let (mut seen, others) = place.enter_read();
            match (others, self.arena.skills.shares) {
                // A handler may have met its own thread's reader.
                (true, true) if self.depth == 0 => one_more(&self.slot.shared.together),
                (_, true) => {}
                (others, false) => seen.exclusion += u64::from(others),
            }
            seen
        };
        self.slot.charge(seen);
        self.slot.count(self.depth, test_lock, writes);
    }

    pub(super) fn end<L: ?Sized>(self, place: &TestLock<L>, side: Side) {
        self.slot.charge(match side {
            Side::Writes => place.leave_write(self.id()),
            Side::Reads | Side::ReadsAgain | Side::Upgrades => place.leave_read(),
        });
    }

    #[inline(always)]
    pub(super) fn leave<L: Tortured + ?Sized>(self, place: &TestLock<L>, test_lock: usize, side: Side) {
        self.end(place, side);
        self.does(Activity::Releasing, test_lock);
        self.claims(|claims| claims.about_to(self.depth, test_lock, side));
        // SAFETY: this context entered on that side, or changed to it since.
        unsafe { place.lock.release(side) };
        self.claims(|claims| claims.gone(self.depth, test_lock));
    }

    /// Handlers look at claims only where readers share.
    #[inline(always)]
    fn claims(self, change: impl FnOnce(&Claims)) {
        if self.arena.skills.shares {
            change(&self.slot.claims);
        }
    }

    /// Whether it waits as the last that a thread has a level for, all those that it interrupted waiting too.
    pub(super) fn waits_fifth(self) -> bool {
        let doing = self.slot.doing();
        self.depth == HANDLER_LEVELS && doing.contexts().all(|(activity, _)| activity == Activity::Waiting)
    }

    /// Unique per slot and depth.
    pub(super) fn id(self) -> u64 {
        (self.number * (HANDLER_LEVELS + 1) + self.depth) as u64
    }
}
