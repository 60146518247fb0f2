//! The worker's loop: locktorture's `lock_torture_writer` and `lock_torture_reader`.
#![expect(unsafe_code, reason = "a lock under torture is given back by unsafe functions")]
use super::arena::{Arena, Context, Section, TestLock};
use super::chance::{Hold, Rng, one_in, stream};
use super::handler;
use super::lock::{Side, Tortured};
use super::slot::{Activity, Breaches, Slot, one_more};
use super::test_locks::TASK_LOCKS;
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

/// The body of one thread, which sits in a slot as its occupant of that generation.
pub(super) fn work<L: Tortured>(
    arena: &'static Arena,
    locks: &'static [TestLock<L>],
    number: usize,
    generation: u64,
) {
    let hand = Hand::of(arena, number, generation);
    let context = hand.context;
    context.does(Activity::Thinking, 0);
    L::begin();
    let mut worker = Worker { hand, locks };
    handler::reachable(context, &mut || worker.run());
    context.does(Activity::Vacant, 0);
}

/// A worker with the locks that it takes. What does not touch them is its [`Hand`], which is compiled once.
struct Worker<L: 'static> {
    hand: Hand,
    locks: &'static [TestLock<L>],
}

struct Hand {
    arena: &'static Arena,
    slot: &'static Slot,
    context: Context,
    rng: Rng,
}

impl Hand {
    fn of(arena: &'static Arena, number: usize, generation: u64) -> Self {
        if arena.orders.extras.nice {
            // Said before the start if it is not allowed; then the workers run as they are.
            let _ = rustix::process::setpriority_process(None, 19);
        }
        let context = Context::of(arena, number);
        let rng = stream(arena.orders.seed, (number as u64) << 32 | generation);
        Self { arena, slot: context.slot, context, rng }
    }

    /// How many rounds this thread lives.
    fn draw_life(&mut self) -> u64 {
        // Every other slot churns; the rest keep their first thread, so that old and new slots compete.
        let churns = self.arena.orders.extras.churn && self.context.number % 2 == 1;
        if churns { LIFE_LEAST << self.rng.u32(..=LIFE_DOUBLINGS) } else { u64::MAX }
    }

