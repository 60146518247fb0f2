//! The worker's loop: locktorture's `lock_torture_writer` and `lock_torture_reader`.
#![expect(unsafe_code, reason = "giving a lock back is unsafe to call")]
use super::arena::{Arena, Ring};
use super::delay::Hold;
use super::handler;
use super::rng::Rng;
use super::sharing::one_more;
use super::slot::{Activity, Breaches, Slot, TASK_LOCKS};
use super::tortured::{Side, Tortured};
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use std::time::Instant;

/// One acquisition in this many starts with a try.
const TRY_ONE_IN: u64 = 16;
/// How often a try is repeated before the worker waits after all.
const TRIES_MOST: u64 = 8;
/// One round in this many takes further locks while it holds the first.
const NEST_ONE_IN: u64 = 8;
/// One round in this many leaves the first lock out and starts at a nested one, which would otherwise never
/// be contended: whoever holds the first has the others to itself.
const START_NESTED_ONE_IN: u64 = 16;
/// Of the slots, every other pair changes sides in one round in this many…
const OTHER_SIDE_ONE_IN: u64 = 8;
/// …and at one nested lock in this many draws its side anew.
const NESTED_SIDE_ONE_IN: u64 = 4;
/// One writer in this many holds upgradably where that can be had, and half of those upgrade.
const UPGRADABLE_ONE_IN: u64 = 8;
/// One writer in this many goes on as a reader where that can be had.
const DOWNGRADE_ONE_IN: u64 = 16;
/// One reader in this many reads again.
const AGAIN_ONE_IN: u64 = 16;
/// One reader in this many waits for another one, at most so long: readers that share the lock meet.
const COMPANY_ONE_IN: u64 = 256;
const COMPANY: Duration = Duration::from_micros(100);
/// One round in this many (locktorture's 2^-20) is preceded by a sleep.
const SLEEP_ONE_IN: u64 = 1 << 20;
/// How many rounds a thread of a slot that churns lives for at least…
const LIFE_LEAST: u64 = 200;
/// …and how often that is doubled at most: drawn evenly, so that threads come and go under slow locks as well
/// as under fast ones, which do a hundred times as many rounds in the same time.
const LIFE_DOUBLINGS: u64 = 7;

/// The body of one OS thread: sits in slot number `number` as its `generation`-th occupant until the run ends
/// or its life does.
pub(crate) fn work<L: Tortured>(ring: &'static Ring<L>, number: usize, generation: u64) {
    let slot = &ring.slots[number];
    if ring.orders.extras.nice {
        // Said before the start if it is not allowed; then the workers run as they are.
        let _ = rustix::process::setpriority_process(None, 19);
    }
    let rng = Rng::new(ring.orders.seed, (number as u64) << 32 | generation);
    slot.does(Activity::Thinking, 0);
    handler::with_hook(ring, number, generation, || Worker { ring, number, slot, rng }.run());
    slot.does(Activity::Vacant, 0);
    slot.left.store(true, Relaxed);
}

/// A test lock that the worker has.
struct Section<G> {
    guard: G,
    side: Side,
}

struct Worker<L: Tortured> {
    ring: &'static Ring<L>,
    number: usize,
    slot: &'static Slot,
    rng: Rng,
}

impl<L: Tortured> Worker<L> {
    fn run(mut self) {
        let extras = self.ring.orders.extras;
        // Every other slot churns; the rest keep their first thread, so that old and new slots compete.
        let churns = extras.churn && self.number % 2 == 1;
        let mut rounds = if churns { LIFE_LEAST << self.rng.between(0, LIFE_DOUBLINGS) } else { u64::MAX };
        while rounds > 0 && !self.ring.stopping() {
            rounds -= 1;
            if self.rng.one_in(SLEEP_ONE_IN) {
                self.slot.does(Activity::Sleeping, 0);
                std::thread::sleep(Duration::from_micros(self.rng.between(1000, 4000)));
            }
            let (first, last) = self.draw_chain();
            self.chain(first, last);
            self.slot.does(Activity::Thinking, 0);
            self.stutter();
        }
    }

    /// Which test locks this round takes: `first..=last`, in ascending order, so that workers never deadlock.
    fn draw_chain(&mut self) -> (usize, usize) {
        if !self.ring.orders.extras.nested {
            return (0, 0);
        }
        let deepest = TASK_LOCKS as u64 - 1;
        let first = if self.rng.one_in(START_NESTED_ONE_IN) { self.rng.between(1, deepest) } else { 0 };
        let last = if self.rng.one_in(NEST_ONE_IN) { self.rng.between(first, deepest) } else { first };
        (first as usize, last as usize)
    }

