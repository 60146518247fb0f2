//! Explores a shape with a lock.
use crate::platform::Model;
use crate::run::{self, Learned};
use crate::shapes::{Shape, Step};
use crate::world::{self, World};
use core::any::Any;
use core::cell::Cell;
use core::fmt;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use stanchion_core::transitions::Word;
use stanchion_core::{Event, RawLock};
use std::panic;
use std::rc::Rc;
use std::sync::Once;
use std::time::Instant;

/// How far an exploration goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often contexts may be preempted in an execution; `None`: any number of times.
    pub preemptions: Option<usize>,
    /// When an exploration is given up.
    pub time: Duration,
}

/// An execution with more steps and choices than this is stuck.
const LONGEST: usize = 1_500;
/// Loom looks at the clock after so many executions.
const CLOCK_INTERVAL: usize = 256;

/// What a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two sections are not ordered.
    Race,
    /// Nobody goes on.
    Stuck,
    /// An assertion failed, of the lock or of the check.
    Assertion,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Race => "race",
            Self::Stuck => "stuck",
            Self::Assertion => "assertion",
        })
    }
}

/// How an exploration failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// In what way.
    pub kind: Kind,
    /// In loom's words, or the assertion's.
    pub message: String,
}

/// What came of an exploration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Executions explored.
    pub executions: u64,
    /// Whether these are all, within the bound on preemptions.
    pub exhausted: bool,
    /// How long it took.
    pub time: Duration,
    /// The first failure.
    pub failure: Option<Failure>,
    /// Lock events over all executions.
    pub events: Vec<(Event, u64)>,
    /// How many accesses were weakened.
    pub weakened: u64,
}

/// What a lock states about its cells.
#[derive(Clone, Copy, Debug)]
pub struct Stated {
    /// What its word is while it is free.
    pub is_free: fn(Word) -> bool,
    /// The cells whose plain stores are ordered with every other write, by place: of a lock from 0 on, of a context from 1000 on,
    /// in the order in which they are made. (Loom lets no read-modify-write come before a store that is already there, so it
    /// would not notice otherwise that nothing orders the two.)
    pub ordered: &'static [usize],
}

/// Explores `shape` with locks of type `L`.
pub fn check<L: RawLock<Platform = Model>>(shape: &'static Shape, limits: &Limits, stated: Stated) -> Report {
    hush();
    let started = Instant::now();
    run::begin_program(stated.ordered);
    let failure = loop {
        run::begin_exploration();
        let builder = builder(shape, limits, limits.time.saturating_sub(started.elapsed()));
        let explored = panic::catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || execution::<L>(shape, stated.is_free));
        }));
        match explored {
            Ok(()) => break None,
            Err(payload) if payload.is::<Learned>() => {}
            Err(payload) => break Some(failure(payload.as_ref())),
        }
    };
    let time = started.elapsed();
    let looked = (run::executions() + 1).is_multiple_of(CLOCK_INTERVAL as u64);
    Report {
        executions: run::executions(),
        exhausted: failure.is_none() && !(looked && time >= limits.time),
        time,
        failure,
        events: run::events(),
        weakened: run::hits(),
    }
}

fn builder(shape: &Shape, limits: &Limits, time: Duration) -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.max_threads = shape.contexts.len() + 1;
    builder.max_branches = LONGEST;
    builder.max_permutations = None;
    builder.max_duration = Some(time);
    builder.preemption_bound = limits.preemptions;
    builder.checkpoint_file = None;
    builder.checkpoint_interval = CLOCK_INTERVAL;
    builder.expect_explicit_explore = true;
    builder.location = false;
    builder.log = false;
    builder
}

/// What the locks of one execution protect.
struct Program<L> {
    locks: Vec<L>,
    /// Loom notices accesses that no order of the language separates.
    data: Vec<loom::cell::UnsafeCell<()>>,
    /// Sections entered, and sections owed.
    entered: Cell<usize>,
    owed: Cell<usize>,
}

impl<L: RawLock> Program<L> {
    fn section(&self, lock: usize, within: impl FnOnce()) {
        self.data[lock].with_mut(|_| ());
        within();
        self.data[lock].with_mut(|_| ());
        self.entered.set(self.entered.get() + 1);
    }

    fn hold(&self, lock: usize, within: impl FnOnce()) {
        self.owed.set(self.owed.get() + 1);
        self.locks[lock].acquire();
        self.section(lock, within);
        self.locks[lock].release();
    }

    fn perform(&self, step: Step) {
        match step {
            Step::Hold(lock) => self.hold(lock, || ()),
            Step::Gather(lock, contexts) => self.hold(lock, || world::here().0.gather(contexts)),
            Step::After(lock, sections) => {
                while self.entered.get() < sections {
                    loom::thread::yield_now();
                }
                self.hold(lock, || ());
            }
            Step::Nest(outer, inner) => self.hold(outer, || self.hold(inner, || ())),
            Step::Try(lock) => {
                if self.locks[lock].try_acquire() {
                    self.owed.set(self.owed.get() + 1);
                    self.section(lock, || ());
                    self.locks[lock].release();
                }
            }
        }
    }
}

fn execution<L: RawLock<Platform = Model>>(shape: &'static Shape, is_free: fn(Word) -> bool) {
    run::begin_execution();
    let program = Rc::new(Program {
        locks: (0..shape.locks())
            .map(|_| {
                run::begin_group(0);
                L::new()
            })
            .collect::<Vec<_>>(),
        data: (0..shape.locks()).map(|_| loom::cell::UnsafeCell::new(())).collect(),
        entered: Cell::new(0),
        owed: Cell::new(0),
    });
    let world = Rc::new(World::new(shape.contexts.len(), shape.settings));
    for &(context, step) in shape.handlers {
        let program = Rc::clone(&program);
        world.interrupt_with(context, move || program.perform(step));
    }
    for (me, steps) in shape.contexts.iter().enumerate() {
        let (program, world) = (Rc::clone(&program), Rc::clone(&world));
        loom::thread::spawn(move || {
            world::enter(Rc::clone(&world), me);
            if shape.gathered().is_some_and(|gathered| me > gathered) {
                world.hold_back();
            }
            steps.iter().for_each(|&step| program.perform(step));
            if world.finish() {
                check_end(&program, &world, is_free);
            }
        });
    }
    world.mint();
    if shape.gathered().is_none() {
        world.explore();
    }
}

fn check_end<L: RawLock>(program: &Program<L>, world: &World, is_free: fn(Word) -> bool) {
    for lock in &program.locks {
        assert!(is_free(lock.word()), "the lock is not free at the end: {:?}", lock.word());
    }
    assert_eq!(program.entered.get(), program.owed.get(), "sections entered, sections owed");
    world.check_storage();
}

fn failure(payload: &(dyn Any + Send)) -> Failure {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
    let kind = match text {
        _ if text.contains("Causality violation") => Kind::Race,
        _ if text.contains("maximum number of branches") || text.contains("deadlock") => Kind::Stuck,
        _ => Kind::Assertion,
    };
    let message = match kind {
        Kind::Stuck => "nobody goes on",
        _ => text.trim().lines().next().unwrap_or(text),
    };
    Failure { kind, message: message.to_owned() }
}

/// Panics are results here; nobody wants to read each.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if run::executions() == 0 || std::env::var_os("STANCHION_MODEL_PANICS").is_some() {
                usual(info);
            }
        }));
    });
}
