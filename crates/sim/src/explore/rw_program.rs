//! What contexts and handlers do with reader-writer locks.
use super::engine::{arrive, with};
use super::failure::Failure;
use super::fault::Fault;
use super::plan::{Coin, Plan};
use super::rw_subjects::{RwKind, SteppedRw, Upgrades};
use super::sharing::Sharing;
use super::trace::What;
use super::{CONTEXTS, Ctx};
use core::cell::Cell;
use std::rc::Rc;

/// The locks of a run and who uses them how.
pub(super) struct RwProgram {
    plan: Plan,
    kind: RwKind,
    locks: Rc<Vec<Box<dyn SteppedRw>>>,
    /// Whether a context is about to hold the first lock otherwise than for reading, or does, or holds the second one alone: its
    /// handlers leave the first one alone then.
    writes_first: [Cell<bool>; CONTEXTS],
    /// How many handlers of a context use a lock of their own: those that interrupt them keep to the order of locks.
    in_own: [Cell<u32>; CONTEXTS],
}

impl RwProgram {
    pub(super) fn new(plan: Plan, kind: RwKind, locks: Rc<Vec<Box<dyn SteppedRw>>>) -> Self {
        Self { plan, kind, locks, writes_first: Default::default(), in_own: Default::default() }
    }

    /// The life of a context.
    pub(super) fn context(&self, ctx: Ctx) {
        for round in 0..self.plan.rounds[ctx] {
            let dice = self.plan.coin(Coin::Round, ctx, round, 1 << 16);
            let other = self.plan.faults.has(Fault::TwoLocks) && dice & 1 == 0;
            match (dice >> 1) % 8 {
                _ if other && dice & 2 == 0 => self.nested(),
                _ if other => {
                    // Its handlers would take the locks in the other order than those who nest them.
                    self.writes_first[ctx].set(true);
                    self.reads(1, dice & 4 == 0);
                    self.writes_first[ctx].set(false);
                }
                2 if self.locks[0].upgradable().is_some() => self.upgrades(0, dice >> 4),
                0..=2 => self.writes(0, dice >> 4),
                _ => self.reads(0, dice >> 4 & 1 == 0),
            }
        }
        say(What::Ends, 0);
    }

    /// The handler of a level: reads the first lock again if it may, or uses the level's own.
    pub(super) fn handler(&self, level: u8) {
        let me = with(|engine| engine.current);
        let (own, in_own) = (1 + usize::from(level), &self.in_own[me]);
        let may_read = self.kind.reads_again && !self.writes_first[me].get() && in_own.get() == 0;
        if may_read && coin(3) > 0 {
            self.reads_again(0);
            return;
        }
        in_own.set(in_own.get() + 1);
        if self.kind.handlers_write && coin(2) == 0 {
            self.writes(own, 0);
        } else {
            self.reads_again(own);
        }
        in_own.set(in_own.get() - 1);
    }

    /// Reads a lock, maybe twice at a time.
    fn reads(&self, index: usize, twice: bool) {
        let lock = &self.locks[index];
        let began = Some(watch(index, |sharing| sharing.begins(None)));
        let tries = self.tries() && {
            say(What::Try, index);
            lock.try_acquire_read()
        };
        if !tries {
            say(What::Acquire, index);
            lock.acquire_read().expect("there are few readers");
        }
        in_as_reader(index, began);
        linger(index);
        if twice && self.kind.reads_again {
            self.reads_again(index);
            linger(index);
        }
        out_as_reader(index);
        lock.release_read();
    }

    fn reads_again(&self, index: usize) {
        say(What::Acquire, index);
        self.locks[index].acquire_read_again().expect("there are few readers");
        in_as_reader(index, None);
        linger(index);
        out_as_reader(index);
        self.locks[index].release_read();
    }

    /// Writes, and goes on as a reader now and then.
    fn writes(&self, index: usize, dice: u64) {
        let (lock, me) = (&self.locks[index], self.alone_from_now(index));
        watch(index, |sharing| sharing.begins(Some(me)));
        let tries = self.tries() && {
            say(What::Try, index);
            lock.try_acquire_write()
        };
        if !tries {
            say(What::Acquire, index);
            lock.acquire_write();
        }
        in_as_writer(index);
        linger(index);
        if dice & 3 == 3 {
            becomes_reader(index);
            lock.downgrade();
            self.alone_no_more(index, me);
            linger(index);
            out_as_reader(index);
            lock.release_read();
        } else {
            out_as_writer(index);
            lock.release_write();
            self.alone_no_more(index, me);
        }
    }

