//! Every reader-writer lock of the native world passes the conformance bodies, events counted or not.
#![cfg(feature = "std")]

#[path = "support/bodies.rs"]
#[expect(dead_code, reason = "of the bodies for the other locks, only what is common is used")]
mod bodies;
#[path = "support/fenced.rs"]
mod fenced;
#[path = "support/rw_bodies.rs"]
mod rw_bodies;
#[path = "support/sanitizer.rs"]
mod sanitizer;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use bodies::{Context, Load, World};
use rw_bodies::{
    check_any_order, check_downgrade, check_exclusion, check_read_again, check_readers_together, check_tries,
    check_tries_exclude, check_upgrades,
};
use stanchion::native::{Counted, Native};
use stanchion_core::qrw::{Lenient, Strict};
use stanchion_core::{CountRwLock, PerCpuRwLock, PvQSpinLock, QSpinLock, QueuedRwLock};
use watch::Crew;

/// Contexts are threads of the operating system.
struct Threads;

impl World for Threads {
    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
        fenced::fence_if_sanitized();
        let mut crew = Crew::new();
        for context in contexts {
            crew.spawn(context);
        }
        crew.join(report);
    }

    fn until(what: &str, done: &mut dyn FnMut() -> bool) {
        watch::until(what, String::new, done);
    }
}

/// Waiters that spin stop each other when they outnumber the CPUs, so there are two of them.
const SPINS: Load = Load { contexts: 2, rounds: 300 };
/// Waiters that halt may be many.
const HALTS: Load = Load { contexts: 8, rounds: 500 };

macro_rules! conformance {
    ($($name:ident: $lock:ty, $load:expr $(, $upgrades:ident)?;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn excludes() {
                check_exclusion::<Threads, $lock>($load);
            }

            #[test]
            fn excludes_with_tries() {
                check_tries_exclude::<Threads, $lock>($load);
            }

            #[test]
            fn readers_are_in_together() {
                check_readers_together::<Threads, $lock>($load);
            }

            #[test]
            fn tries_fail_while_held() {
                check_tries::<Threads, $lock>($load);
            }

            #[test]
            fn reads_again_while_a_writer_waits() {
                check_read_again::<Threads, $lock>($load);
            }

            #[test]
            fn released_in_any_order() {
                check_any_order::<Threads, $lock>($load);
            }

            #[test]
            fn downgrades() {
                check_downgrade::<Threads, $lock>($load);
            }

            $(
                #[test]
                fn $upgrades() {
                    check_upgrades::<Threads, $lock>($load);
                }
            )?
        }
    )*};
}

conformance! {
    qrw: QueuedRwLock<Native, PvQSpinLock<Native>, Lenient>, HALTS, upgrades;
    qrw_spin: QueuedRwLock<Native, QSpinLock<Native>, Strict>, SPINS, upgrades;
    percpu_rw: PerCpuRwLock<Native>, HALTS;
    percpu_rw_simple: PerCpuRwLock<Native, CountRwLock<Native>>, SPINS;
    qrw_counted: QueuedRwLock<Native<Counted>, PvQSpinLock<Native<Counted>>, Lenient>, HALTS, upgrades;
    percpu_rw_counted: PerCpuRwLock<Native<Counted>>, HALTS;
}

/// `rw-simple` lets nobody read again while a writer waits.
mod rw_simple {
    use super::*;

    #[test]
    fn excludes() {
        check_exclusion::<Threads, CountRwLock<Native>>(SPINS);
    }

    #[test]
    fn excludes_with_tries() {
        check_tries_exclude::<Threads, CountRwLock<Native>>(SPINS);
    }

    #[test]
    fn readers_are_in_together() {
        check_readers_together::<Threads, CountRwLock<Native>>(SPINS);
    }

    #[test]
    fn tries_fail_while_held() {
        check_tries::<Threads, CountRwLock<Native>>(SPINS);
    }

    #[test]
    fn released_in_any_order() {
        check_any_order::<Threads, CountRwLock<Native>>(SPINS);
    }

    #[test]
    fn downgrades() {
        check_downgrade::<Threads, CountRwLock<Native>>(SPINS);
    }
}

/// The bodies would pass any lock if their own checks were blind.
mod detectors {
    use super::*;
    use stanchion_core::order::Relaxed;
    use stanchion_core::transitions::{Table, Word};
    use stanchion_core::{Atomic, Platform, RawRwLock, TooManyReaders};
    use std::panic::catch_unwind;

    /// Lets everybody in.
    struct Open(<Native as Platform>::U8);

    impl RawRwLock for Open {
        type Platform = Native;
        const NAME: &'static str = "open";
        const TRANSITIONS: Table = Table(&[]);
        const MOST_READERS: u32 = 1;
        fn new() -> Self {
            Self(Atomic::new(0))
        }
        fn acquire_read(&self) -> Result<(), TooManyReaders> {
            self.acquire_write();
            Ok(())
        }
        fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
            self.acquire_read()
        }
        fn try_acquire_read(&self) -> bool {
            self.acquire_read().is_ok()
        }
        fn release_read(&self) {
            self.release_write();
        }
        fn acquire_write(&self) {
            self.0.store(1, Relaxed);
        }
        fn try_acquire_write(&self) -> bool {
            self.acquire_write();
            true
        }
        fn release_write(&self) {
            self.0.store(0, Relaxed);
        }
        fn word(&self) -> Word {
            Word { tail: 0, pending: 0, locked: 0 }
        }
    }

    #[test]
    fn a_try_that_lies_is_caught() {
        let caught = catch_unwind(|| check_tries::<Threads, Open>(SPINS));
        assert!(caught.is_err(), "the body must notice that a held lock was taken");
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        if sanitizer::skips("it would report the race that is wanted here") {
            return;
        }
        let caught = (0..100).any(|_| catch_unwind(|| check_exclusion::<Threads, Open>(SPINS)).is_err());
        assert!(caught, "within a hundred runs");
    }
}
