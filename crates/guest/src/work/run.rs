//! From a lock's name to its records: sets a workload up, has all vCPUs work at it, watches over it, and
//! reports.
use super::report::{self, Tale};
use crate::board::{Board, Stall};
use crate::cells::Count;
use crate::machine::{Machine, Meter};
use crate::order::Order;
use crate::record::{self, Record};
use crate::shared::{Job, Shared};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
use stanchion_core::transitions::Word;

/// How often somebody looks whether somebody is stuck.
const LOOK: u64 = 250_000_000;
/// How often progress is reported.
const PROGRESS: u64 = 900_000_000;

/// A workload under one lock.
pub(crate) trait Work: Sync + 'static {
    /// Who does what.
    fn board(&self) -> &Board;

    /// The word of a test lock.
    fn word(&self, test_lock: usize) -> Word;

    /// The part of the calling vCPU.
    fn part(&'static self, vcpu: u16, watch: &'static Watch);

    /// How much is done at `now`, and of how much: nanoseconds, or pieces of work.
    fn progress(&self, now: u64) -> (u64, u64);

    /// What is said from time to time, beside how far it is.
    fn chat(&self, lock: &str) {
        let _ = lock;
    }

    /// What came of it. `over` says that all vCPUs are done, so that everything may be checked.
    fn tale(&self, over: bool) -> Tale;
}

/// Who looks after a run: any vCPU that comes by.
pub(crate) struct Watch {
    glance: Box<dyn Fn(u64) + Send + Sync>,
    next: Count,
}

impl Watch {
    /// Looks whether somebody is stuck, if nobody has done so lately. Called from tasks and from interrupt
    /// handlers, often.
    pub(crate) fn look(&self, now: u64) {
        let due = self.next.get();
        if now >= due && self.next.claim(due, now + LOOK) {
            (self.glance)(now);
        }
    }
}

/// A workload under way.
struct Underway<M: Machine, C: Work> {
    lock: String,
    order: Order,
    work: &'static C,
    /// The platform's counters when it began.
    before: Vec<Meter>,
    started: u64,
    last_report: Count,
    /// 1 once somebody has ended the run.
    given_up: Count,
    machine: PhantomData<fn() -> M>,
}

/// What all vCPUs do.
struct Parts<C: 'static> {
    work: &'static C,
    watch: &'static Watch,
}

impl<C: Work> Job for Parts<C> {
    fn work(&'static self, vcpu: u16) {
        self.work.part(vcpu, self.watch);
    }
}

/// Does it, on vCPU 0, with the help of all others; whether all went well. What is made here stays for ever.
pub(crate) fn carry_out<M: Machine, C: Work>(
    shared: &'static Shared<M>,
    order: &Order,
    lock: &str,
    work: C,
) -> bool {
    let work: &'static C = Box::leak(Box::new(work));
    let started = M::now();
    let underway: &'static Underway<M, C> = Box::leak(Box::new(Underway {
        lock: lock.to_owned(),
        order: order.clone(),
        work,
        before: (0..M::vcpus()).map(M::meter).collect(),
        started,
        last_report: Count::new(started),
        given_up: Count::new(0),
        machine: PhantomData,
    }));
    let glance = Box::new(|now| underway.glance(now));
    let watch: &'static Watch = Box::leak(Box::new(Watch { glance, next: Count::new(0) }));
    shared.together(Box::leak(Box::new(Parts { work, watch })));
    underway.report(true)
}

impl<M: Machine, C: Work> Underway<M, C> {
    fn glance(&self, now: u64) {
        if now.saturating_sub(self.last_report.get()) >= PROGRESS {
            self.last_report.set(now);
            let (done, of) = self.work.progress(now);
            record::emit::<M>(&Record::Progress { done, of, what: self.lock.as_str() });
            self.work.chat(&self.lock);
        }
        // One of those that see it says so, which may take it longer than until the next one looks.
        if let Some(test_lock) = self.work.board().stalled(now).filter(|_| self.given_up.claim(0, 1)) {
            let word = self.work.word(test_lock);
            record::failure::<M>("stall", &Stall { board: self.work.board(), test_lock, word, now });
            self.report(false);
            record::end::<M>(false);
            M::abandon();
        }
    }

    /// The records at the end; whether all went well.
    fn report(&self, over: bool) -> bool {
        let elapsed = M::now() - self.started;
        let tale = self.work.tale(over);
        self.work.chat(&self.lock);
        let meters: Vec<Meter> =
            self.before.iter().zip(0..).map(|(before, vcpu)| M::meter(vcpu).since(before)).collect();
        report::vcpus::<M>(self.work.board(), &meters);
        report::result::<M>(self.order.workload.name(), &self.lock, self.work.board(), elapsed, &tale);
        for (what, detail) in &tale.failures {
            record::failure::<M>(what, detail);
        }
        over && tale.failures.is_empty()
    }
}