    /// Holds a lock upgradably, and becomes its writer now and then.
    fn upgrades(&self, index: usize, dice: u64) {
        let Some(lock) = self.locks[index].upgradable() else { return };
        let me = self.alone_from_now(index);
        say(What::Acquire, index);
        if !(self.tries() && lock.try_acquire_upgradable()) {
            lock.acquire_upgradable();
        }
        in_as_reader(index, None);
        checked(watch(index, |sharing| sharing.may_upgrade(me)));
        linger(index);
        if dice & 1 == 0 {
            self.upgrade(index, lock, dice);
        } else if dice & 2 == 0 {
            watch(index, Sharing::may_not_upgrade);
            out_as_reader(index);
            lock.release_upgradable();
        } else {
            watch(index, Sharing::may_not_upgrade);
            lock.downgrade_upgradable().expect("there are few readers");
            linger(index);
            out_as_reader(index);
            self.locks[index].release_read();
        }
        self.alone_no_more(index, me);
    }

    fn upgrade(&self, index: usize, lock: &dyn Upgrades, dice: u64) {
        if !(self.tries() && lock.try_upgrade()) {
            lock.upgrade();
        }
        watch(index, Sharing::may_not_upgrade);
        out_as_reader(index);
        in_as_writer(index);
        linger(index);
        if dice & 2 == 0 {
            out_as_writer(index);
            self.locks[index].release_write();
        } else {
            becomes_reader(index);
            let me = with(|engine| engine.current);
            checked(watch(index, |sharing| sharing.may_upgrade(me)));
            lock.downgrade_to_upgradable();
            linger(index);
            watch(index, Sharing::may_not_upgrade);
            out_as_reader(index);
            lock.release_upgradable();
        }
    }

    /// Uses the second lock, in either way, while it reads the first.
    fn nested(&self) {
        let lock = &self.locks[0];
        let began = Some(watch(0, |sharing| sharing.begins(None)));
        say(What::Acquire, 0);
        lock.acquire_read().expect("there are few readers");
        in_as_reader(0, began);
        if coin(2) == 0 {
            self.reads(1, false);
        } else {
            self.writes(1, 0);
        }
        out_as_reader(0);
        lock.release_read();
    }

    fn tries(&self) -> bool {
        self.plan.faults.has(Fault::Tries) && coin(3) == 0
    }

    fn alone_from_now(&self, index: usize) -> Ctx {
        let me = with(|engine| engine.current);
        if index == 0 {
            self.writes_first[me].set(true);
        }
        me
    }

    fn alone_no_more(&self, index: usize, me: Ctx) {
        if index == 0 {
            self.writes_first[me].set(false);
        }
    }
}

fn coin(below: u64) -> u64 {
    with(|engine| engine.coin(Coin::Linger, below))
}

/// Some sections end before anybody can look.
fn linger(lock: usize) {
    for _ in 0..coin(4) {
        arrive();
        say(What::Leave, lock);
    }
}

fn say(what: What, lock: usize) {
    with(|engine| engine.tell(what, lock, 0, 0));
}

fn watch<R>(lock: usize, f: impl FnOnce(&mut Sharing) -> R) -> R {
    with(|engine| f(engine.watch.as_mut().expect("a run is watched").sharing(lock)))
}

/// Ends the run if it has gone wrong.
fn checked<R>(result: Result<R, Failure>) -> Option<R> {
    match result {
        Ok(result) => Some(result),
        Err(failure) => {
            with(|engine| engine.fail(failure.kind, failure.what));
            arrive(); // from which nobody comes back after a failure
            None
        }
    }
}

fn in_as_reader(lock: usize, began: Option<u64>) {
    say(What::Enter, lock);
    let me = with(|engine| engine.current);
    if let Some(passed) = checked(watch(lock, |sharing| sharing.reads(me, began))) {
        with(|engine| engine.watch.as_mut().expect("a run is watched").went_in(passed));
    }
}

fn out_as_reader(lock: usize) {
    let me = with(|engine| engine.current);
    watch(lock, |sharing| sharing.stops_reading(me));
    say(What::Release, lock);
}

fn in_as_writer(lock: usize) {
    say(What::Enter, lock);
    let me = with(|engine| engine.current);
    if checked(watch(lock, |sharing| sharing.writes(me))).is_some() {
        with(|engine| engine.watch.as_mut().expect("a run is watched").went_in(0));
    }
}

fn out_as_writer(lock: usize) {
    watch(lock, Sharing::stops_writing);
    say(What::Release, lock);
}

/// The writer is about to let readers in beside it.
fn becomes_reader(lock: usize) {
    let me = with(|engine| engine.current);
    checked(watch(lock, |sharing| {
        sharing.stops_writing();
        sharing.reads(me, None)
    }));
}
