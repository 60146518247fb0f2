//! The worker's loop: locktorture's `lock_torture_writer` and `lock_torture_reader`.
#![expect(unsafe_code, reason = "`RawMutex::unlock` is unsafe to call")]
use super::arena::Arena;
use super::delay::Hold;
use super::handler;
use super::rng::Rng;
use super::seat::{Activity, Seat, TASK_STATIONS};
use super::tortured::Tortured;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;

/// One acquisition in this many starts with a try.
const TRY_ONE_IN: u64 = 16;
/// How often a try is repeated before the worker waits after all.
const TRIES_MOST: u64 = 8;
/// One round in this many takes further locks while it holds the first.
const NEST_ONE_IN: u64 = 8;
/// One round in this many leaves the first lock out and starts at a nested one, which would otherwise never be
/// contended: whoever holds the first has the others to itself.
const START_NESTED_ONE_IN: u64 = 16;
/// One round in this many (locktorture's 2^-20) is preceded by a sleep.
const SLEEP_ONE_IN: u64 = 1 << 20;
/// How many rounds a thread of a seat that churns lives for at least…
const LIFE_LEAST: u64 = 200;
/// …and how often that is doubled at most: drawn evenly, so that threads come and go under slow locks as well as under
/// fast ones, which do a hundred times as many rounds in the same time.
const LIFE_DOUBLINGS: u64 = 7;

/// The body of one OS thread: sits in seat number `number` as its `generation`-th occupant until the run ends or its
/// life does.
pub(crate) fn work<L: Tortured>(arena: &'static Arena<L>, number: usize, generation: u64) {
    let seat = &arena.seats[number];
    if arena.orders.extras.nice {
        // Said before the start if it is not allowed; then the workers run as they are.
        let _ = rustix::process::setpriority_process(None, 19);
    }
    let rng = Rng::new(arena.orders.seed, (number as u64) << 32 | generation);
    seat.does(Activity::Thinking, 0);
    handler::with_hook(arena, number, generation, || Worker { arena, number, seat, rng }.run());
    seat.does(Activity::Vacant, 0);
    seat.left.store(true, Relaxed);
}

struct Worker<L: Tortured> {
    arena: &'static Arena<L>,
    number: usize,
    seat: &'static Seat,
    rng: Rng,
}

impl<L: Tortured> Worker<L> {
    fn run(mut self) {
        let extras = self.arena.orders.extras;
        // Every other seat churns; the rest keep their first thread, so that old and new slots compete.
        let churns = extras.churn && self.number % 2 == 1;
        let mut rounds = if churns { LIFE_LEAST << self.rng.between(0, LIFE_DOUBLINGS) } else { u64::MAX };
        while rounds > 0 && !self.arena.stopping() {
            rounds -= 1;
            if self.rng.one_in(SLEEP_ONE_IN) {
                self.seat.does(Activity::Sleeping, 0);
                std::thread::sleep(Duration::from_micros(self.rng.between(1000, 4000)));
            }
            let (first, last) = self.draw_chain();
            self.chain(first, last);
            self.seat.does(Activity::Thinking, 0);
            self.stutter();
        }
    }

    /// Which stations this round takes: `first..=last`, in ascending order, so that workers never deadlock.
    fn draw_chain(&mut self) -> (usize, usize) {
        if !self.arena.orders.extras.nested {
            return (0, 0);
        }
        let deepest = TASK_STATIONS as u64 - 1;
        let first = if self.rng.one_in(START_NESTED_ONE_IN) { self.rng.between(1, deepest) } else { 0 };
        let last = if self.rng.one_in(NEST_ONE_IN) { self.rng.between(first, deepest) } else { first };
        (first as usize, last as usize)
    }

    /// Takes `station`, the rest of the chain inside it, and releases.
    fn chain(&mut self, station: usize, last: usize) {
        let place = &self.arena.stations[station];
        let context = Arena::<L>::context(self.number, 0);
        let writes = self.arena.writes(self.number);

        let guard = self.acquire(station);
        self.seat.does(Activity::Holding, station);
        let mut seen = if writes { place.enter_write(context) } else { place.enter_read(context) };
        self.seat.count(station);

        if station < last {
            self.arena.nested.fetch_add(1, Relaxed);
            self.chain(station + 1, last);
            self.seat.does(Activity::Holding, station);
        } else {
            self.hold(station);
        }

        seen += if writes { place.leave_write(context) } else { place.leave_read() };
        self.seat.charge(seen);
        self.seat.does(Activity::Releasing, station);
        // SAFETY: `guard` is what `lock` or `try_lock` of this very lock returned above, in this context, and it
        // has not been given back since.
        unsafe { place.lock.unlock(guard) };
    }

    fn acquire(&mut self, station: usize) -> L::Guard {
        let lock = &self.arena.stations[station].lock;
        if self.arena.orders.extras.tries && self.rng.one_in(TRY_ONE_IN) {
            self.seat.does(Activity::Trying, station);
            for _ in 0..self.rng.between(1, TRIES_MOST) {
                self.seat.tries.store(self.seat.tries.load(Relaxed) + 1, Relaxed);
                if let Some(guard) = lock.try_lock() {
                    self.seat.tries_won.store(self.seat.tries_won.load(Relaxed) + 1, Relaxed);
                    return guard;
                }
                core::hint::spin_loop();
            }
        }
        self.seat.does(Activity::Waiting, station);
        lock.lock()
    }

    fn hold(&mut self, station: usize) {
        let side = if self.arena.writes(self.number) {
            self.arena.orders.writers
        } else {
            self.arena.orders.readers
        };
        let hold = Hold::draw(&mut self.rng, side as u64);
        if hold.long.is_some() {
            self.seat.does(Activity::HoldingLong, station);
        }
        hold.perform(self.arena.long_hold());
    }

    /// Waits here, without any lock, while the stutter holds everybody back.
    fn stutter(&self) {
        while self.arena.switches.pause.load(Relaxed) && !self.arena.stopping() {
            self.seat.does(Activity::Paused, 0);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
