//! What contexts and handlers do with reader-writer locks.
mod upgrades;

use super::engine::{arrive, await_reader, has_read, with};
use super::failure::Failure;
use super::fault::Fault;
use super::limits::{Limits, limited};
use super::plan::{Coin, Plan};
use super::run::{self, at_risk, ends_use, released};
use super::rw_subjects::{RwKind, SteppedRw, Upgrades};
use super::sharing::{How, Sharing, Wants};
use super::trace::What;
use super::{CONTEXTS, Ctx};
use core::cell::Cell;
use stanchion_family::catalogue::Awaits;
use std::rc::Rc;

/// The locks of a run and who uses them how.
pub(super) struct RwProgram {
    plan: Plan,
    kind: RwKind,
    locks: Rc<Vec<Box<dyn SteppedRw>>>,
    /// Whether a context is about to hold the first lock otherwise than for reading, or does, or holds the
    /// second one alone: its handlers leave the first one alone then.
    writes_first: [Cell<bool>; CONTEXTS],
    /// How many handlers of a context use a lock of their own: those that interrupt them keep to the order of
    /// locks.
    in_own: [Cell<u32>; CONTEXTS],
    limits: Limits,
}

impl RwProgram {
    pub(super) fn new(plan: Plan, kind: RwKind, locks: Rc<Vec<Box<dyn SteppedRw>>>) -> Self {
        let (writes_first, in_own, limits) = Default::default();
        Self { plan, kind, locks, writes_first, in_own, limits }
    }

    /// The life of a context.
    pub(super) fn context(&self, ctx: Ctx) {
        for round in 0..self.plan.rounds[ctx] {
            if round + 1 == self.plan.rounds[ctx] {
                run::watch(|watch| watch.lifetime.begins_last_use(ctx));
            }
            let dice = self.plan.coin(Coin::Round, ctx, round, 1 << 16);
            let other = self.plan.faults.has(Fault::TwoLocks) && dice & 1 == 0;
            match (dice >> 1) % 8 {
                _ if self.plan.thieves_write(ctx) => self.writes(0, dice >> 4),
                _ if other && dice & 2 == 0 => self.nested(),
                _ if other => {
                    // Its handlers would take the locks in the other order than those who nest them.
                    self.writes_first[ctx].set(true);
                    self.reads(1, dice & 4 == 0);
                    self.writes_first[ctx].set(false);
                }
                2 if self.locks[0].upgradable().is_some() => self.upgrades(0, dice >> 4),
                0..=2 => self.writes(0, dice >> 4),
                _ if self.kind.timed && (dice >> 5).is_multiple_of(8) => self.reads_as(0, true),
                _ => self.reads(0, dice >> 4 & 1 == 0),
            }
        }
        ends_use(ctx);
        say(What::Ends, 0);
    }

    /// The handler of a level: reads the first lock if it may, or uses the level's own.
    pub(super) fn handler(&self, level: u8) {
        let me = me();
        let (own, in_own) = (1 + usize::from(level), &self.in_own[me]);
        let may_read = self.kind.shares.reads_again && !self.writes_first[me].get() && in_own.get() == 0;
        if may_read && coin(3) > 0 {
            // Who must not wait behind others need not say so.
            self.reads_as(0, coin(2) == 0);
            return;
        }
        in_own.set(in_own.get() + 1);
        if self.kind.handlers_write && coin(2) == 0 {
            self.writes(own, 0);
        } else {
            self.reads_as(own, true);
        }
        in_own.set(in_own.get() - 1);
    }

    /// Gets a read lock, unless there are too many; `again`: without waiting behind others.
    fn acquire_read(&self, index: usize, again: bool) -> bool {
        let (lock, me) = (&self.locks[index], me());
        watch(index, |sharing| sharing.attempts(me));
        let tried = !again && self.tries() && {
            say(What::Try, index);
            at_risk(|| lock.try_acquire_read())
        };
        let how = match () {
            () if again || with(|engine| engine.is_priority()) => How::Free,
            () if tried => How::Tried,
            () => How::Waited,
        };
        if how == How::Waited {
            watch(index, |sharing| sharing.begins(me, Wants::Read));
        }
        let waits = |end| {
            if again { lock.acquire_read_again_until(end) } else { lock.acquire_read_until(end) }
        };
        let in_time = |end| match limited(end, |is_in| *is_in != Ok(false), || waits(end)) {
            Ok(false) => {
                if again {
                    say(What::TryFails, index);
                } else {
                    gives_up(index, Wants::Read);
                }
                None
            }
            in_or_refused => Some(in_or_refused.is_ok()),
        };
        let in_time = self.limit().filter(|_| again || how == How::Waited).and_then(in_time);
        let acquired = tried
            || in_time.unwrap_or_else(|| {
                say(What::Acquire, index);
                if again { lock.acquire_read_again() } else { lock.acquire_read() }.is_ok()
            });
        if acquired {
            say(What::Enter, index);
            went_in(checked(watch(index, |sharing| sharing.reads(me, how))));
        } else {
            say(What::Refused, index);
            checked(watch(index, |sharing| sharing.is_refused(me, how)));
        }
        watch(index, |sharing| sharing.attempted(me));
        has_read();
        if acquired && how != How::Free {
            self.awaits_others(index);
        }
        acquired
    }