    /// Before a round, without any lock: sleeps once in a long while.
    fn rest(&mut self) {
        if one_in(&mut self.rng, SLEEP_ONE_IN) {
            self.context.does(Activity::Sleeping, 0);
            std::thread::sleep(Duration::from_micros(self.rng.u64(1000..=4000)));
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

    /// The side of a nested lock, the one before it being held on side `outer`.
    fn draw_nested_side(&mut self, outer: Side) -> Side {
        one_more(&self.slot.counts.nested);
        let anew = self.arena.skills.shares && one_in(&mut self.rng, NESTED_SIDE_ONE_IN);
        if anew { self.draw_side() } else { outer }
    }

    /// In which order test locks that are held on these sides, the first of them `first`, are given back: the
    /// last one first, but readers in any order.
    fn draw_order(&mut self, first: usize, sides: &[Side]) -> [usize; TASK_LOCKS] {
        let last = first + sides.len() - 1;
        let mut order = core::array::from_fn(|turn| last.saturating_sub(turn));
        let only_reads = sides.iter().all(|&side| side == Side::Reads);
        if self.arena.skills.shares && only_reads && sides.len() > 1 {
            self.rng.shuffle(&mut order[..sides.len()]);
            one_more(&self.slot.shared.any_order);
        }
        order
    }

    /// How often to try for a lock before waiting for it.
    fn draw_tries(&mut self) -> u32 {
        let tries = self.arena.orders.extras.tries && one_in(&mut self.rng, TRY_ONE_IN);
        if tries { self.rng.u32(1..=TRIES_MOST) } else { 0 }
    }

    /// Stays in the section of this test lock for a while.
    fn hold(&mut self, test_lock: usize) {
        let orders = &self.arena.orders;
        let rivals = if self.arena.writes(self.context.number) { orders.writers } else { orders.readers };
        let hold = Hold::draw(&mut self.rng, rivals as u64);
        if hold.long.is_some() {
            self.context.does(Activity::HoldingLong, test_lock);
        }
        hold.perform(Duration::from_millis(orders.long_hold_ms));
    }

    /// As reader: waits for another one, now and then.
    fn seek_company(&mut self, section: &Section) {
        if one_in(&mut self.rng, COMPANY_ONE_IN) {
            let start = Instant::now();
            while section.readers() < 2 && start.elapsed() < COMPANY {
                std::thread::yield_now();
            }
            if section.readers() > 1 {
                one_more(&self.slot.shared.together);
            }
        }
    }

    /// Waits here, without any lock, while the stutter holds everybody back.
    fn stutter(&self) {
        while self.arena.switches.pause.load(Relaxed) && !self.arena.stopping() {
            self.context.does(Activity::Paused, 0);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl<L: Tortured> Worker<L> {
    fn run(&mut self) {
        let mut rounds = self.hand.draw_life();
        while rounds > 0 && !self.hand.arena.stopping() {
            rounds -= 1;
            self.hand.rest();
            let (first, last) = self.hand.draw_chain();
            self.chain(first, last);
            self.hand.context.does(Activity::Thinking, 0);
            self.hand.stutter();
        }
    }

    /// Takes `first..=last`, stays, and gives them back.
    fn chain(&mut self, first: usize, last: usize) {
        let mut sides = [self.hand.draw_side(); TASK_LOCKS];
        for test_lock in first..=last {
            if test_lock > first {
                sides[test_lock] = self.hand.draw_nested_side(sides[test_lock - 1]);
            }
            let (context, place, side) = (self.hand.context, &self.locks[test_lock], sides[test_lock]);
            context.enter(place, side, || self.acquire(place, side));
        }
        let order = self.hand.draw_order(first, &sides[first..=last]);
        sides[last] = self.stay(&self.locks[last], sides[last]);
        for &test_lock in &order[..=last - first] {
            self.hand.context.does(Activity::Holding, test_lock);
            self.hand.context.leave(&self.locks[test_lock], sides[test_lock]);
        }
    }

    fn acquire(&mut self, place: &TestLock<L>, side: Side) {
        let Hand { context, slot, .. } = self.hand;
        let tries = self.hand.draw_tries();
        if tries > 0 {
            context.does(Activity::Trying, place.section.number());
            for _ in 0..tries {
                one_more(&slot.counts.tries);
                if place.lock.try_acquire(side) {
                    one_more(&slot.counts.tries_won);
                    return;
                }
                core::hint::spin_loop();
            }
        }
        context.does(Activity::Waiting, place.section.number());
        place.lock.acquire(side);
    }

    /// Stays in the innermost section for a while. Returns the side on which it is left.
    fn stay(&mut self, place: &TestLock<L>, side: Side) -> Side {
        self.hand.hold(place.section.number());
        let (skills, shared) = (self.hand.arena.skills, &self.hand.slot.shared);
        match side {
            Side::Reads if skills.shares => self.read_on(place),
            Side::Writes if skills.downgrades && one_in(&mut self.hand.rng, DOWNGRADE_ONE_IN) => {
                return self.change(place, side, Side::Reads, &shared.downgrades);
            }
            Side::Upgrades if self.hand.rng.bool() => {
                return self.change(place, side, Side::Writes, &shared.upgrades);
            }
            _ => {}
        }
        side
    }

    fn read_on(&mut self, place: &TestLock<L>) {
        let Hand { context, slot, .. } = self.hand;
        if self.hand.arena.skills.reads_again && one_in(&mut self.hand.rng, AGAIN_ONE_IN) {
            context.does(Activity::Waiting, place.section.number());
            place.lock.acquire(Side::ReadsAgain);
            context.does(Activity::Holding, place.section.number());
            slot.charge(place.section.enter_read().0);
            slot.charge(place.section.leave_read());
            one_more(&slot.shared.again);
            // SAFETY: of the second acquisition, just above.
            unsafe { place.lock.release(Side::ReadsAgain) };
        }
        self.hand.seek_company(&place.section);
    }

    /// The writer goes on as a reader, or the upgradable holder as the writer: nobody else writes in between.
    fn change(&self, place: &TestLock<L>, from: Side, to: Side, count: &AtomicU64) -> Side {
        let Hand { context, slot, .. } = self.hand;
        let section = &place.section;
        let before = section.counted();
        context.end(section, from);
        context.does(Activity::Waiting, section.number());
        // SAFETY: `stay` calls this for a lock that we hold on that side.
        unsafe { place.lock.change(from) };
        context.does(Activity::Holding, section.number());
        slot.claims.holds(0, section.number(), to);
        let exclusion = u64::from(section.counted() != before);
        slot.charge(Breaches { exclusion, torn: 0 });
        context.begin(section, to);
        one_more(count);
        to
    }
}
