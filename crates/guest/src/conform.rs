//! `conform`: the conformance suite, with vCPUs for contexts, and results like those of `cargo test`.
//!
//! vCPU 0 runs the tests, and the first context of each; the others take the further ones. There is one crew
//! to a program, since the suite knows its world by type only: one run of `conform` at a time.
use crate::cells::{Count, EventCount};
use crate::machine::Machine;
use crate::order::Order;
use crate::record::{self, Record, Test, TestOutcome, Work};
use crate::shared::{Job, NAP, Shared};
use crate::work::no_such_lock;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU32;
use spin::Mutex;
use stanchion_suite::broken::{Byte, Counted, NONE, RW_NONE};
use stanchion_suite::{Case, Context, Load, Waiting, World, mutex, rw};

/// How often the vCPUs look whether a test hangs.
const LOOK: u64 = 100_000_000;
/// How long who waits for another context polls before it halts.
const POLL: u64 = 50_000;

/// The vCPUs of a machine, as a world of the suite.
pub(crate) struct Vcpus<M>(PhantomData<fn() -> M>);

/// What vCPU 0 gives the others.
struct Crew {
    /// The contexts of the test that runs, by vCPU.
    contexts: Mutex<Vec<Option<Context>>>,
    /// How often contexts were given out, or the end was.
    given: EventCount,
    /// How many of the others' contexts have ended.
    ended: EventCount,
    /// 1 at the end.
    over: Count,
    /// The test that runs, and since when.
    test: Mutex<Option<&'static str>>,
    since: Count,
    /// How long one may take.
    stall: Count,
}

static CREW: Crew = Crew {
    contexts: Mutex::new(Vec::new()),
    given: EventCount::new(),
    ended: EventCount::new(),
    over: Count::new(0),
    test: Mutex::new(None),
    since: Count::new(0),
    stall: Count::new(u64::MAX),
};

/// The conformance test that runs at this moment, if one does: for who has to report a panic.
pub fn running_test() -> Option<&'static str> {
    CREW.test.try_lock().and_then(|test| *test)
}

/// Waits until `done`; gives the CPU away after a while.
fn wait<M: Machine>(mut done: impl FnMut() -> bool) {
    let began = M::now();
    while !done() {
        let now = M::now();
        if now - began > POLL {
            M::halt_until(now + NAP / 4);
        } else {
            M::relax(50);
        }
    }
}

impl<M: Machine> World for Vcpus<M> {
    type Platform = M;
    type Flag = AtomicU32;
    type Witness = ();

    fn run(_report: &dyn Fn() -> String, contexts: Vec<Context>) {
        let due = CREW.ended.read() + contexts.len() as u32 - 1;
        let mut contexts: Vec<Option<Context>> = contexts.into_iter().map(Some).collect();
        let own = contexts.first_mut().and_then(Option::take);
        *CREW.contexts.lock() = contexts;
        CREW.given.advance();
        if let Some(own) = own {
            own();
        }
        wait::<M>(|| CREW.ended.read() == due);
    }

    fn until(what: &str, done: &mut dyn FnMut() -> bool) {
        let began = M::now();
        wait::<M>(|| {
            assert!(M::now() - began < CREW.stall.get(), "{what} never came");
            done()
        });
    }

    /// Where vCPUs outnumber CPUs, a lock that is handed over in turn is so by way of the hypervisor's
    /// scheduler, which takes some milliseconds a turn: contexts are few, and have little to do.
    fn run_case(case: &Case, check: fn(Load)) {
        let (most, rounds) = match case.waiting {
            Waiting::Spins | Waiting::GivesWay => (4, 40),
            Waiting::Halts => (8, 100),
        };
        check(Load::new(M::vcpus().min(most).into(), rounds));
    }
}

/// A test by its name.
struct Named {
    name: &'static str,
    run: Box<dyn Fn() + Send + Sync>,
}

/// What all vCPUs do.
struct Session<M> {
    tests: Vec<Named>,
    machine: PhantomData<fn() -> M>,
}

