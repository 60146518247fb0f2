//! `build`: a load like a kernel build. Tasks compute in bursts, take one of a few hot locks for a short
//! section, and block now and then.
//!
//! The job is of a fixed size, so the elapsed time is the result; a limit gives it up. The parameters are
//! those of the simulator's behaviour `build` (`workloads/kernbench-j16.toml`), so that the simulator can
//! predict this set-up. Where the two differ:
//!
//! - The simulator has one queue of tasks for all vCPUs, which costs nothing. Here each vCPU has a queue,
//!   behind a lock of the kind under test; a vCPU whose own tasks all sleep takes one that is ready from
//!   another's queue. A task changes hands every `blocks-after`, so these locks are taken about 250 times as
//!   rarely as the hot ones.
//! - There, an idle vCPU takes the task that will be ready next and sleeps until then. Here it leaves the
//!   task where it is and halts until the first one in any queue is ready; if several vCPUs wake for it, one
//!   gets it.
//! - There, a vCPU that finds no task at its start idles for ever. Here it looks once a millisecond.
//! - A section always raises one counter under its lock, so `lines=0` writes as much as `lines=1`.
//! - Bursts and sections are turns of a loop, not time: a vCPU that does not run does not work. How many
//!   turns are a millisecond is measured at each boot; `rate=` (which the result tells) makes several boots
//!   do the same work.
//! - A timer interrupt looks once in a while whether somebody is stuck (`tick=`).
use super::compute::{self, Pace};
use super::queue::Queue;
use super::report::{self, Tale};
use super::run::{Watch, Work};
use super::stress::{Line, guarded, look_in_ticks};
use crate::board::{Activity, Board, Slot};
use crate::cells::Count;
use crate::machine::Machine;
use crate::order::Order;
use crate::record;
use crate::shared::NAP;
use crate::subject::{Side, Subject};
use alloc::boxed::Box;
use core::marker::PhantomData;
use fastrand::Rng;
use stanchion_core::transitions::Word;

/// A hot lock and what it protects.
#[repr(align(128))]
struct Hot<S> {
    lock: S,
    /// The first is a counter of sections.
    lines: Box<[Line]>,
}

/// A build under way.
pub(crate) struct Build<M, S> {
    order: Order,
    pace: Pace,
    board: Board,
    hot: Box<[Hot<S>]>,
    queues: Box<[Queue<S>]>,
    /// Pieces of work handed out.
    handed_out: Line,
    /// When it is given up.
    limit: u64,
    machine: PhantomData<fn() -> M>,
}

impl<M: Machine, S: Subject> Build<M, S> {
    pub(crate) fn new(order: &Order, pace: Pace) -> Self {
        let build = &order.build;
        let vcpus = usize::from(M::vcpus());
        let jobs = if build.jobs == 0 { vcpus } else { build.jobs as usize };
        let queues: Box<[Queue<S>]> = (0..vcpus).map(|_| Queue::new(jobs)).collect();
        for task in 0..jobs {
            queues[task % vcpus].put(0);
        }
        let lines = || (0..build.lines.max(1)).map(|_| Line::default()).collect();
        let hot: Box<[Hot<S>]> = (0..build.locks).map(|_| Hot { lock: S::new(), lines: lines() }).collect();
        Self {
            pace,
            board: Board::new(M::vcpus(), 1, hot.len() + vcpus, order.stall),
            hot,
            queues,
            handed_out: Line::default(),
            limit: M::now() + order.limit,
            order: order.clone(),
            machine: PhantomData,
        }
    }

    fn over(&self, now: u64) -> bool {
        self.handed_out.0.get() >= self.order.build.job || now >= self.limit
    }

    /// Runs `f` under a lock, and tells what it returned and when it began and ended to wait.
    #[inline]
    fn locked<R>(&self, slot: &Slot, test_lock: usize, lock: &S, f: impl FnOnce() -> R) -> (R, u64) {
        let began = M::now();
        slot.does(Activity::Waits, test_lock, began);
        lock.acquire(Side::Writes);
        let got = M::now();
        slot.does(Activity::Holds, test_lock, got);
        let result = f();
        lock.release(Side::Writes);
        slot.does(Activity::Elsewhere, test_lock, got);
        slot.count(test_lock, true);
        report::waited(slot, got - began, self.order.slow_above);
        (result, got)
    }

