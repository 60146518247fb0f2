//! Strict priorities: contexts that share a CPU with one that is less urgent, and was stopped in the midst of
//! what it does.
//!
//! Who spins keeps the CPU, also if it yields, so the stopped one goes on only once all others sleep or are
//! done. A wait for the next few instructions of another context has to come to that; a wait for the holder
//! of a lock whose waiters spin need not.
use super::domain::SteppedDomain;
use super::engine::{self, Status, with};
use super::machine::Machine;
use super::plan::Plan;
use super::run::drive;
use super::rw_subjects::SteppedRw;
use super::subjects::{Explored, Subject, locks};
use super::{CONTEXTS, Ctx, Failure, LOCK_BYTES};
use crate::arena::Arena;
use crate::coroutine::Coroutine;
use crate::locks::AnyLock;
use core::cell::Cell;
use stanchion_core::transitions::Word;
use std::rc::Rc;

/// Holds the lock at first.
const HOLDER: Ctx = 0;
/// Waits before the others do.
const NEXT: Ctx = 1;
/// Waits behind that one.
const URGENT: Ctx = 2;
/// Is less urgent than all others.
const STOPPED: Ctx = 3;

/// A section is so long, in turns.
const SECTION: u64 = 400;
/// More turns than anything takes that ends by itself.
const MANY: u64 = 4 * SECTION;
/// So many turns bring the holder of a free lock into its section, and not out of it.
const INTO: u64 = 150;
/// The stopped context is stopped after so many turns at most: waiters that look again and again come no
/// further.
const FARTHEST: u64 = 40;
/// Before others queue it has fewer.
const EARLIEST: u64 = 8;
/// In so many turns a waiter has come to where it stays until something changes.
const SETTLES: u64 = 200;

/// The lock under test. The stopped context may be a reader of it; the others have it alone.
enum Used {
    Mutex(Box<dyn AnyLock>),
    Rw(Box<dyn SteppedRw>, bool),
}

impl Used {
    fn acquire(&self, ctx: Ctx) {
        match self {
            Self::Mutex(lock) => lock.acquire(),
            Self::Rw(lock, true) if ctx == STOPPED => {
                lock.acquire_read().expect("one reader is not too many");
            }
            Self::Rw(lock, _) => lock.acquire_write(),
        }
    }

    fn release(&self, ctx: Ctx) {
        match self {
            Self::Mutex(lock) => lock.release(),
            Self::Rw(lock, true) if ctx == STOPPED => lock.release_read(),
            Self::Rw(lock, _) => lock.release_write(),
        }
    }

    /// All of it, its queue's lock included.
    fn word(&self) -> (Word, Option<Word>) {
        match self {
            Self::Mutex(lock) => (lock.word(), None),
            Self::Rw(lock, _) => (lock.word(), lock.queue_word()),
        }
    }
}

/// What a run has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// The stopped context was stopped where it was to be, and all went well.
    Through,
    /// It got ahead of others, which wait for it as they should.
    Ahead,
    /// Who was to be woken does not sleep.
    Awake,
    /// It came to where it waits, or to its end, before it was to be stopped.
    TooFar,
}

/// Who has how many turns, one after the other, before strict priorities decide; and the contexts that are
/// more urgent than the stopped one.
struct Order {
    stages: Vec<(Ctx, u64)>,
    urgent: Vec<Ctx>,
    /// The stage before which the lock's word is looked at, which the stage is not to change.
    looks: usize,
    /// A sleeper that wakes for no reason when the stages are over.
    rouses: Option<Ctx>,
}

/// Runs four contexts of `subject` in this order; `reads`: the stopped one reads.
fn run(subject: &Subject, reads: bool, order: Order) -> Result<Came, Failure> {
    let arena = Arena::new(LOCK_BYTES);
    let lock = Rc::new(match subject.kind {
        Explored::Mutex(kind) => Used::Mutex((kind.make)(&arena)),
        Explored::Rw(kind) => Used::Rw((kind.make)(&arena), reads),
    });
    let came = Rc::new(Cell::new(Came::Through));
    let plan = Plan { rounds: vec![1; 4], ..Plan::empty() };
    with(|engine| {
        engine.begin(&plan, Rc::new(SteppedDomain::new(Machine::PLAIN)), 100 * MANY);
        engine.tunings = subject.tunings();
        engine.director = Some(director(order, Rc::clone(&lock), Rc::clone(&came)));
    });
    let contexts = (0..4).map(|ctx| {
        let lock = Rc::clone(&lock);
        Coroutine::new(move || {
            lock.acquire(ctx);
            (0..SECTION).for_each(|_| engine::pause());
            lock.release(ctx);
        })
    });
    drive(contexts.collect::<std::io::Result<Vec<_>>>().expect("memory for four stacks"));
    let failure = with(|engine| {
        engine.end();
        engine.director = None;
        engine.failure.take()
    });
    match failure {
        Some(failure) if came.get() == Came::Through => Err(failure),
        _ => Ok(came.get()),
    }
}

