//! `torture`: the kernel's locktorture, in tasks and in timer interrupts, for a given time.
//!
//! The locks under test are the *test locks*. All tasks take the first two, sometimes one inside of the
//! other, with rare long holds, frequent short ones, and tries. Four vCPUs at a time share four more: one
//! that tasks take with interrupts off, and handlers too, and three that belong to handlers: one to each
//! depth, taken with interrupts on, so that a tick that comes meanwhile is a handler in a handler and queues
//! with the next node. Under a reader-writer lock, tasks write with interrupts off, and handlers read what
//! the task that they have interrupted may read already.
//!
//! More than four do not share them, and ticks are as much rarer as there are more vCPUs: where vCPUs
//! outnumber CPUs by far, a spinning queue of all of them takes seconds to pass, and the handler of a holder
//! would stand in it.
//!
//! The run is cut into *spells*. In every other one there are no ticks, which would wake a vCPU whose kick
//! was lost. One vCPU of four, another one in each spell, has ticks that take no locks and look whether
//! somebody is stuck, as handlers that are stuck themselves cannot. At the end of a spell everybody meets; a
//! vCPU that sleeps at a lock which nobody has any more does not come, and is found out.
mod handler;
mod test_lock;

use super::compute::{self, one_in};
use super::report::{self, Tale};
use super::run::{Watch, Work};
use crate::board::{Activity, Board, Slot};
use crate::cells::EventCount;
use crate::machine::Machine;
use crate::order::Order;
use crate::record::{self, Record};
use crate::shared::NAP;
use crate::subject::{Side, Subject};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
use fastrand::Rng;
use handler::Interrupted;
use stanchion_core::transitions::Word;
use test_lock::TestLock;

/// The test locks that tasks take in ascending order.
const TASKS: usize = 2;
/// How many vCPUs share the others.
const GROUP: u16 = 4;
/// How deep handlers nest; deeper ones only look after the others.
const DEPTHS: usize = 3;
/// The test locks of a group: the one that tasks take with interrupts off, and the handlers' by depth.
const SHARED: usize = 1 + DEPTHS;
/// The contexts of a vCPU: its task, and its handlers by depth.
const LEVELS: usize = 1 + DEPTHS;

/// The longest and the shortest spell.
const SPELL: (u64, u64) = (20_000_000, 1_000_000_000);
/// How often the vCPU looks that has ticks in a calm spell.
const GLANCE: u64 = 100_000_000;
/// A rare hold.
const LONG_HOLD: u64 = 20_000_000;
/// A more frequent one.
const SHORT_HOLD: u64 = 2_000;

/// One round in this many is with interrupts off.
const MASKED_ONE_IN: u64 = 16;
/// One round in this many starts at the second test lock, and one takes both.
const START_SECOND_ONE_IN: u64 = 16;
const BOTH_ONE_IN: u64 = 8;
/// One acquisition in this many starts with tries, so many at most.
const TRY_ONE_IN: u64 = 16;
const TRIES_MOST: u64 = 8;
/// One reader in this many reads again.
const AGAIN_ONE_IN: u64 = 16;
/// One round in this many is preceded by a nap.
const NAP_ONE_IN: u64 = 1 << 14;

/// A torture under way.
pub(crate) struct Torture<M, S> {
    order: Order,
    board: Board,
    test_locks: Box<[TestLock<S>]>,
    /// Period of the timer interrupt.
    tick: u64,
    /// Where the handlers of each vCPU are.
    interrupted: Box<[Interrupted]>,
    started: u64,
    spells: u32,
    /// How many have come to the meetings so far.
    arrived: EventCount,
    vcpus: u16,
    machine: PhantomData<fn() -> M>,
}

/// Where and who a context is.
struct Context<'a> {
    slot: &'a Slot,
    /// Its number.
    number: u64,
    dice: Rng,
}