    /// A task that is ready: the caller's own, or else somebody else's.
    fn find(&self, slot: &Slot, vcpu: usize, now: u64) -> bool {
        let count = self.queues.len();
        (0..count).map(|turn| (vcpu + turn) % count).any(|from| {
            let queue = &self.queues[from];
            queue.first() <= now
                && self.locked(slot, self.hot.len() + from, &queue.lock, || queue.take(now)).0
        })
    }

    /// Which lock the next section takes.
    fn draw(&self, dice: &mut Rng) -> usize {
        let (locks, hot) = (self.hot.len(), self.order.build.hot_percent);
        match locks {
            1 => 0,
            _ if dice.u64(0..100) < hot => 0,
            _ if hot > 0 => dice.usize(1..locks),
            _ => dice.usize(0..locks),
        }
    }

    /// Runs a task until it blocks; for how long it does.
    fn turn(&self, slot: &Slot, dice: &mut Rng) -> u64 {
        let build = &self.order.build;
        let until_blocks = match build.blocks_after {
            0 => u64::MAX,
            after => compute::about(dice, after, 100),
        };
        let mut worked = 0;
        while worked < until_blocks {
            if self.handed_out.0.take(1) >= build.job {
                break;
            }
            let burst = compute::about(dice, build.burst, build.varies_percent);
            self.pace.work(burst);
            let test_lock = self.draw(dice);
            let hot = &self.hot[test_lock];
            let section = || {
                let before = hot.lines[0].0.get();
                for line in &hot.lines[1..] {
                    line.0.add(1);
                }
                self.pace.work(build.critical);
                slot.breaches.add(u64::from(hot.lines[0].0.get() != before));
                hot.lines[0].0.set(before + 1);
            };
            let ((), got) = self.locked(slot, test_lock, &hot.lock, section);
            worked += burst + build.critical;
            if got >= self.limit {
                break;
            }
        }
        compute::about(dice, build.blocks_for, 50)
    }
}

impl<M: Machine, S: Subject> Work for Build<M, S> {
    fn board(&self) -> &Board {
        &self.board
    }

    fn word(&self, test_lock: usize) -> Word {
        match self.hot.get(test_lock) {
            Some(hot) => hot.lock.word(),
            None => self.queues[test_lock - self.hot.len()].lock.word(),
        }
    }

    fn part(&'static self, vcpu: u16, watch: &'static Watch) {
        let slot = self.board.slot(vcpu, 0);
        let mut dice = compute::dice(self.order.seed, u64::from(vcpu));
        let own = &self.queues[usize::from(vcpu)];
        look_in_ticks::<M>(self.order.tick, watch);
        let mut now = M::now();
        while !self.over(now) {
            if self.find(slot, usize::from(vcpu), now) {
                let slow = slot.slow.get();
                let began = M::now();
                let blocks_for = self.turn(slot, &mut dice);
                let ended = M::now();
                slot.worked.add((ended - began).saturating_sub(slot.slow.get() - slow));
                let test_lock = self.hot.len() + usize::from(vcpu);
                self.locked(slot, test_lock, &own.lock, || own.put(ended + blocks_for));
            } else {
                let first = self.queues.iter().map(Queue::first).min().unwrap_or(now);
                M::halt_until(first.min(now + NAP));
                slot.idle.add(M::now() - now);
            }
            now = M::now();
        }
        M::set_tick(0, None);
    }

    fn progress(&self, _now: u64) -> (u64, u64) {
        let job = self.order.build.job;
        (self.handed_out.0.get().min(job), job)
    }

    fn tale(&self, over: bool) -> Tale {
        let count = |test_lock: usize| self.hot[test_lock].lines[0].0.get();
        let sections: u64 = (0..self.hot.len()).map(|test_lock| self.board.writes_at(test_lock)).sum();
        let counted: u64 = (0..self.hot.len()).map(count).sum();
        let breaches = report::total(&self.board, |slot: &Slot| -> &Count { &slot.breaches });
        let (job, rate) = (self.order.build.job, Some(self.pace.rate()));
        let finished = over && sections >= job;
        let work =
            record::Work { operations: sections, finished, job: Some(job), rate, ..record::Work::default() };
        Tale { work, failures: guarded(over, counted, sections, breaches) }
    }
}
