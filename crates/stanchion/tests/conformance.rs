//! Every lock of the native world passes the conformance bodies, events counted or not.
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

use ::stanchion::native::{Counted, Silent};
use stanchion_core::{ConstLock, RawLock};
use threads::Threads;

stanchion_suite::mutex_tests!(Threads<Silent>);

mod counted {
    use super::*;

    stanchion_suite::mutex_tests!(Threads<Counted>);
}

/// The lock stands in a `static`, and is as small as promised.
fn check_static<L: RawLock>(lock: &'static L) {
    let bytes = if L::NAME == "pv-qspin-pointer" { 8 } else { 4 };
    assert_eq!((size_of::<L>(), align_of::<L>()), (bytes, 4), "{}", L::NAME);
    lock.acquire();
    assert_eq!(lock.word().locked, 1);
    assert!(!lock.try_acquire());
    lock.release();
    assert_eq!(lock.word().locked, 0);
}

/// The catalogue calls a lock what it is called on command lines, so that its tests can be found there.
fn check_name(name: &str, on_command_lines: &str) {
    let tests = stanchion_suite::tests::<Threads<Silent>>();
    let found: Vec<_> = tests.iter().filter(|test| test.is_of(on_command_lines)).collect();
    assert_eq!(found.len(), 7, "{on_command_lines}");
    assert!(found.iter().all(|test| test.case.lock == name), "{name} is called {on_command_lines}");
}

macro_rules! statics {
    ([$world:ty] $($name:ident: $waiting:ident, $lock:ty;)*) => {$(
        #[test]
        fn $name() {
            type W = $world;
            static LOCK: $lock = <$lock as ConstLock>::NEW;
            check_static(&LOCK);
            check_name(stringify!($name), <$lock as RawLock>::NAME);
        }
    )*};
}

mod static_and_small {
    use super::*;
    use stanchion_suite::catalogue::*;

    stanchion_suite::mutexes! { statics; Threads<Silent> }

    mod counted {
        use super::*;

        stanchion_suite::mutexes! { statics; Threads<Counted> }
    }
}

/// The bodies would pass any lock if their own checks were blind: a lock that does not exclude must fail.
mod detectors {
    use super::*;
    use ::stanchion::native::Native;
    use stanchion_suite::broken::OpenLock;
    use stanchion_suite::{Waiting, mutex};
    use std::panic::catch_unwind;

    #[test]
    fn a_try_that_lies_is_caught() {
        let load = threads::load(Waiting::Spins);
        let caught = catch_unwind(|| mutex::tries_fail_while_held::<Threads<Silent>, OpenLock<Native>>(load));
        assert!(caught.is_err(), "the body must notice that a held lock was taken");
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        if sanitizer::skips("it would report the race that is wanted here") {
            return;
        }
        let load = threads::load(Waiting::Spins);
        let fails = || catch_unwind(|| mutex::excludes::<Threads<Silent>, OpenLock<Native>>(load)).is_err();
        assert!((0..100).any(|_| fails()), "within a hundred runs");
    }
}