impl<M: Machine, S: Subject> Torture<M, S> {
    pub(crate) fn new(order: &Order) -> Self {
        let vcpus = M::vcpus();
        let crowd = u64::from(vcpus.div_ceil(GROUP));
        // A meeting takes long where many vCPUs have to come round.
        let spell = (order.duration / 10 * crowd.div_ceil(4)).clamp(SPELL.0, SPELL.1 * crowd);
        let test_locks = TASKS + usize::from(vcpus.div_ceil(GROUP)) * SHARED;
        Self {
            board: Board::new(vcpus, LEVELS, test_locks, order.stall * crowd.div_ceil(4)),
            test_locks: (0..test_locks).map(|_| TestLock::new()).collect(),
            tick: order.tick * crowd,
            interrupted: (0..vcpus).map(|_| Interrupted::default()).collect(),
            started: M::now(),
            // An even number: the last spell is calm.
            spells: (order.duration / spell / 2 * 2).max(2) as u32,
            arrived: EventCount::default(),
            vcpus,
            order: order.clone(),
            machine: PhantomData,
        }
    }

    /// The context of a vCPU's task or handler; `run` tells its dice from those of other runs.
    fn context(&self, vcpu: u16, depth: usize, run: u64) -> Context<'_> {
        let number = self.board.number(vcpu, depth) as u64;
        Context {
            slot: self.board.slot(vcpu, depth),
            number,
            dice: compute::dice(self.order.seed, run << 32 | number),
        }
    }

    /// Rounds until the spell ends.
    fn spell(&self, vcpu: u16, task: &mut Context<'_>, end: u64, watch: &Watch) {
        loop {
            let now = M::now();
            watch.look(now);
            if now >= end {
                return;
            }
            if one_in(&mut task.dice, NAP_ONE_IN) {
                M::halt_until(now + task.dice.u64(NAP..4 * NAP));
            }
            self.round(vcpu, task);
        }
    }

    /// Takes one or two locks.
    fn round(&self, vcpu: u16, task: &mut Context<'_>) {
        let side = self.draw_side(&mut task.dice);
        if one_in(&mut task.dice, MASKED_ONE_IN) {
            return M::with_interrupts_off(|| {
                self.section(task, shared_lock(vcpu, 0), side, |task| self.hold(task, true));
            });
        }
        let second = one_in(&mut task.dice, START_SECOND_ONE_IN);
        let both = !second && one_in(&mut task.dice, BOTH_ONE_IN);
        // A handler may read what a task of its vCPU writes, and would wait for it for ever.
        let masks = S::SKILLS.shares && side == Side::Writes;
        let inner = if masks { self.draw_side(&mut task.dice) } else { side };
        let rounds = |task: &mut Context<'_>| {
            if both {
                self.section(task, 0, side, |task| {
                    self.section(task, 1, inner, |task| self.hold(task, masks));
                });
            } else {
                self.section(task, usize::from(second), side, |task| {
                    self.hold(task, masks);
                    if side == Side::Reads && S::SKILLS.reads_again && one_in(&mut task.dice, AGAIN_ONE_IN) {
                        self.read_again(task, usize::from(second));
                    }
                });
            }
        };
        if masks { M::with_interrupts_off(|| rounds(task)) } else { rounds(task) }
    }

    fn draw_side(&self, dice: &mut Rng) -> Side {
        let reads = S::SKILLS.shares && dice.u64(0..100) < self.order.readers_percent;
        if reads { Side::Reads } else { Side::Writes }
    }

    /// Acquires, looks around, does something inside, and releases.
    fn section(
        &self,
        context: &mut Context<'_>,
        test_lock: usize,
        side: Side,
        inside: impl FnOnce(&mut Context<'_>),
    ) {
        let place = &self.test_locks[test_lock];
        let began = M::now();
        context.slot.does(Activity::Waits, test_lock, began);
        if !tries(context, place, side) {
            place.lock.acquire(side);
        }
        let got = M::now();
        context.slot.does(Activity::Holds, test_lock, got);
        report::waited(context.slot, got - began, self.order.slow_above);
        let writes = side == Side::Writes;
        context.slot.breaches.add(if writes {
            place.enter_write(context.number)
        } else {
            place.enter_read()
        });
        context.slot.count(test_lock, writes);
        inside(context);
        context.slot.breaches.add(if writes {
            place.leave_write(context.number)
        } else {
            place.leave_read()
        });
        context.slot.does(Activity::Releases, test_lock, M::now());
        place.lock.release(side);
        context.slot.does(Activity::Elsewhere, test_lock, 0);
    }

    /// Reads what this vCPU may read already.
    fn read_again(&self, context: &mut Context<'_>, test_lock: usize) {
        let place = &self.test_locks[test_lock];
        context.slot.does(Activity::Waits, test_lock, M::now());
        if M::is_priority() {
            place.lock.acquire(Side::Reads);
        } else {
            place.lock.acquire_again();
        }
        context.slot.does(Activity::Holds, test_lock, M::now());
        context.slot.breaches.add(place.enter_read() + place.leave_read());
        context.slot.count(test_lock, false);
        place.lock.release(Side::Reads);
        context.slot.does(Activity::Elsewhere, test_lock, 0);
    }

    /// Stays in the innermost section for a while: mostly not at all, sometimes a little, very rarely for an
    /// age, with locktorture's probabilities. Halts, as a holder does whose vCPU is taken away, only if
    /// interrupts are on.
    fn hold(&self, task: &mut Context<'_>, masked: bool) {
        let (dice, vcpus) = (&mut task.dice, u64::from(self.vcpus));
        if one_in(dice, vcpus * 2000 * 100) {
            let end = M::now() + LONG_HOLD;
            if masked || one_in(dice, 2) {
                busy::<M>(end);
            } else {
                while M::now() < end {
                    M::halt_until(end);
                }
            }
        }
        if one_in(dice, vcpus * 4) {
            busy::<M>(M::now() + SHORT_HOLD);
        }
        if one_in(dice, vcpus * 20_000) {
            M::yield_slice();
        }
    }

    /// Waits, without any lock, until everybody is here. Takes no locks in interrupts meanwhile: a lock that
    /// still moves is not seen to have forgotten somebody.
    fn meet(&self, spell: u32, watch: &Watch) {
        M::set_tick(0, None);
        self.arrived.advance();
        let due = (spell + 1) * u32::from(self.vcpus);
        while self.arrived.read() < due {
            let now = M::now();
            watch.look(now);
            M::halt_until(now + NAP);
        }
    }
}

