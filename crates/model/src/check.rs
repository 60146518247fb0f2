//! Explores a shape with a lock.
use crate::cells::NOT_PRIVATE;
use crate::guard;
use crate::interrupts::Points;
use crate::platform::Model;
use crate::program::execution;
use crate::run::{self, Learned};
use crate::shapes::Shape;
use crate::subject::{Exclusive, Shared, Subject, Upgrading};
use core::any::Any;
use core::fmt;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use stanchion_core::transitions::Word;
use stanchion_core::{Downgrade, Event, RawLock, Upgradable};
use stanchion_family::catalogue::InOrder;
use std::panic;
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
    /// Which writes are ordered.
    pub ordered: InOrder,
}

/// Explores `shape` with locks of type `L`.
pub fn check<L: RawLock<Platform = Model>>(shape: &'static Shape, limits: &Limits, stated: Stated) -> Report {
    explore::<Exclusive<L>>(shape, limits, stated)
}

/// The same with reader-writer locks.
pub fn check_rw<L: Downgrade<Platform = Model>>(
    shape: &'static Shape,
    limits: &Limits,
    stated: Stated,
) -> Report {
    explore::<Shared<L>>(shape, limits, stated)
}

/// The same with reader-writer locks that can be held upgradably.
pub fn check_upgradable<L: Upgradable<Platform = Model>>(
    shape: &'static Shape,
    limits: &Limits,
    stated: Stated,
) -> Report {
    explore::<Upgrading<L>>(shape, limits, stated)
}

fn explore<S: Subject>(shape: &'static Shape, limits: &Limits, stated: Stated) -> Report {
    guard::begin_program(stated.ordered);
    let points = Points::new(shape.anywhere.len(), shape.second);
    explore_all(shape.contexts.len(), points, limits, move || execution::<S>(shape, stated.is_free))
}

/// Explores a program: all that `execution` may come to, with interrupts at each of the points in turn.
pub(crate) fn explore_all(
    contexts: usize,
    points: Points,
    limits: &Limits,
    execution: impl Fn() + Copy + Send + Sync + 'static,
) -> Report {
    hush();
    let started = Instant::now();
    run::begin_program();
    let mut executions = 0;
    let mut exhausted = true;
    let mut failure = None;
    let mut points = Some(points);
    while let Some(now) = points {
        run::set_points(now);
        failure = explore_once(contexts, limits, started, execution);
        executions += run::executions();
        let looked = (run::executions() + 1).is_multiple_of(CLOCK_INTERVAL as u64);
        let is_over = started.elapsed() >= limits.time;
        exhausted &= failure.is_none() && !(looked && is_over);
        points = now.next(run::most_fired()).filter(|_| failure.is_none());
        if is_over && points.take().is_some() {
            exhausted = false;
        }
    }
    run::begin_exploration(); // none goes on: whoever looks at the report may panic, and be read
    Report {
        executions,
        exhausted,
        time: started.elapsed(),
        failure,
        events: run::events(),
        weakened: run::hits(),
    }
}

/// Explores with the interrupts at the same points in each execution.
fn explore_once(
    contexts: usize,
    limits: &Limits,
    started: Instant,
    execution: impl Fn() + Copy + Send + Sync + 'static,
) -> Option<Failure> {
    loop {
        run::begin_exploration();
        let builder = builder(contexts, limits, limits.time.saturating_sub(started.elapsed()));
        let explored = panic::catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                run::begin_execution();
                guard::begin_execution();
                execution();
            });
        }));
        match explored {
            Ok(()) => break None,
            Err(payload) if payload.is::<Learned>() => {}
            Err(payload) => break Some(described(payload.as_ref())),
        }
    }
}

fn builder(contexts: usize, limits: &Limits, time: Duration) -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.max_threads = contexts + 1;
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

fn described(payload: &(dyn Any + Send)) -> Failure {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
    let kind = match text {
        _ if text.contains("Causality violation") || text.contains(NOT_PRIVATE) => Kind::Race,
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
