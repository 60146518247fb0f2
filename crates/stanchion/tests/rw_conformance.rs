//! Every reader-writer lock of the native world passes the conformance bodies, events counted or not.
#![cfg(feature = "std")]

#[path = "support/fenced.rs"]
mod fenced;
#[path = "support/sanitizer.rs"]
mod sanitizer;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/threads.rs"]
mod threads;
#[path = "support/watch.rs"]
mod watch;

use stanchion::native::{Counted, Silent};
use threads::Threads;

stanchion_suite::rw_tests!(Threads<Silent>);

mod counted {
    use super::*;

    stanchion_suite::rw_tests!(Threads<Counted>);
}

/// The bodies would pass any lock if their own checks were blind.
mod detectors {
    use super::*;
    use stanchion::native::Native;
    use stanchion_suite::broken::{Counted, RW_NONE};
    use stanchion_suite::{Waiting, rw};
    use std::panic::catch_unwind;

    #[test]
    fn a_try_that_lies_is_caught() {
        let load = threads::load(Waiting::Spins);
        let caught =
            catch_unwind(|| rw::tries_fail_while_held::<Threads<Silent>, Counted<Native, RW_NONE>>(load));
        assert!(caught.is_err(), "the body must notice that a held lock was taken");
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        if sanitizer::skips("it would report the race that is wanted here") {
            return;
        }
        let load = threads::load(Waiting::Spins);
        let fails =
            || catch_unwind(|| rw::excludes::<Threads<Silent>, Counted<Native, RW_NONE>>(load)).is_err();
        assert!((0..100).any(|_| fails()), "within a hundred runs");
    }
}
