//! What a context does around each section, be it a worker, a signal handler on a worker's thread, or the
//! tormentor: it says what it does, checks what the lock protects, and counts.
#![expect(unsafe_code, reason = "a lock under torture is given back by unsafe functions")]
use super::arena::Arena;
use super::lock::{Side, Tortured};
use super::slot::{Activity, HANDLER_LEVELS, Slot, one_more};
use super::test_lock::TestLock;

#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) arena: &'static Arena,
    /// Where it says what it does.
    pub(super) slot: &'static Slot,
    /// The number of the slot.
    pub(super) number: usize,
    /// How many contexts of its thread it has interrupted.
    depth: usize,
}

impl Context {
    /// The worker, or the tormentor, in slot `number`.
    pub(super) fn of(arena: &'static Arena, number: usize) -> Self {
        Self { arena, slot: &arena.slots[number], number, depth: 0 }
    }

    /// The handler at `depth` that interrupted it.
    pub(super) fn interrupted(self, depth: usize) -> Self {
        Self { depth, ..self }
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
        if self.arena.skills.shares {
            self.slot.claims.about_to(self.depth, test_lock, side);
        }
        acquire(&place.lock);
        if self.arena.skills.shares {
            self.slot.claims.holds(self.depth, test_lock, side);
        }
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

    /// The section ends.
    pub(super) fn end<L: ?Sized>(self, place: &TestLock<L>, side: Side) {
        self.slot.charge(match side {
            Side::Writes => place.leave_write(self.id()),
            Side::Reads | Side::Upgrades => place.leave_read(),
        });
    }

    /// Ends the section, and gives the test lock back.
    #[inline(always)]
    pub(super) fn leave<L: Tortured + ?Sized>(self, place: &TestLock<L>, test_lock: usize, side: Side) {
        self.end(place, side);
        self.does(Activity::Releasing, test_lock);
        if self.arena.skills.shares {
            self.slot.claims.about_to(self.depth, test_lock, side);
        }
        // SAFETY: this context entered on that side, or changed to it since.
        unsafe { place.lock.release(side) };
        if self.arena.skills.shares {
            self.slot.claims.gone(self.depth, test_lock);
        }
    }

    /// Whether it waits as the last that a thread has a level for, all those that it interrupted waiting too.
    pub(super) fn waits_fifth(self) -> bool {
        let doing = self.slot.doing();
        self.depth == HANDLER_LEVELS && doing.contexts().all(|(activity, _)| activity == Activity::Waiting)
    }

    /// The number under which it enters sections: unique per slot and depth.
    pub(super) fn id(self) -> u64 {
        (self.number * (HANDLER_LEVELS + 1) + self.depth) as u64
    }
}
