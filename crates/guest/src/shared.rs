//! What the vCPUs of one run share: the job that all of them are at. vCPU 0 leads, the others follow.
use crate::cells::EventCount;
use crate::machine::Machine;
use crate::order::Order;
use crate::{record, work};
use core::marker::PhantomData;
use spin::Mutex;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that was ordered was done, and nothing failed.
    Ok,
    /// Something failed; a record says what.
    Failed,
}

impl From<bool> for Verdict {
    fn from(ok: bool) -> Self {
        if ok { Self::Ok } else { Self::Failed }
    }
}

/// How long an idle vCPU halts before it looks for work.
pub(crate) const NAP: u64 = 1_000_000;

/// Something that every vCPU has a part in. It lives for ever: a stuck vCPU may look at it for as long as it
/// likes.
pub(crate) trait Job: Sync {
    /// The part of `vcpu`, which calls it.
    fn work(&'static self, vcpu: u16);
}

/// What the vCPUs of one run share; the kernel makes one before it lets them in.
pub struct Shared<M: Machine> {
    /// What to do next; `None` once all is done.
    job: Mutex<Option<&'static dyn Job>>,
    /// How many jobs were given out.
    given: EventCount,
    /// How many parts of jobs are done, all jobs and vCPUs together.
    done: EventCount,
    machine: PhantomData<fn() -> M>,
}

impl<M: Machine> Shared<M> {
    /// For a run in which all of [`Machine::vcpus`] take part.
    pub fn new() -> Self {
        Self {
            job: Mutex::new(None),
            given: EventCount::default(),
            done: EventCount::default(),
            machine: PhantomData,
        }
    }

    /// Has every vCPU do its part of `job`, vCPU 0 included, which calls it. Returns when all are done.
    pub(crate) fn together(&self, job: &'static dyn Job) {
        self.give(Some(job));
        job.work(0);
        self.done.advance();
        let due = self.given.read() * u32::from(M::vcpus());
        while self.done.read() < due {
            M::halt_until(M::now() + NAP);
        }
    }

    fn give(&self, job: Option<&'static dyn Job>) {
        *self.job.lock() = job;
        self.given.advance();
    }

    /// Does what vCPU 0 gives out, until it has nothing more.
    fn follow(&self, vcpu: u16) {
        let mut seen = 0;
        loop {
            while self.given.read() == seen {
                M::halt_until(M::now() + NAP);
            }
            // vCPU 0 gives the next job only when all are done with this one.
            seen += 1;
            let job = *self.job.lock();
            let Some(job) = job else { return };
            job.work(vcpu);
            self.done.advance();
        }
    }
}

impl<M: Machine> Default for Shared<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// Carries out `order`. Every vCPU calls it once, with the same order; it returns when all is done. vCPU 0
/// emits the records, `end` included, and its verdict counts. It may not return at all: when a vCPU is stuck,
/// another one emits the rest and calls [`Machine::abandon`].
pub fn take_part<M: Machine>(order: &Order, shared: &'static Shared<M>) -> Verdict {
    let vcpu = M::vcpu();
    if vcpu != 0 {
        shared.follow(vcpu);
        return Verdict::Ok;
    }
    let ok = work::lead(order, shared);
    shared.give(None);
    record::end::<M>(ok);
    ok.into()
}
