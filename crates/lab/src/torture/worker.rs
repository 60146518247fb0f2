//! The worker's loop: locktorture's `lock_torture_writer` and `lock_torture_reader`.
#![expect(unsafe_code, reason = "a lock under torture is given back by unsafe functions")]
use super::arena::{Arena, Context, Section, TestLock};
use super::chance::{Hold, Rng, one_in, stream};
use super::handler;
use super::lock::{Side, Tortured};
use super::slot::{Activity, Breaches, one_more};
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
    let course = Course::of(arena, number, generation);
    let context = course.context;
    context.does(Activity::Thinking, 0);
    L::begin();
    let mut worker = Worker { course, locks };
    handler::reachable(context, &mut || worker.run());
    context.does(Activity::Vacant, 0);
}

struct Worker<L: 'static> {
    course: Course,
    locks: &'static [TestLock<L>],
}

/// What a worker decides, counts and waits for without its locks. It is the same for each type of lock, so it
/// is compiled once.
struct Course {
    context: Context,
    rng: Rng,
}

impl Course {
    fn of(arena: &'static Arena, number: usize, generation: u64) -> Self {
        if arena.orders.extras.nice {
            // Said before the start if it is not allowed; then the workers run as they are.
            let _ = rustix::process::setpriority_process(None, 19);
        }
        let context = Context::of(arena, number);
        let rng = stream(arena.orders.seed, (number as u64) << 32 | generation);
        Self { context, rng }
    }

    /// How many rounds this thread lives.
    fn draw_life(&mut self) -> u64 {
        // Every other slot churns; the rest keep their first thread, so that old and new slots compete.
        let churns = self.context.arena.orders.extras.churn && self.context.number % 2 == 1;
        if churns { LIFE_LEAST << self.rng.u32(..=LIFE_DOUBLINGS) } else { u64::MAX }
    }

    /// Sleeps before one round in very many; it holds no lock.
    fn rest(&mut self) {
        if one_in(&mut self.rng, SLEEP_ONE_IN) {
            self.context.does(Activity::Sleeping, 0);
            std::thread::sleep(Duration::from_micros(self.rng.u64(1000..=4000)));
        }
    }

    /// Which test locks this round takes: `first..=last`, in ascending order, so that workers never deadlock.
    fn draw_chain(&mut self) -> (usize, usize) {
        if !self.context.arena.orders.extras.nested {
            return (0, 0);
        }
        let first =
            if one_in(&mut self.rng, START_NESTED_ONE_IN) { self.rng.usize(1..TASK_LOCKS) } else { 0 };
        let last = if one_in(&mut self.rng, NEST_ONE_IN) { self.rng.usize(first..TASK_LOCKS) } else { first };
        (first, last)
    }

    fn draw_side(&mut self) -> Side {
        let mut writes = self.context.arena.writes(self.context.number);
        if self.context.arena.skills.shares {
            writes ^= self.context.number % 4 >= 2 && one_in(&mut self.rng, OTHER_SIDE_ONE_IN);
            if writes && self.context.arena.skills.upgrades && one_in(&mut self.rng, UPGRADABLE_ONE_IN) {
                return Side::Upgrades;
            }
        }
        if writes { Side::Writes } else { Side::Reads }
    }

    /// The side of a nested lock, the one before it being held on side `outer`.
    fn draw_nested_side(&mut self, outer: Side) -> Side {
        one_more(&self.context.slot.counts.nested);
        let anew = self.context.arena.skills.shares && one_in(&mut self.rng, NESTED_SIDE_ONE_IN);
        if anew { self.draw_side() } else { outer }
    }

    /// The order in which a chain is given back that begins with `first` and was taken on these sides: the
    /// last lock first, or, if all were read, any order. Only as many entries count as there are sides.
    fn draw_order(&mut self, first: usize, sides: &[Side]) -> [usize; TASK_LOCKS] {
        let last = first + sides.len() - 1;
        let mut order = core::array::from_fn(|turn| last.saturating_sub(turn));
        let only_reads = sides.iter().all(|&side| side == Side::Reads);
        if self.context.arena.skills.shares && only_reads && sides.len() > 1 {
            self.rng.shuffle(&mut order[..sides.len()]);
            one_more(&self.context.slot.shared.any_order);
        }
        order
    }

    /// How often to try for a lock before waiting for it.
    fn draw_tries(&mut self) -> u32 {
        let tries = self.context.arena.orders.extras.tries && one_in(&mut self.rng, TRY_ONE_IN);
        if tries { self.rng.u32(1..=TRIES_MOST) } else { 0 }
    }

