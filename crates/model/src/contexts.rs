//! Explores contexts of a test's own, as `run_contexts` of the simulated worlds runs them.
//!
//! The test is performed anew in each execution: it makes its locks, hands its contexts to [`contexts`], and
//! looks at what they have left. Only what the contexts do is explored.
use crate::check::{self, Limits, Report};
use crate::guard;
use crate::interrupts::Points;
use crate::settings::PLAIN;
use crate::shapes::Second;
use crate::world::{self, World, look};
use stanchion_family::catalogue::InOrder;
use std::rc::Rc;

/// Performs `test` in every execution that there is within the limits. It calls [`contexts`] once, with at
/// most so many.
pub fn explore(
    most_contexts: usize,
    limits: &Limits,
    test: impl Fn() + Copy + Send + Sync + 'static,
) -> Report {
    guard::begin_program(InOrder::NOTHING);
    check::explore_all(most_contexts, Points::new(0, Second::Within), limits, test)
}

/// Runs the contexts, each to its end. Then the caller stands for the first of them, with nothing to explore
/// any more.
pub fn contexts(contexts: Vec<Box<dyn FnOnce() + Send>>) {
    let world = Rc::new(World::new(contexts.len(), PLAIN));
    let mut threads = Vec::new();
    for (me, context) in contexts.into_iter().enumerate() {
        let world = Rc::clone(&world);
        threads.push(loom::thread::spawn(move || {
            world::enter(world, me);
            context();
        }));
    }
    world.mint();
    world.explore();
    for thread in threads {
        assert!(thread.join().is_ok(), "loom does not go on after a panic");
    }
    world.rest();
    world.check_storage();
    world::enter(world, 0);
}

/// Waits until `done`, looking again whenever another context has written anything. For contexts.
pub fn wait_until(done: &mut dyn FnMut() -> bool) {
    look::look_until(done);
}
