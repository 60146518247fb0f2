//! `counter` and `rw`: every vCPU takes the same lock in a loop, does some work under it, and some outside.
//!
//! Under `counter` everybody writes; under `rw` so many of a hundred sections only read, which share the lock
//! where it lets them. What the lock protects is a counter: at the end it must show every section that wrote,
//! and no reader may see it move.
use super::compute::{self, Pace};
use super::report::{self, Tale};
use super::run::{Watch, Work};
use crate::board::{Activity, Board, Slot};
use crate::cells::Count;
use crate::machine::Machine;
use crate::order::{Order, Workload};
use crate::record;
use crate::subject::{Side, Subject};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
use stanchion_core::transitions::Word;

/// What stands on a line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Line(pub(super) Count);

/// The lock, what it protects, and who is at it.
pub(crate) struct Stress<M, S> {
    order: Order,
    pace: Pace,
    readers_percent: u64,
    board: Board,
    lock: S,
    counter: Line,
    started: u64,
    machine: PhantomData<fn() -> M>,
}

impl<M: Machine, S: Subject> Stress<M, S> {
    pub(crate) fn new(order: &Order, pace: Pace) -> Self {
        Self {
            pace,
            readers_percent: if order.workload == Workload::Rw { order.readers_percent } else { 0 },
            board: Board::new(M::vcpus(), 1, 1, order.stall),
            lock: S::new(),
            counter: Line::default(),
            started: M::now(),
            order: order.clone(),
            machine: PhantomData,
        }
    }
}

impl<M: Machine, S: Subject> Work for Stress<M, S> {
    fn board(&self) -> &Board {
        &self.board
    }

    fn word(&self, _test_lock: usize) -> Word {
        self.lock.word()
    }

    fn part(&'static self, vcpu: u16, watch: &'static Watch) {
        let order = &self.order;
        let slot = self.board.slot(vcpu, 0);
        let mut dice = compute::dice(order.seed, u64::from(vcpu));
        look_in_ticks::<M>(order.tick, watch);
        let end = self.started + order.duration;
        let mut ended = M::now();
        while ended < end {
            self.pace.work(compute::about(&mut dice, order.outside, 50));
            let side = if dice.u64(0..100) < self.readers_percent { Side::Reads } else { Side::Writes };
            let began = M::now();
            slot.worked.add(began - ended);
            slot.does(Activity::Waits, 0, began);
            self.lock.acquire(side);
            let got = M::now();
            slot.does(Activity::Holds, 0, got);
            let before = self.counter.0.get();
            self.pace.work(order.inside);
            slot.breaches.add(u64::from(self.counter.0.get() != before));
            if side == Side::Writes {
                self.counter.0.set(before + 1);
            }
            self.lock.release(side);
            ended = M::now();
            slot.does(Activity::Elsewhere, 0, ended);
            slot.count(0, side == Side::Writes);
            slot.worked.add(ended - got);
            report::waited(slot, got - began, order.slow_above);
        }
        M::set_tick(0, None);
    }

    fn progress(&self, now: u64) -> (u64, u64) {
        (now.saturating_sub(self.started).min(self.order.duration), self.order.duration)
    }

    fn tale(&self, over: bool) -> Tale {
        let slots = || self.board.slots().iter();
        let wrote: u64 = slots().map(Slot::wrote).sum();
        let read: u64 = slots().map(Slot::read).sum();
        let failures =
            guarded(over, self.counter.0.get(), wrote, report::total(&self.board, |slot| &slot.breaches));
        let (reads, writes, rate) = (Some(read), Some(wrote), Some(self.pace.rate()));
        let operations = wrote + read;
        let work =
            record::Work { operations, finished: over, reads, writes, rate, ..record::Work::default() };
        Tale { work, failures }
    }
}

/// Has the calling vCPU look now and then, in its timer interrupt, whether anybody is stuck.
pub(super) fn look_in_ticks<M: Machine>(period: u64, watch: &'static Watch) {
    if period > 0 {
        M::set_tick(period, Some(alloc::boxed::Box::leak(alloc::boxed::Box::new(|| watch.look(M::now())))));
    }
}

/// What is wrong with a counter that `wrote` sections have raised, of which so many saw it move.
pub(super) fn guarded(over: bool, counter: u64, wrote: u64, breaches: u64) -> Vec<(&'static str, String)> {
    let mut failures = Vec::new();
    if breaches > 0 {
        failures.push(("exclusion", format!("{breaches} sections saw another one write")));
    }
    if over && counter != wrote {
        failures.push(("lost-update", format!("{wrote} sections have raised the counter to {counter}")));
    }
    failures
}