    /// Stays in the section of this test lock for a while.
    fn hold(&mut self, test_lock: usize) {
        let orders = &self.context.arena.orders;
        let rivals =
            if self.context.arena.writes(self.context.number) { orders.writers } else { orders.readers };
        let hold = Hold::draw(&mut self.rng, rivals as u64);
        if hold.long.is_some() {
            self.context.does(Activity::HoldingLong, test_lock);
        }
        hold.perform(Duration::from_millis(orders.long_hold_ms));
    }

    /// A reader waits for another one, now and then.
    fn seek_company(&mut self, section: &Section) {
        if one_in(&mut self.rng, COMPANY_ONE_IN) {
            let start = Instant::now();
            while section.readers() < 2 && start.elapsed() < COMPANY {
                std::thread::yield_now();
            }
            if section.readers() > 1 {
                one_more(&self.context.slot.shared.together);
            }
        }
    }

    /// Waits while the stutter holds everybody back; it holds no lock.
    fn stutter(&self) {
        while self.context.arena.switches.pause.load(Relaxed) && !self.context.arena.stopping() {
            self.context.does(Activity::Paused, 0);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl<L: Tortured> Worker<L> {
    fn run(&mut self) {
        let mut rounds = self.course.draw_life();
        while rounds > 0 && !self.course.context.arena.stopping() {
            rounds -= 1;
            self.course.rest();
            let (first, last) = self.course.draw_chain();
            self.chain(first, last);
            self.course.context.does(Activity::Thinking, 0);
            self.course.stutter();
        }
    }

    /// Takes `first..=last`, stays, and gives them back.
    fn chain(&mut self, first: usize, last: usize) {
        let mut sides = [self.course.draw_side(); TASK_LOCKS];
        for test_lock in first..=last {
            if test_lock > first {
                sides[test_lock] = self.course.draw_nested_side(sides[test_lock - 1]);
            }
            let (context, place, side) = (self.course.context, &self.locks[test_lock], sides[test_lock]);
            context.enter(place, side, || self.acquire(place, side));
        }
        let taken = sides;
        sides[last] = self.stay(&self.locks[last], sides[last]);
        let order = self.course.draw_order(first, &taken[first..=last]);
        for &test_lock in &order[..=last - first] {
            self.course.context.does(Activity::Holding, test_lock);
            self.course.context.leave(&self.locks[test_lock], sides[test_lock]);
        }
    }

    fn acquire(&mut self, place: &TestLock<L>, side: Side) {
        let context = self.course.context;
        let tries = self.course.draw_tries();
        if tries > 0 {
            context.does(Activity::Trying, place.section.number());
            for _ in 0..tries {
                one_more(&context.slot.counts.tries);
                if place.lock.try_acquire(side) {
                    one_more(&context.slot.counts.tries_won);
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
        self.course.hold(place.section.number());
        let (skills, shared) = (self.course.context.arena.skills, &self.course.context.slot.shared);
        match side {
            Side::Reads if skills.shares => self.read_on(place),
            Side::Writes if skills.downgrades && one_in(&mut self.course.rng, DOWNGRADE_ONE_IN) => {
                return self.change(place, side, Side::Reads, &shared.downgrades);
            }
            Side::Upgrades if self.course.rng.bool() => {
                return self.change(place, side, Side::Writes, &shared.upgrades);
            }
            _ => {}
        }
        side
    }

    fn read_on(&mut self, place: &TestLock<L>) {
        let context = self.course.context;
        if context.arena.skills.reads_again && one_in(&mut self.course.rng, AGAIN_ONE_IN) {
            context.does(Activity::Waiting, place.section.number());
            place.lock.acquire(Side::ReadsAgain);
            context.does(Activity::Holding, place.section.number());
            context.slot.charge(place.section.enter_read().0);
            context.slot.charge(place.section.leave_read());
            one_more(&context.slot.shared.again);
            // SAFETY: of the second acquisition, just above.
            unsafe { place.lock.release(Side::ReadsAgain) };
        }
        self.course.seek_company(&place.section);
    }

    /// The writer goes on as a reader, or the upgradable holder as the writer: nobody else writes in between.
    fn change(&self, place: &TestLock<L>, from: Side, to: Side, count: &AtomicU64) -> Side {
        let context = self.course.context;
        let section = &place.section;
        let before = section.counted();
        context.end(section, from);
        context.does(Activity::Waiting, section.number());
        // SAFETY: `stay` calls this for a lock that we hold on that side.
        unsafe { place.lock.change(from) };
        context.does(Activity::Holding, section.number());
        context.slot.claims.holds(0, section.number(), to);
        let exclusion = u64::from(section.counted() != before);
        context.slot.charge(Breaches { exclusion, torn: 0 });
        context.begin(section, to);
        one_more(count);
        to
    }
}