/// Sometimes tries first; whether that has got the lock.
fn tries<S: Subject>(context: &mut Context<'_>, place: &TestLock<S>, side: Side) -> bool {
    one_in(&mut context.dice, TRY_ONE_IN)
        && (0..context.dice.u64(1..=TRIES_MOST)).any(|_| place.lock.try_acquire(side))
}

/// What the group of `vcpu` shares: 0 is the test lock that tasks take with interrupts off, the others are
/// the handlers' by depth.
fn shared_lock(vcpu: u16, depth: usize) -> usize {
    TASKS + usize::from(vcpu / GROUP) * SHARED + depth
}

/// Stays on the CPU until `end`.
fn busy<M: Machine>(end: u64) {
    while M::now() < end {
        M::relax(50);
    }
}

impl<M: Machine, S: Subject> Work for Torture<M, S> {
    fn board(&self) -> &Board {
        &self.board
    }

    fn word(&self, test_lock: usize) -> Word {
        self.test_locks[test_lock].lock.word()
    }

    fn part(&'static self, vcpu: u16, watch: &'static Watch) {
        let mut task = self.context(vcpu, 0, 0);
        let torments = Box::leak(Box::new(move || self.interrupt(vcpu, watch)));
        let watches = Box::leak(Box::new(|| watch.look(M::now())));
        for spell in 0..self.spells {
            let guards = (u32::from(vcpu) + spell / 2).is_multiple_of(u32::from(GROUP.min(self.vcpus)));
            // Of two vCPUs, both have handlers that take locks: one's alone would meet nobody.
            if spell % 2 == 0 && self.tick > 0 && (!guards || self.vcpus <= 2) {
                M::set_tick(self.tick, Some(torments));
            } else {
                M::set_tick(GLANCE, guards.then_some(watches));
            }
            let end = self.started + self.order.duration / u64::from(self.spells) * u64::from(spell + 1);
            self.spell(vcpu, &mut task, end, watch);
            self.meet(spell, watch);
        }
    }

