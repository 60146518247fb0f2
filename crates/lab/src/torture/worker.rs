//! The worker's loop: locktorture's `lock_torture_writer` and `lock_torture_reader`.
#![expect(unsafe_code, reason = "a lock under torture is given back by unsafe functions")]
use super::arena::{Arena, Context, TestLock};
use super::chance::{Hold, Rng, one_in, stream};
use super::handler;
use super::lock::{Side, Tortured};
use super::slot::{Activity, Breaches, Slot, one_more};
use super::test_locks::{TASK_LOCKS, TEST_LOCKS};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::time::Instant;

const TRY_ONE_IN: u64 = 16;
/// So many tries come before the worker waits after all.
const TRIES_MOST: u32 = 8;
/// One round in this many takes further locks while it holds the first.
const NEST_ONE_IN: u64 = 8;
/// One round in this many starts at a nested lock, which would otherwise never be contended: whoever holds
/// the first has the others to itself.
const START_NESTED_ONE_IN: u64 = 16;
/// Of the slots, every other pair changes sides in one round in this many…
const OTHER_SIDE_ONE_IN: u64 = 8;
/// …and at one nested lock in this many draws its side anew.
const NESTED_SIDE_ONE_IN: u64 = 4;
/// One writer in this many holds upgradably where that can be had, and half of those upgrade.
const UPGRADABLE_ONE_IN: u64 = 8;
/// One writer in this many goes on as a reader where that can be had.
const DOWNGRADE_ONE_IN: u64 = 16;
const AGAIN_ONE_IN: u64 = 16;
/// One reader in this many waits for another one, at most so long: readers that share the lock meet.
const COMPANY_ONE_IN: u64 = 256;
const COMPANY: Duration = Duration::from_micros(100);
/// One round in this many (locktorture's 2^-20) is preceded by a sleep.
const SLEEP_ONE_IN: u64 = 1 << 20;
/// So many rounds a thread of a slot that churns lives at least…
const LIFE_LEAST: u64 = 200;
/// …and this often that is doubled at most: drawn evenly, so that threads come and go under slow locks as
/// well as under fast ones, which do a hundred times as many rounds in the same time.
const LIFE_DOUBLINGS: u32 = 7;

pub(super) type TestLocks<L> = [TestLock<L>; TEST_LOCKS];

/// The body of one thread, which sits in a slot as its occupant of that generation.
pub(super) fn work<L: Tortured>(
    arena: &'static Arena,
    locks: &'static TestLocks<L>,
    number: usize,
    generation: u64,
) {
    if arena.orders.extras.nice {
        // Said before the start if it is not allowed; then the workers run as they are.
        let _ = rustix::process::setpriority_process(None, 19);
    }
    let rng = stream(arena.orders.seed, (number as u64) << 32 | generation);
    let context = Context::of(arena, number);
    context.does(Activity::Thinking, 0);
    L::begin();
    handler::reachable(context, || Worker { arena, slot: context.slot, context, locks, rng }.run());
    context.does(Activity::Vacant, 0);
}

struct Worker<L: 'static> {
    arena: &'static Arena,
    slot: &'static Slot,
    context: Context,
    locks: &'static TestLocks<L>,
    rng: Rng,
}

impl<L: Tortured> Worker<L> {
    fn run(mut self) {
        // Every other slot churns; the rest keep their first thread, so that old and new slots compete.
        let churns = self.arena.orders.extras.churn && self.context.number % 2 == 1;
        let mut rounds = if churns { LIFE_LEAST << self.rng.u32(..=LIFE_DOUBLINGS) } else { u64::MAX };
        while rounds > 0 && !self.arena.stopping() {
            rounds -= 1;
            if one_in(&mut self.rng, SLEEP_ONE_IN) {
                self.context.does(Activity::Sleeping, 0);
                std::thread::sleep(Duration::from_micros(self.rng.u64(1000..=4000)));
            }
            let (first, last) = self.draw_chain();
            self.chain(first, last);
            self.context.does(Activity::Thinking, 0);
            self.stutter();
        }
    }

    /// Which test locks this round takes: `first..=last`, in ascending order, so that workers never deadlock.
    fn draw_chain(&mut self) -> (usize, usize) {
        if !self.arena.orders.extras.nested {
            return (0, 0);
        }
        let first =
            if one_in(&mut self.rng, START_NESTED_ONE_IN) { self.rng.usize(1..TASK_LOCKS) } else { 0 };
        let last = if one_in(&mut self.rng, NEST_ONE_IN) { self.rng.usize(first..TASK_LOCKS) } else { first };
        (first, last)
    }

    fn draw_side(&mut self) -> Side {
        let mut writes = self.arena.writes(self.context.number);
        if self.arena.skills.shares {
            writes ^= self.context.number % 4 >= 2 && one_in(&mut self.rng, OTHER_SIDE_ONE_IN);
            if writes && self.arena.skills.upgrades && one_in(&mut self.rng, UPGRADABLE_ONE_IN) {
                return Side::Upgrades;
            }
        }
        if writes { Side::Writes } else { Side::Reads }
    }

