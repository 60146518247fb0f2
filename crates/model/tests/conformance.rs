//! Every lock passes the conformance bodies under the model checker, with the least load that has every part
//! in it: two contexts that each do their part once, in all executions with a bounded number of preemptions.
use core::time::Duration;
use loom::cell::UnsafeCell;
use stanchion_core::order::{AcqRel, Acquire, Release};

use stanchion_core::{Atomic, Machine};
use stanchion_model::check::Report;
use stanchion_model::{Limits, Model, contexts};
use stanchion_suite::{Body, Case, Context, Flag, Load, Witness, World};

/// Contexts are threads of loom.
struct Explored;

/// A cell that loom knows of: who reads it comes after who wrote it, and after nobody else.
struct Seen(<Model as Machine>::U32);

impl Default for Seen {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl Flag for Seen {
    fn get(&self) -> u32 {
        self.0.load(Acquire)
    }

    fn set(&self, to: u32) {
        self.0.store(to, Release);
    }

    fn add_one(&self) {
        self.0.fetch_add(1, AcqRel);
    }
}

/// Loom fails an execution in which accesses of it are not ordered.
#[derive(Default)]
struct Guarded(UnsafeCell<()>);

// SAFETY: all contexts of loom are coroutines on one host thread, so nobody else calls at the same time;
// there is nothing in the cell.
unsafe impl Send for Guarded {}
// SAFETY: as for `Send`: one host thread, and nothing in the cell.
unsafe impl Sync for Guarded {}

impl Witness for Guarded {
    fn read(&self) {
        self.0.with(|_| ());
    }

    fn write(&self) {
        self.0.with_mut(|_| ());
    }
}

/// Explores a body with so many preemptions at most.
fn explore(preemptions: usize, check: fn(Load)) -> Report {
    let load = Load::least();
    let limits = Limits { preemptions: Some(preemptions), time: Duration::from_mins(5) };
    contexts::explore(load.contexts, &limits, move || check(load))
}

impl World for Explored {
    type Platform = Model;
    type Flag = Seen;
    type Witness = Guarded;

    fn run(_report: &dyn Fn() -> String, contexts: Vec<Context>) {
        contexts::contexts(contexts);
    }

    fn until(_what: &str, done: &mut dyn FnMut() -> bool) {
        contexts::wait_until(done);
    }

    fn run_case(case: &Case, check: fn(Load)) {
        let preemptions = if case.body == Body::ManyAtOnce { 1 } else { 2 };
        let report = explore(preemptions, check);
        println!("{case:?}: {} executions in {:?}", report.executions, report.time);
        assert!(report.failure.is_none(), "{case:?}: {report:?}");
        assert!(report.exhausted, "{case:?}: {report:?}");
    }
}

stanchion_suite::mutex_tests!(Explored);

mod rw {
    use super::*;

    stanchion_suite::rw_tests!(Explored);
}

/// The bodies would pass any lock if their own checks were blind.
mod detectors {
    use super::*;
    use stanchion_core::RawLock;
    use stanchion_family::ByteLock;
    use stanchion_model::check::Kind;
    use stanchion_suite::broken::{Byte, Counted, NONE, RW_NONE, RW_SERIAL};
    use stanchion_suite::{mutex, rw};

    fn failure(check: fn(Load)) -> Option<Kind> {
        explore(2, check).failure.map(|failure| failure.kind)
    }

    #[test]
    fn a_try_that_lies_is_caught() {
        let mutex = failure(mutex::tries_fail_while_held::<Explored, Byte<Model, NONE>>);
        assert_eq!(mutex, Some(Kind::Assertion));
        let rwlock = failure(rw::tries_fail_while_held::<Explored, Counted<Model, RW_NONE>>);
        assert_eq!(rwlock, Some(Kind::Assertion));
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        assert_eq!(failure(mutex::excludes::<Explored, Byte<Model, NONE>>), Some(Kind::Race));
        assert_eq!(failure(rw::excludes::<Explored, Counted<Model, RW_NONE>>), Some(Kind::Race));
    }

    #[test]
    fn a_downgraded_holder_that_keeps_readers_out_is_caught() {
        let rwlock = failure(rw::downgraded_beside_readers::<Explored, Counted<Model, RW_SERIAL>>);
        assert_eq!(rwlock, Some(Kind::Stuck));
    }

    /// Whoever waits for ever is seen, not waited for.
    #[test]
    fn a_lock_that_is_never_free_again_is_caught() {
        let forgets = |_| {
            let lock = std::sync::Arc::new(ByteLock::<Model>::new());
            let context = || -> Context {
                let lock = std::sync::Arc::clone(&lock);
                Box::new(move || lock.acquire())
            };
            contexts::contexts(vec![context(), context()]);
        };
        assert_eq!(failure(forgets), Some(Kind::Stuck));
    }

    /// What no interleaving shows: the section is not visible to whoever comes next.
    #[test]
    fn a_release_that_orders_nothing_is_caught() {
        stanchion_model::note_sites();
        assert_eq!(failure(mutex::excludes::<Explored, ByteLock<Model>>), None);
        let sites = stanchion_model::take_sites();
        let (file, line, op) = sites
            .iter()
            .find(|(file, _, op)| file.ends_with("family/src/byte.rs") && *op == "store")
            .expect("the release of `byte` is reached");
        let release = format!("{file}:{line}:{op}=Relaxed").parse().expect("well-formed");
        stanchion_model::weaken(Some(release));
        let weakened = failure(mutex::excludes::<Explored, ByteLock<Model>>);
        stanchion_model::weaken(None);
        assert_eq!(weakened, Some(Kind::Race));
    }
}