    fn progress(&self, now: u64) -> (u64, u64) {
        (now.saturating_sub(self.started).min(self.order.duration), self.order.duration)
    }

    /// locktorture's lines.
    fn chat(&self, lock: &str) {
        let fail = report::total(&self.board, |slot| &slot.breaches);
        let say = |side: &str, acquired: fn(&Slot) -> u64| {
            let total: u64 = self.board.slots().iter().map(acquired).sum();
            let tasks = || self.board.vcpus().map(|slots| acquired(&slots[0]));
            let (max, min) = (tasks().max().unwrap_or(0), tasks().min().unwrap_or(0));
            let line = stat_line(side, total, max, min, fail);
            record::emit::<M>(&Record::Stat { lock: Some(lock), line: line.as_str() });
        };
        say("Writes", Slot::wrote);
        if S::SKILLS.shares {
            say("Reads ", Slot::read);
        }
    }

    fn tale(&self, over: bool) -> Tale {
        let mut failures = Vec::new();
        let breaches = report::total(&self.board, |slot| &slot.breaches);
        if breaches > 0 {
            failures.push(("exclusion", format!("{breaches} times somebody was inside who must not be")));
        }
        for (number, test_lock) in self.test_locks.iter().enumerate().filter(|_| over) {
            let (counted, wrote) = (test_lock.counted(), self.board.writes_at(number));
            if counted != wrote {
                let detail =
                    format!("{wrote} sections at lock {number} have raised its counter to {counted}");
                failures.push(("lost-update", detail));
            }
        }
        let sum = |slots: &[Slot]| slots.iter().map(|slot| slot.wrote() + slot.read()).sum::<u64>();
        let in_handlers = self.board.vcpus().map(|slots| sum(&slots[1..])).sum::<u64>();
        let deepest = self.interrupted.iter().map(|state| state.deepest.get()).max().unwrap_or(0);
        let work = record::Work {
            operations: sum(self.board.slots()),
            finished: over,
            in_handlers: Some(in_handlers),
            deepest: Some(deepest),
            ..record::Work::default()
        };
        Tale { work, failures }
    }
}

/// A line as locktorture prints it: `???` marks a busiest vCPU with more than twice what the least busy one
/// has, `!!!` a failure.
fn stat_line(side: &str, total: u64, max: u64, min: u64, fail: u64) -> String {
    let lopsided = if max / 2 > min { "???" } else { "" };
    let failed = if fail > 0 { " !!!" } else { "" };
    format!("{side}:  Total: {total}  Max/Min: {max}/{min} {lopsided}  Fail: {fail}{failed}")
}

#[cfg(test)]
mod tests {
    use super::stat_line;

    #[test]
    fn the_line_is_locktorture_s() {
        assert_eq!(stat_line("Writes", 30, 12, 8, 0), "Writes:  Total: 30  Max/Min: 12/8   Fail: 0");
        assert_eq!(stat_line("Reads ", 32, 22, 10, 3), "Reads :  Total: 32  Max/Min: 22/10 ???  Fail: 3 !!!");
        assert_eq!(stat_line("Writes", 31, 21, 10, 0), "Writes:  Total: 31  Max/Min: 21/10   Fail: 0");
    }
}