impl<M: Machine> Job for Session<M> {
    fn work(&'static self, vcpu: u16) {
        M::set_tick(LOOK, Some(&|| look::<M>()));
        if vcpu == 0 {
            self.lead();
        } else {
            follow::<M>(vcpu);
        }
        M::set_tick(0, None);
    }
}

impl<M: Machine> Session<M> {
    /// The tests, one after the other. One that fails panics, which is the machine's to report.
    fn lead(&self) {
        for test in &self.tests {
            *CREW.test.lock() = Some(test.name);
            CREW.since.set(M::now());
            (test.run)();
            CREW.since.set(0);
            *CREW.test.lock() = None;
            outcome::<M>(test.name, TestOutcome::Ok, None);
        }
        CREW.over.set(1);
        CREW.given.advance();
    }
}

/// Takes the contexts that tests have for `vcpu`.
fn follow<M: Machine>(vcpu: u16) {
    while CREW.over.get() == 0 {
        let seen = CREW.given.read();
        let context = CREW.contexts.lock().get_mut(usize::from(vcpu)).and_then(Option::take);
        if let Some(context) = context {
            context();
            CREW.ended.advance();
        }
        wait::<M>(|| CREW.given.read() != seen || CREW.over.get() == 1);
    }
}

/// Ends a run whose test hangs. In interrupt context.
fn look<M: Machine>() {
    let (since, now) = (CREW.since.get(), M::now());
    if since == 0 || now.saturating_sub(since) < CREW.stall.get() || !CREW.since.claim(since, 0) {
        return;
    }
    let detail = format!("did not end within {} s", CREW.stall.get() / 1_000_000_000);
    outcome::<M>(running_test().unwrap_or("(unknown)"), TestOutcome::Failed, Some(&detail));
    record::end::<M>(false);
    M::abandon();
}

fn outcome<M: Machine>(name: &str, outcome: TestOutcome, detail: Option<&str>) {
    record::emit::<M>(&Record::Test(Test { name, outcome, detail }));
}

/// The tests of the lock that the order names, or of all. Of those without exclusion, one that must fail.
fn tests<M: Machine>(lock: &str) -> Vec<Named> {
    let busted = |name, body: fn(Load)| {
        let run = move || body(Load::new(M::vcpus().min(4).into(), 500));
        Vec::from([Named { name, run: Box::new(run) }])
    };
    match lock {
        "busted-none" => busted("busted_none::excludes", mutex::excludes::<Vcpus<M>, Byte<M, NONE>>),
        "busted-rw-none" => busted("busted_rw_none::excludes", rw::excludes::<Vcpus<M>, Counted<M, RW_NONE>>),
        _ => {
            let all = stanchion_suite::tests::<Vcpus<M>>().into_iter();
            let wanted = all.filter(|test| lock == "all" || test.is_of(lock));
            wanted.map(|test| Named { name: test.name, run: Box::new(move || test.run()) }).collect()
        }
    }
}

/// Runs the tests of the order, on vCPU 0; whether there were any. One that fails ends the run where it
/// stands.
pub(crate) fn carry_out<M: Machine>(shared: &'static Shared<M>, order: &Order) -> bool {
    let tests = tests::<M>(&order.lock);
    if tests.is_empty() {
        return no_such_lock::<M>(&order.lock);
    }
    if M::vcpus() < 2 {
        record::failure::<M>("order", &"workload=conform needs two vCPUs");
        return false;
    }
    let count = tests.len() as u64;
    let began = M::now();
    CREW.stall.set(order.stall);
    CREW.over.set(0);
    shared.together(Box::leak(Box::new(Session::<M> { tests, machine: PhantomData })));
    record::emit::<M>(&Record::Result(Work {
        workload: "conform",
        lock: order.lock.as_str(),
        elapsed_ns: M::now() - began,
        operations: count,
        finished: true,
        correct: true,
        ..Work::default()
    }));
    true
}
