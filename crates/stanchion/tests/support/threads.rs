//! The world in which the suite's contexts are threads of the operating system.
use super::fenced;
use super::watch::{self, Crew};
use core::marker::PhantomData;
use core::sync::atomic::AtomicU32;
use stanchion::native::{Counting, Native};
use stanchion_suite::{Case, Context, Load, Sort, Waiting, World};
use std::sync::{Mutex, PoisonError};

/// One case runs at a time, whatever the harness does: two of locks that only spin would have twice as many
/// threads as two CPUs, and every hand-over would take a time slice. With more threads than CPUs, torture
/// runs them.
static TURN: Mutex<()> = Mutex::new(());

/// Threads, with lock events counted or not.
pub(crate) struct Threads<C>(PhantomData<C>);

impl<C: Counting> World for Threads<C> {
    type Platform = Native<C>;
    type Flag = AtomicU32;
    type Witness = ();

    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
        let mut crew = Crew::new();
        for context in contexts {
            crew.spawn(context);
        }
        crew.join(report);
    }

    fn until(what: &str, done: &mut dyn FnMut() -> bool) {
        watch::until(what, String::new, done);
    }

    fn run_case(case: &Case, check: fn(Load)) {
        if case.sort == Sort::ReaderWriter {
            fenced::fence_if_sanitized();
        }
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        check(load(case.waiting));
    }
}

/// Waiters that do not halt stop each other when they outnumber the CPUs, so there are two of them. Those
/// that halt after a long spin take a millisecond a hand-over on two CPUs; the long run is torture's.
pub(crate) const fn load(waiting: Waiting) -> Load {
    match waiting {
        Waiting::Spins | Waiting::GivesWay => Load::new(2, 300),
        Waiting::Halts => Load::new(8, 150),
    }
}