    /// Waits within its section, now and then, until those have read, too, that it may wait for.
    fn awaits_others(&self, index: usize) {
        // Handlers would be counted, too.
        if self.kind.shares.awaits == Awaits::Nobody || self.plan.faults.has(Fault::Interrupts) {
            return;
        }
        let queued = self.kind.shares.awaits == Awaits::Queued;
        if queued && self.plan.has_urgent() {
            return; // a writer may go ahead of those it waits for
        }
        let me = me();
        let nodeless = self.plan.faults.has(Fault::FewPlaces) || self.plan.faults.has(Fault::NoNumber);
        if queued && nodeless {
            return; // a writer that gets no node may overtake those that have one
        }
        if self.kind.shares.awaits == Awaits::Readers {
            watch(index, |sharing| sharing.is_beside_all(me));
        }
        let behind = || watch(index, |sharing| sharing.left_behind(me));
        if behind().is_none() || with(|engine| engine.coin(Coin::Awaits, 4)) == 0 {
            return;
        }
        while let Some(reader) = behind() {
            await_reader(reader);
        }
    }

    /// Reads a lock, maybe twice at a time.
    fn reads(&self, index: usize, twice: bool) {
        if !self.acquire_read(index, false) {
            return;
        }
        linger(index);
        if twice && self.kind.shares.reads_again {
            self.reads_as(index, true);
            linger(index);
        }
        self.release_read(index);
    }

    fn reads_as(&self, index: usize, again: bool) {
        if self.acquire_read(index, again) {
            linger(index);
            self.release_read(index);
        }
    }

    fn release_read(&self, index: usize) {
        let me = me();
        watch(index, |sharing| {
            sharing.attempts(me); // it is counted until it is gone
            sharing.stops_reading(me);
        });
        out_for_good(index);
        self.locks[index].release_read();
        watch(index, |sharing| sharing.attempted(me));
    }

    /// Writes, and goes on as a reader now and then.
    fn writes(&self, index: usize, dice: u64) {
        let (lock, me) = (&self.locks[index], self.alone_from_now(index));
        let tried = self.tries() && {
            say(What::Try, index);
            lock.try_acquire_write()
        };
        if !tried {
            say(What::Acquire, index);
            watch(index, |sharing| sharing.begins(me, Wants::Write));
            let in_time = self.limit().is_some_and(|until| {
                let acquired = limited(until, |&acquired| acquired, || lock.acquire_write_until(until));
                if !acquired {
                    gives_up(index, Wants::Write);
                }
                acquired
            });
            if !in_time {
                lock.acquire_write();
            }
        }
        in_as_writer(index, if tried { How::Tried } else { How::Waited });
        linger(index);
        if dice & 3 == 3 {
            watch(index, |sharing| sharing.turns_to_reading(me));
            lock.downgrade();
            self.alone_no_more(index, me);
            linger(index);
            self.release_read(index);
        } else {
            out_as_writer(index);
            lock.release_write();
            released(index);
            self.alone_no_more(index, me);
        }
    }

    /// Uses the second lock, in either way, while it reads the first.
    fn nested(&self) {
        if !self.acquire_read(0, false) {
            return;
        }
        if coin(2) == 0 {
            self.reads(1, false);
        } else {
            self.writes(1, 0);
        }
        self.release_read(0);
    }

    fn tries(&self) -> bool {
        self.plan.faults.has(Fault::Tries) && coin(3) == 0
    }

    /// When to give up, if the next wait is to have a limit.
    fn limit(&self) -> Option<u64> {
        if self.kind.timed { self.limits.next(&self.plan, me()) } else { None }
    }

    fn alone_from_now(&self, index: usize) -> Ctx {
        let me = me();
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

/// The current context has waited in vain, and begins anew.
fn gives_up(lock: usize, wants: Wants) {
    let me = me();
    say(What::TryFails, lock);
    watch(lock, |sharing| {
        sharing.gives_up(me);
        sharing.begins(me, wants);
    });
    has_read(); // or will: behind those that came meanwhile, so nobody inside may wait for it
}

fn me() -> Ctx {
    with(|engine| engine.current)
}

fn coin(below: u64) -> u64 {
    with(|engine| engine.coin(Coin::Linger, below))
}

/// Some sections end before anybody can look.
fn linger(lock: usize) {
    let me = me();
    watch(lock, |sharing| sharing.settles(me, true));
    for _ in 0..coin(4) {
        arrive();
        say(What::Leave, lock);
    }
    watch(lock, |sharing| sharing.settles(me, false));
}

fn say(what: What, lock: usize) {
    with(|engine| engine.tell(what, lock, 0, 0));
}

fn watch<R>(lock: usize, f: impl FnOnce(&mut Sharing) -> R) -> R {
    run::watch(|watch| f(watch.sharing(lock)))
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

fn went_in(passed: Option<u32>) {
    if let Some(passed) = passed {
        with(|engine| engine.watch.as_mut().expect("a run is watched").went_in(passed));
    }
}

fn in_as_writer(lock: usize, how: How) {
    say(What::Enter, lock);
    let me = me();
    let written = with(|engine| engine.watch.as_mut().expect("a run is watched").writes(lock, me, how));
    went_in(checked(written));
}

fn out_as_writer(lock: usize) {
    watch(lock, Sharing::stops_writing);
    out_for_good(lock);
}

/// The current context is about to release a lock, the first one for the last time perhaps.
fn out_for_good(lock: usize) {
    say(What::Release, lock);
    if lock == 0 {
        let me = me();
        run::watch(|watch| watch.lifetime.ends_use(me));
    }
}

/// The upgradable holder becomes a reader, unless there are too many; whether it did.
fn downgrade_upgradable(index: usize, lock: &dyn Upgrades) -> bool {
    let me = me();
    watch(index, |sharing| sharing.attempts(me));
    watch(index, Sharing::may_not_upgrade);
    let done = lock.downgrade_upgradable().is_ok();
    if !done {
        checked(watch(index, |sharing| sharing.is_refused(me, How::Free)));
        checked(watch(index, |sharing| sharing.is_upgradable(me)));
    }
    watch(index, |sharing| sharing.attempted(me));
    done
}