    /// Which side this round is on.
    fn draw_side(&mut self) -> Side {
        let mut writes = self.ring.writes(self.number);
        if L::SKILLS.shares {
            writes ^= self.number % 4 >= 2 && self.rng.one_in(OTHER_SIDE_ONE_IN);
            if writes && L::SKILLS.upgrades && self.rng.one_in(UPGRADABLE_ONE_IN) {
                return Side::Upgrades;
            }
        }
        if writes { Side::Writes } else { Side::Reads }
    }

    /// Takes the test locks `first..=last`, stays, and gives them back: the last one first, but readers in
    /// any order.
    fn chain(&mut self, first: usize, last: usize) {
        let mut held = [const { None }; TASK_LOCKS];
        let mut order: [usize; TASK_LOCKS] =
            core::array::from_fn(|turn| (last + TASK_LOCKS - turn) % TASK_LOCKS);
        let order = &mut order[..=last - first];
        let mut side = self.draw_side();
        let mut only_reads = true;
        for (test_lock, place) in held.iter_mut().enumerate().take(last + 1).skip(first) {
            if test_lock > first {
                self.ring.nested.fetch_add(1, Relaxed);
                if L::SKILLS.shares && self.rng.one_in(NESTED_SIDE_ONE_IN) {
                    side = self.draw_side();
                }
            }
            only_reads &= side == Side::Reads;
            *place = Some(self.enter(test_lock, side));
        }
        self.stay(last, &mut held[last]);
        if L::SKILLS.shares && only_reads && order.len() > 1 {
            for turn in (1..order.len()).rev() {
                order.swap(turn, self.rng.below(turn as u64 + 1) as usize);
            }
            one_more(&self.slot.sharing.any_order);
        }
        for &test_lock in &*order {
            if let Some(section) = held[test_lock].take() {
                self.leave(test_lock, section);
            }
        }
    }

    /// Acquires, and looks around inside.
    fn enter(&mut self, test_lock: usize, side: Side) -> Section<L::Guard> {
        if L::SKILLS.shares {
            self.slot.claims.about_to(0, test_lock, side);
        }
        let guard = self.acquire(test_lock, side);
        if L::SKILLS.shares {
            self.slot.claims.holds(0, test_lock, side);
        }
        self.slot.does(Activity::Holding, test_lock);
        self.begin(test_lock, side);
        Section { guard, side }
    }

    /// The section begins: what is there to see is booked.
    fn begin(&self, test_lock: usize, side: Side) {
        let place = &self.ring.test_locks[test_lock];
        let writes = side == Side::Writes;
        let seen = if writes {
            place.enter_write(Arena::context(self.number, 0))
        } else {
            let (mut seen, others) = place.enter_read();
            match (others, L::SKILLS.shares) {
                (true, true) => one_more(&self.slot.sharing.together),
                (others, _) => seen.exclusion += u64::from(others),
            }
            seen
        };
        self.slot.charge(seen);
        self.slot.count(test_lock, writes);
    }

    /// The section ends.
    fn end(&self, test_lock: usize, side: Side) {
        let place = &self.ring.test_locks[test_lock];
        self.slot.charge(match side {
            Side::Writes => place.leave_write(Arena::context(self.number, 0)),
            Side::Reads | Side::Upgrades => place.leave_read(),
        });
    }

    fn leave(&mut self, test_lock: usize, section: Section<L::Guard>) {
        self.slot.does(Activity::Holding, test_lock);
        self.end(test_lock, section.side);
        self.slot.does(Activity::Releasing, test_lock);
        if L::SKILLS.shares {
            self.slot.claims.about_to(0, test_lock, section.side);
        }
        // SAFETY: the guard is what an acquisition of this very lock returned in this context, or what became
        // of that, and it has not been given back since: the section is ours and gone after this.
        unsafe { self.ring.test_locks[test_lock].lock.release(section.guard) };
        if L::SKILLS.shares {
            self.slot.claims.gone(0, test_lock);
        }
    }

    fn acquire(&mut self, test_lock: usize, side: Side) -> L::Guard {
        let lock = &self.ring.test_locks[test_lock].lock;
        if self.ring.orders.extras.tries && self.rng.one_in(TRY_ONE_IN) {
            self.slot.does(Activity::Trying, test_lock);
            for _ in 0..self.rng.between(1, TRIES_MOST) {
                self.slot.tries.store(self.slot.tries.load(Relaxed) + 1, Relaxed);
                if let Some(guard) = lock.try_acquire(side) {
                    self.slot.tries_won.store(self.slot.tries_won.load(Relaxed) + 1, Relaxed);
                    return guard;
                }
                core::hint::spin_loop();
            }
        }
        self.slot.does(Activity::Waiting, test_lock);
        lock.acquire(side)
    }