fn director(order: Order, lock: Rc<Used>, came: Rc<Cell<Came>>) -> engine::Director {
    let (mut stage, mut had, mut word) = (0, 0, lock.word());
    let mut spun = [0; CONTEXTS];
    let mut rouses = order.rouses;
    Box::new(move |engine| {
        while let Some(&(ctx, turns)) = order.stages.get(stage) {
            if had == 0 && stage == order.looks {
                word = lock.word();
            }
            let over = engine.status[ctx] != Status::Ready;
            if had < turns && !over {
                had += 1;
                return Ok(ctx);
            }
            if stage == order.looks && lock.word() != word {
                came.set(Came::Ahead);
                return Err("ahead".to_owned());
            }
            if over && (stage == order.looks || stage + 1 == order.stages.len()) {
                came.set(Came::TooFar);
                return Err("too far".to_owned());
            }
            (stage, had) = (stage + 1, 0);
        }
        if let Some(ctx) = rouses.take() {
            if engine.status[ctx] != Status::Halted {
                came.set(Came::Awake);
                return Err("awake".to_owned());
            }
            engine.time_is_up(ctx);
        }
        let others = [STOPPED, NEXT, URGENT, HOLDER];
        let others = others.into_iter().find(|&ctx| engine.status[ctx] == Status::Ready);
        let others = others.ok_or("nobody can go on".to_owned());
        let mut spins = None;
        for &ctx in &order.urgent {
            match engine.status[ctx] {
                Status::Halted | Status::Awaits(_) => {
                    spun[ctx] = 0;
                    return others; // those behind it may wait for it
                }
                Status::Done => {}
                Status::Ready if spun[ctx] < MANY => {
                    spun[ctx] += 1;
                    return Ok(ctx);
                }
                Status::Ready | Status::Polling(_) => spins = Some(ctx),
            }
        }
        match spins {
            None => others,
            Some(ctx) => Err(format!("c{ctx} spins without end, and c{STOPPED} cannot go on")),
        }
    })
}

/// Its waiters spin for who holds its queue's lock, which is free while a writer is in, so the stopped one
/// may get it; and for readers, of which one that is about to take its addition back counts as one that is
/// in. The queue's lock is `qspin`.
const SPINS: &str = "qrw-spin";

/// Each sound lock; reader-writer locks twice, the second time with a stopped reader.
fn subjects() -> impl Iterator<Item = (Subject, bool)> {
    locks().into_iter().filter(|subject| subject.name() != SPINS).flat_map(|subject| {
        let readers = matches!(subject.kind, Explored::Rw(_));
        [(subject, false), (subject, true)].into_iter().take(1 + usize::from(readers))
    })
}

/// Tries `order` with more and more turns of the stopped context. What failed, and in how many runs it was
/// stopped.
fn stopped_anywhere(subject: &Subject, reads: bool, order: impl Fn(u64) -> Order) -> (Vec<String>, u64) {
    let (mut failed, mut runs) = (Vec::new(), 0);
    for turns in 0..FARTHEST {
        match run(subject, reads, order(turns)) {
            Ok(Came::Through) => {}
            Ok(Came::Awake) => continue,
            Ok(Came::Ahead | Came::TooFar) => break,
            Err(failure) => {
                failed.push(format!("{} ({turns} turns, reads: {reads}): {}", subject.name(), failure.what));
            }
        }
        runs += 1;
    }
    (failed, runs)
}

#[test]
fn a_context_that_is_stopped_behind_others_keeps_none_of_them_spinning() {
    let mut failed = Vec::new();
    for (subject, reads) in subjects() {
        for early in 0..EARLIEST {
            let (spinning, runs) = stopped_anywhere(&subject, reads, |late| Order {
                stages: vec![
                    (HOLDER, INTO),
                    (NEXT, SETTLES),
                    (STOPPED, early),
                    (URGENT, SETTLES),
                    (HOLDER, MANY),
                    (NEXT, INTO),
                    (STOPPED, late),
                ],
                urgent: vec![NEXT, URGENT],
                looks: 2,
                rouses: None,
            });
            failed.extend(spinning.into_iter().map(|what| format!("{early} turns before: {what}")));
            if runs == 0 {
                assert!(early > 0, "{}: it is stopped at least once", subject.name());
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{} runs:\n{}", failed.len(), failed.join("\n"));
}

/// The stopped one is the owner of a lock, or about to be, behind which others sleep. One of them wakes for
/// no reason.
#[test]
fn an_owner_that_is_stopped_keeps_no_sleeper_spinning_that_wakes() {
    let (mut failed, mut slept) = (Vec::new(), 0);
    for (subject, reads) in subjects() {
        let order = |turns| Order {
            stages: vec![
                (HOLDER, INTO),
                (STOPPED, SETTLES),
                (URGENT, MANY),
                (HOLDER, MANY),
                (STOPPED, turns),
            ],
            urgent: vec![URGENT],
            looks: usize::MAX,
            rouses: Some(URGENT),
        };
        let (spinning, runs) = stopped_anywhere(&subject, reads, order);
        slept += runs;
        failed.extend(spinning);
    }
    assert!(slept > 100, "waiters of some locks sleep");
    assert!(failed.is_empty(), "{} runs:\n{}", failed.len(), failed.join("\n"));
}