    /// Takes `first..=last`, stays, and gives them back: the last one first, but readers in any order.
    fn chain(&mut self, first: usize, last: usize) {
        let mut sides = [self.draw_side(); TASK_LOCKS];
        let mut order: [usize; TASK_LOCKS] = core::array::from_fn(|turn| last.saturating_sub(turn));
        let order = &mut order[..=last - first];
        for test_lock in first..=last {
            if test_lock > first {
                one_more(&self.slot.counts.nested);
                let anew = self.arena.skills.shares && one_in(&mut self.rng, NESTED_SIDE_ONE_IN);
                sides[test_lock] = if anew { self.draw_side() } else { sides[test_lock - 1] };
            }
            let (context, place, side) = (self.context, &self.locks[test_lock], sides[test_lock]);
            context.enter(place, side, || self.acquire(place, side));
        }
        let only_reads = sides[first..=last].iter().all(|&side| side == Side::Reads);
        sides[last] = self.stay(&self.locks[last], sides[last]);
        if self.arena.skills.shares && only_reads && order.len() > 1 {
            self.rng.shuffle(order);
            one_more(&self.slot.shared.any_order);
        }
        for &test_lock in &*order {
            self.context.does(Activity::Holding, test_lock);
            self.context.leave(&self.locks[test_lock], sides[test_lock]);
        }
    }

    fn acquire(&mut self, place: &TestLock<L>, side: Side) {
        if self.arena.orders.extras.tries && one_in(&mut self.rng, TRY_ONE_IN) {
            self.context.does(Activity::Trying, place.number());
            for _ in 0..self.rng.u32(1..=TRIES_MOST) {
                one_more(&self.slot.counts.tries);
                if place.lock.try_acquire(side) {
                    one_more(&self.slot.counts.tries_won);
                    return;
                }
                core::hint::spin_loop();
            }
        }
        self.context.does(Activity::Waiting, place.number());
        place.lock.acquire(side);
    }

    /// Stays in the innermost section for a while. Returns the side on which it is left.
    fn stay(&mut self, place: &TestLock<L>, side: Side) -> Side {
        let orders = &self.arena.orders;
        let rivals = if self.arena.writes(self.context.number) { orders.writers } else { orders.readers };
        let hold = Hold::draw(&mut self.rng, rivals as u64);
        if hold.long.is_some() {
            self.context.does(Activity::HoldingLong, place.number());
        }
        hold.perform(Duration::from_millis(orders.long_hold_ms));
        let (skills, shared) = (self.arena.skills, &self.slot.shared);
        match side {
            Side::Reads if skills.shares => self.read_on(place),
            Side::Writes if skills.downgrades && one_in(&mut self.rng, DOWNGRADE_ONE_IN) => {
                return self.change(place, side, Side::Reads, &shared.downgrades);
            }
            Side::Upgrades if self.rng.bool() => {
                return self.change(place, side, Side::Writes, &shared.upgrades);
            }
            _ => {}
        }
        side
    }

    fn read_on(&mut self, place: &TestLock<L>) {
        if self.arena.skills.reads_again && one_in(&mut self.rng, AGAIN_ONE_IN) {
            self.context.does(Activity::Waiting, place.number());
            place.lock.acquire(Side::ReadsAgain);
            self.context.does(Activity::Holding, place.number());
            self.slot.charge(place.enter_read().0);
            self.slot.charge(place.leave_read());
            one_more(&self.slot.shared.again);
            // SAFETY: of the second acquisition, just above.
            unsafe { place.lock.release(Side::ReadsAgain) };
        }
        if one_in(&mut self.rng, COMPANY_ONE_IN) {
            let start = Instant::now();
            while place.readers() < 2 && start.elapsed() < COMPANY {
                std::thread::yield_now();
            }
            if place.readers() > 1 {
                one_more(&self.slot.shared.together);
            }
        }
    }

    /// The writer goes on as a reader, or the upgradable holder as the writer: nobody else writes in between.
    fn change(&self, place: &TestLock<L>, from: Side, to: Side, count: &AtomicU64) -> Side {
        let before = place.counted();
        self.context.end(place, from);
        self.context.does(Activity::Waiting, place.number());
        // SAFETY: `stay` calls this for a lock that we hold on that side.
        unsafe { place.lock.change(from) };
        self.context.does(Activity::Holding, place.number());
        self.slot.claims.holds(0, place.number(), to);
        let exclusion = u64::from(place.counted() != before);
        self.slot.charge(Breaches { exclusion, torn: 0 });
        self.context.begin(place, to);
        one_more(count);
        to
    }

    /// Waits here, without any lock, while the stutter holds everybody back.
    fn stutter(&self) {
        while self.arena.switches.pause.load(Relaxed) && !self.arena.stopping() {
            self.context.does(Activity::Paused, 0);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
