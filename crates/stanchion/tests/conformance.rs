//! Every lock of the native world passes the conformance bodies, events counted or not.
//!
//! Adding a lock is one line of the macro call below; adding a world is an implementation of [`World`] and a macro call.
#![cfg(feature = "std")]

#[path = "support/bodies.rs"]
mod bodies;
#[path = "support/sanitizer.rs"]
mod sanitizer;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use bodies::{Context, Load, World};
use bodies::{check_exclusion, check_free_again, check_many_locks, check_ping_pong};
use bodies::{check_release_elsewhere, check_tries_exclude, check_try};
use stanchion::native::{Counted, Native, Silent};
use stanchion_core::pv_qspin as pv;
use stanchion_core::pv_ticket::{Opportunistic, Plain};
use stanchion_core::{
    ByteLock, CnaLock, ConstLock, OwnerQueuedLock, OwnerYieldLock, PvQSpinLock, PvTicketLock, QSpinLock,
    RawLock, TicketLock, UnfairQueuedLock, XenPvLock,
};
use watch::Crew;

/// Contexts are threads of the operating system.
struct Threads;

impl World for Threads {
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
}

/// Waiters that spin stop each other when they outnumber the CPUs, so there are two of them.
const SPINS: Load = Load { contexts: 2, rounds: 300 };
/// Waiters that halt may be many.
const HALTS: Load = Load { contexts: 8, rounds: 500 };

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

macro_rules! conformance {
    ($($name:ident: $lock:ty, $load:expr;)*) => {$(
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
            fn tries_fail_while_held() {
                check_try::<Threads, $lock>($load);
            }

            #[test]
            fn free_after_release() {
                check_free_again::<Threads, $lock>($load);
            }

            #[test]
            fn passes_to_and_fro() {
                check_ping_pong::<Threads, $lock>($load);
            }

            #[test]
            fn many_at_once() {
                check_many_locks::<Threads, $lock>($load);
            }

            #[test]
            fn released_by_another_context() {
                check_release_elsewhere::<Threads, $lock>($load);
            }

            #[test]
            fn static_and_small() {
                static LOCK: $lock = <$lock as ConstLock>::NEW;
                check_static(&LOCK);
            }
        }
    )*};
}

conformance! {
    byte: ByteLock<Native>, SPINS;
    ticket: TicketLock<Native>, SPINS;
    qspin: QSpinLock<Native>, SPINS;
    cna: CnaLock<Native>, SPINS;
    unfair_q: UnfairQueuedLock<Native>, SPINS;
    ppc_simple: OwnerYieldLock<Native>, SPINS;
    owner_qspin: OwnerQueuedLock<Native>, SPINS;
    xen_pv: XenPvLock<Native>, HALTS;
    pv_ticket: PvTicketLock<Native, Plain>, HALTS;
    pv_ticket_opportunistic: PvTicketLock<Native, Opportunistic>, SPINS;
    pv_qspin: PvQSpinLock<Native, pv::Hybrid>, HALTS;
    pv_qspin_kick_at_unlock: PvQSpinLock<Native, pv::KickAtUnlock>, HALTS;
    pv_qspin_eager: PvQSpinLock<Native, pv::EagerKick>, HALTS;
    pv_qspin_kick_ahead: PvQSpinLock<Native, pv::KickAhead>, HALTS;
    pv_qspin_wait_early: PvQSpinLock<Native, pv::WaitEarlyAtOnce>, HALTS;
    pv_qspin_wait_early_sampled: PvQSpinLock<Native, pv::WaitEarlySampled>, HALTS;
    pv_qspin_only_wait_early: PvQSpinLock<Native, pv::OnlyWaitEarly>, HALTS;
    pv_qspin_pending: PvQSpinLock<Native, pv::FirstPends>, HALTS;
    pv_qspin_patched: PvQSpinLock<Native, pv::Patched>, HALTS;
    pv_qspin_hash: PvQSpinLock<Native, pv::Hashed>, HALTS;
    pv_qspin_pointer: PvQSpinLock<Native, pv::Pointed>, HALTS;
    pv_qspin_4_15: PvQSpinLock<Native, pv::Unlimited>, HALTS;
    pv_qspin_ppc: PvQSpinLock<Native, pv::Conferring>, HALTS;
    byte_counted: ByteLock<Native<Counted>>, SPINS;
    ticket_counted: TicketLock<Native<Counted>>, SPINS;
    qspin_counted: QSpinLock<Native<Counted>>, SPINS;
    cna_counted: CnaLock<Native<Counted>>, SPINS;
    unfair_q_counted: UnfairQueuedLock<Native<Counted>>, SPINS;
    ppc_simple_counted: OwnerYieldLock<Native<Counted>>, SPINS;
    owner_qspin_counted: OwnerQueuedLock<Native<Counted>>, SPINS;
    xen_pv_counted: XenPvLock<Native<Counted>>, HALTS;
    pv_ticket_counted: PvTicketLock<Native<Counted>, Plain>, HALTS;
    pv_ticket_opportunistic_counted: PvTicketLock<Native<Counted>, Opportunistic>, SPINS;
    pv_qspin_counted: PvQSpinLock<Native<Counted>, pv::Hybrid>, HALTS;
    pv_qspin_kick_at_unlock_counted: PvQSpinLock<Native<Counted>, pv::KickAtUnlock>, HALTS;
}

/// The bodies would pass any lock if their own checks were blind: a lock that does not exclude must fail.
mod detectors {
    use super::*;
    use stanchion_core::transitions::{Table, Word};
    use stanchion_core::{Atomic, Platform, order::Relaxed};
    use std::panic::catch_unwind;

    /// Lets everybody in.
    struct Open(<Native<Silent> as Platform>::U8);

    impl RawLock for Open {
        type Platform = Native<Silent>;
        const NAME: &'static str = "open";
        const TRANSITIONS: Table = Table(&[]);
        fn new() -> Self {
            Self(Atomic::new(0))
        }
        fn acquire(&self) {
            self.0.store(1, Relaxed);
        }
        fn try_acquire(&self) -> bool {
            self.acquire();
            true
        }
        fn release(&self) {
            self.0.store(0, Relaxed);
        }
        fn word(&self) -> Word {
            Word { tail: 0, pending: 0, locked: self.0.load(Relaxed) }
        }
    }

    #[test]
    fn a_try_that_lies_is_caught() {
        let caught = catch_unwind(|| check_try::<Threads, Open>(SPINS));
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
