//! Runs contexts of any kind in the stepped world: for tests that are written for every world.
use super::CONTEXTS;
use super::domain::SteppedDomain;
use super::engine::{self, with};
use super::machine::Machine;
use super::plan::Plan;
use super::run::drive;
use super::{Failure, Kind};
use crate::coroutine::Coroutine;
use std::rc::Rc;

/// No test of a lock takes as many steps.
const STEP_LIMIT: u64 = 200_000_000;

/// Runs the contexts, each to its end, under the random schedule `seed`, sequentially consistent and without
/// faults.
///
/// # Panics
///
/// If there are more contexts than [`CONTEXTS`], or no memory for their stacks.
pub fn run_contexts(seed: u64, contexts: Vec<Box<dyn FnOnce() + Send>>) -> Result<(), Failure> {
    assert!(contexts.len() <= CONTEXTS, "this world has {CONTEXTS} contexts");
    let plan = Plan { seed, rounds: vec![1; contexts.len()], ..Plan::empty() };
    with(|engine| engine.begin(&plan, Rc::new(SteppedDomain::new(Machine::PLAIN)), STEP_LIMIT));
    let made = contexts.into_iter().map(Coroutine::new).collect::<std::io::Result<Vec<_>>>();
    drive(made.expect("memory for the stacks of a few contexts"));
    with(|engine| {
        engine.end();
        engine.failure.take().map_or(Ok(()), Err)
    })
}

/// Lets others run until `done`; the calling context may take steps in it.
///
/// # Panics
///
/// If that takes so long that it will never come.
pub fn wait_until(what: &str, done: &mut dyn FnMut() -> bool) {
    const LOOKS: u32 = 1_000_000;
    for _ in 0..LOOKS {
        if done() {
            return;
        }
        engine::pause();
    }
    panic!("{}: {what} never came", Kind::Hung.name());
}
