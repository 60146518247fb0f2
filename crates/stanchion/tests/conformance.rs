//! Every lock of the native world passes the conformance bodies. What counting adds, `events` and `signals`
//! test.
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

use ::stanchion::native::{Counted, Native, Silent};
use stanchion_core::{ConstLock, RawLock};
use stanchion_family::catalogue::{self, Facts};
use threads::Threads;

stanchion_suite::mutex_tests!(Threads<Silent>);

/// The lock stands in a `static`, is called as the catalogue says, and is as small.
fn check_static<L: RawLock>(lock: &'static L, facts: &Facts) {
    assert_eq!((L::NAME, size_of::<L>(), align_of::<L>()), (facts.name, facts.bytes, 4));
    lock.acquire();
    assert_eq!(lock.word().locked, 1);
    assert!(!lock.try_acquire());
    lock.release();
    assert_eq!(lock.word().locked, 0);
}

macro_rules! statics {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {$(
        #[test]
        fn $row() {
            static LOCK: $lock = <$lock as ConstLock>::NEW;
            check_static(&LOCK, catalogue::mutex($name));
        }
    )*};
}

mod static_and_small {
    use super::*;

    stanchion_family::for_each_mutex! { Native<Silent>; statics; }

    mod counted {
        use super::*;

        stanchion_family::for_each_mutex! { Native<Counted>; statics; }
    }
}

/// The bodies would pass any lock if their own checks were blind: a lock that does not exclude must fail.
mod detectors {
    use super::*;
    use stanchion_suite::broken::{Byte, NONE};
    use stanchion_suite::{Waiting, mutex};
    use std::panic::catch_unwind;

    #[test]
    fn a_try_that_lies_is_caught() {
        let load = threads::load(Waiting::Spins);
        let caught =
            catch_unwind(|| mutex::tries_fail_while_held::<Threads<Silent>, Byte<Native, NONE>>(load));
        assert!(caught.is_err(), "the body must notice that a held lock was taken");
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        if sanitizer::skips("it would report the race that is wanted here") {
            return;
        }
        let load = threads::load(Waiting::Spins);
        let fails = || catch_unwind(|| mutex::excludes::<Threads<Silent>, Byte<Native, NONE>>(load)).is_err();
        assert!((0..100).any(|_| fails()), "within a hundred runs");
    }
}