    /// Stays in the innermost section for a while.
    fn stay(&mut self, test_lock: usize, section: &mut Option<Section<L::Guard>>) {
        self.hold(test_lock);
        if !L::SKILLS.shares {
            return;
        }
        match section.as_ref().map(|section| section.side) {
            Some(Side::Reads) => self.read_on(test_lock),
            Some(Side::Writes) if L::SKILLS.downgrades && self.rng.one_in(DOWNGRADE_ONE_IN) => {
                *section = section.take().map(|section| self.downgrade(test_lock, section));
            }
            Some(Side::Upgrades) if self.rng.one_in(2) => {
                *section = section.take().map(|section| self.upgrade(test_lock, section));
            }
            _ => {}
        }
    }

    fn hold(&mut self, test_lock: usize) {
        let side =
            if self.ring.writes(self.number) { self.ring.orders.writers } else { self.ring.orders.readers };
        let hold = Hold::draw(&mut self.rng, side as u64);
        if hold.long.is_some() {
            self.slot.does(Activity::HoldingLong, test_lock);
        }
        hold.perform(self.ring.long_hold());
    }

    /// Reads once more, and meets other readers.
    fn read_on(&mut self, test_lock: usize) {
        let place = &self.ring.test_locks[test_lock];
        if L::SKILLS.reads_again && self.rng.one_in(AGAIN_ONE_IN) {
            self.slot.does(Activity::Waiting, test_lock);
            let guard = place.lock.acquire_again();
            self.slot.does(Activity::Holding, test_lock);
            let (mut seen, _) = place.enter_read();
            seen += place.leave_read();
            self.slot.charge(seen);
            one_more(&self.slot.sharing.again);
            // SAFETY: `guard` is what `acquire_again` of this very lock returned above, in this context.
            unsafe { place.lock.release(guard) };
        }
        if self.rng.one_in(COMPANY_ONE_IN) {
            let start = Instant::now();
            while place.readers() < 2 && start.elapsed() < COMPANY {
                std::thread::yield_now();
            }
            if place.readers() > 1 {
                one_more(&self.slot.sharing.together);
            }
        }
    }

    /// The writer goes on as a reader: nobody else writes in between.
    fn downgrade(&mut self, test_lock: usize, section: Section<L::Guard>) -> Section<L::Guard> {
        let place = &self.ring.test_locks[test_lock];
        self.end(test_lock, Side::Writes);
        let before = place.counted();
        // SAFETY: the guard is the writer's of this very lock, in this context, and has not been given back.
        let guard = unsafe { place.lock.downgrade(section.guard) };
        self.slot.claims.holds(0, test_lock, Side::Reads);
        self.begin(test_lock, Side::Reads);
        self.expect_unwritten(test_lock, before);
        one_more(&self.slot.sharing.downgrades);
        Section { guard, side: Side::Reads }
    }

    /// The upgradable holder becomes the writer: nobody else writes in between.
    fn upgrade(&mut self, test_lock: usize, section: Section<L::Guard>) -> Section<L::Guard> {
        let place = &self.ring.test_locks[test_lock];
        let before = place.counted();
        self.end(test_lock, Side::Upgrades);
        self.slot.does(Activity::Waiting, test_lock);
        // SAFETY: the guard is the upgradable holder's of this very lock, in this context, and has not been
        // given back.
        let guard = unsafe { place.lock.upgrade(section.guard) };
        self.slot.does(Activity::Holding, test_lock);
        self.expect_unwritten(test_lock, before);
        self.begin(test_lock, Side::Writes);
        one_more(&self.slot.sharing.upgrades);
        Section { guard, side: Side::Writes }
    }

    /// The counter of a test lock that we hold is still `before`.
    fn expect_unwritten(&self, test_lock: usize, before: u64) {
        let written = self.ring.test_locks[test_lock].counted() != before;
        self.slot.charge(Breaches { exclusion: u64::from(written), torn: 0 });
    }

    /// Waits here, without any lock, while the stutter holds everybody back.
    fn stutter(&self) {
        while self.ring.switches.pause.load(Relaxed) && !self.ring.stopping() {
            self.slot.does(Activity::Paused, 0);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
