//! Every lock passes the conformance bodies in both simulated worlds: the same bodies as in the native world.
//!
//! Adding a lock is one line of the macro call below.
#[path = "../../stanchion/tests/support/bodies.rs"]
mod bodies;

use bodies::{Context, Load, World};
use bodies::{check_exclusion, check_free_again, check_many_locks, check_ping_pong};
use bodies::{check_release_elsewhere, check_tries_exclude, check_try};
use core::cell::Cell;
use stanchion_core::pv_qspin as pv;
use stanchion_core::pv_ticket::{Opportunistic, Plain};
use stanchion_core::{
    ByteLock, CnaLock, OwnerQueuedLock, OwnerYieldLock, PvQSpinLock, PvTicketLock, QSpinLock, RawLock,
    TicketLock, UnfairQueuedLock, XenPvLock,
};
use stanchion_sim::explore::{Stepped, conduct, wait_until};

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// Contexts are coroutines that go one step at a time.
struct Stepping;

impl World for Stepping {
    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
        if let Err(failure) = conduct(SEED.get(), contexts) {
            panic!("seed {}: {}\n{}", SEED.get(), failure.what, report());
        }
    }

    fn until(what: &str, done: &mut dyn FnMut() -> bool) {
        wait_until(what, done);
    }
}

const LOAD: Load = Load { contexts: 4, rounds: 40 };

/// Runs a body under several schedules.
fn check_seeds(seeds: u64, body: fn(Load)) {
    for seed in 0..seeds {
        SEED.set(seed);
        body(LOAD);
    }
}

macro_rules! conformance {
    ($($name:ident: $lock:ty;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn excludes() {
                check_seeds(20, check_exclusion::<Stepping, $lock>);
            }

            #[test]
            fn excludes_with_tries() {
                check_seeds(20, check_tries_exclude::<Stepping, $lock>);
            }

            #[test]
            fn tries_fail_while_held() {
                check_seeds(5, check_try::<Stepping, $lock>);
            }

            #[test]
            fn free_after_release() {
                check_seeds(1, check_free_again::<Stepping, $lock>);
            }

            #[test]
            fn passes_to_and_fro() {
                check_seeds(10, check_ping_pong::<Stepping, $lock>);
            }

            #[test]
            fn many_at_once() {
                check_seeds(3, check_many_locks::<Stepping, $lock>);
            }

            #[test]
            fn released_by_another_context() {
                check_seeds(10, check_release_elsewhere::<Stepping, $lock>);
            }
        }
    )*};
}

conformance! {
    byte: ByteLock<Stepped>;
    ticket: TicketLock<Stepped>;
    qspin: QSpinLock<Stepped>;
    cna: CnaLock<Stepped>;
    unfair_q: UnfairQueuedLock<Stepped>;
    ppc_simple: OwnerYieldLock<Stepped>;
    owner_qspin: OwnerQueuedLock<Stepped>;
    xen_pv: XenPvLock<Stepped>;
    pv_ticket: PvTicketLock<Stepped, Plain>;
    pv_ticket_opportunistic: PvTicketLock<Stepped, Opportunistic>;
    pv_qspin: PvQSpinLock<Stepped, pv::Hybrid>;
    pv_qspin_kick_at_unlock: PvQSpinLock<Stepped, pv::KickAtUnlock>;
    pv_qspin_eager: PvQSpinLock<Stepped, pv::EagerKick>;
    pv_qspin_kick_ahead: PvQSpinLock<Stepped, pv::KickAhead>;
    pv_qspin_wait_early: PvQSpinLock<Stepped, pv::WaitEarlyAtOnce>;
    pv_qspin_wait_early_sampled: PvQSpinLock<Stepped, pv::WaitEarlySampled>;
    pv_qspin_only_wait_early: PvQSpinLock<Stepped, pv::OnlyWaitEarly>;
    pv_qspin_pending: PvQSpinLock<Stepped, pv::FirstPends>;
    pv_qspin_patched: PvQSpinLock<Stepped, pv::Patched>;
    pv_qspin_hash: PvQSpinLock<Stepped, pv::Hashed>;
    pv_qspin_pointer: PvQSpinLock<Stepped, pv::Pointed>;
    pv_qspin_4_15: PvQSpinLock<Stepped, pv::Unlimited>;
    pv_qspin_ppc: PvQSpinLock<Stepped, pv::Conferring>;
}

/// Contexts are coroutines on a machine with a clock.
mod timed {
    use super::*;
    use stanchion_sim::{Sim, conduct, machine};

    thread_local! {
        static MACHINE: Cell<&'static str> = const { Cell::new("") };
    }

    struct Timed;

    impl World for Timed {
        fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
            let machine = machine::load(MACHINE.get()).expect("a shipped machine").machine;
            if let Err(failure) = conduct::conduct(&machine, 1, contexts) {
                panic!("{}: {failure:?}\n{}", MACHINE.get(), report());
            }
        }

        fn until(_what: &str, done: &mut dyn FnMut() -> bool) {
            conduct::wait_until(done);
        }
    }

    /// With a CPU for each, posted stores and load-linked/store-conditional; and with fewer CPUs than contexts.
    const APART: [&str; 2] = ["epyc-2s", "power9-16x12x8"];
    const SHARED: [&str; 1] = ["small-vm"];

    fn check_machines(machines: &[&'static str], load: Load, body: fn(Load)) {
        for machine in machines {
            MACHINE.set(machine);
            body(load);
        }
    }

    macro_rules! conformance {
        ($($name:ident: $lock:ty, $shared:expr;)*) => {$(
            mod $name {
                use super::*;

                fn check(body: fn(Load)) {
                    check_machines(&APART, LOAD, body);
                    check_machines(&SHARED, Load { contexts: $shared, rounds: 40 }, body);
                }

                #[test]
                fn excludes() {
                    check(check_exclusion::<Timed, $lock>);
                }

                #[test]
                fn excludes_with_tries() {
                    check(check_tries_exclude::<Timed, $lock>);
                }

                #[test]
                fn tries_fail_while_held() {
                    check(check_try::<Timed, $lock>);
                }

                #[test]
                fn free_after_release() {
                    check_machines(&SHARED, LOAD, check_free_again::<Timed, $lock>);
                }

                #[test]
                fn passes_to_and_fro() {
                    check(check_ping_pong::<Timed, $lock>);
                }

                #[test]
                fn many_at_once() {
                    check_machines(&APART, LOAD, check_many_locks::<Timed, $lock>);
                }

                #[test]
                fn released_by_another_context() {
                    check(check_release_elsewhere::<Timed, $lock>);
                }
            }
        )*};
    }

    // Waiters that spin stop each other when they outnumber the CPUs, so there are two of them on two CPUs.
    conformance! {
        byte: ByteLock<Sim>, 2;
        ticket: TicketLock<Sim>, 2;
        qspin: QSpinLock<Sim>, 2;
        cna: CnaLock<Sim>, 2;
        unfair_q: UnfairQueuedLock<Sim>, 8;
        ppc_simple: OwnerYieldLock<Sim>, 8;
        owner_qspin: OwnerQueuedLock<Sim>, 8;
        xen_pv: XenPvLock<Sim>, 8;
        pv_ticket: PvTicketLock<Sim, Plain>, 8;
        pv_ticket_opportunistic: PvTicketLock<Sim, Opportunistic>, 2;
        pv_qspin: PvQSpinLock<Sim, pv::Hybrid>, 8;
        pv_qspin_kick_at_unlock: PvQSpinLock<Sim, pv::KickAtUnlock>, 8;
        pv_qspin_eager: PvQSpinLock<Sim, pv::EagerKick>, 8;
        pv_qspin_kick_ahead: PvQSpinLock<Sim, pv::KickAhead>, 8;
        pv_qspin_wait_early: PvQSpinLock<Sim, pv::WaitEarlyAtOnce>, 8;
        pv_qspin_wait_early_sampled: PvQSpinLock<Sim, pv::WaitEarlySampled>, 8;
        pv_qspin_only_wait_early: PvQSpinLock<Sim, pv::OnlyWaitEarly>, 8;
        pv_qspin_pending: PvQSpinLock<Sim, pv::FirstPends>, 8;
        pv_qspin_patched: PvQSpinLock<Sim, pv::Patched>, 8;
        pv_qspin_hash: PvQSpinLock<Sim, pv::Hashed>, 8;
        pv_qspin_pointer: PvQSpinLock<Sim, pv::Pointed>, 8;
        pv_qspin_4_15: PvQSpinLock<Sim, pv::Unlimited>, 8;
        pv_qspin_ppc: PvQSpinLock<Sim, pv::Conferring>, 8;
    }
}

/// The bodies would pass any lock if their own checks were blind: a lock that does not exclude must fail.
mod detectors {
    use super::*;
    use stanchion_core::order::Relaxed;
    use stanchion_core::transitions::{Table, Word};
    use stanchion_core::{Atomic, Platform};
    use std::panic::catch_unwind;

    /// Lets everybody in.
    struct Open(<Stepped as Platform>::U8);

    impl RawLock for Open {
        type Platform = Stepped;
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
            Word { tail: 0, pending: 0, locked: self.0.peek() }
        }
    }

    #[test]
    fn a_try_that_lies_is_caught() {
        let caught = catch_unwind(|| check_try::<Stepping, Open>(LOAD));
        assert!(caught.is_err(), "the body must notice that a held lock was taken");
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        let caught = (0..20).any(|seed| {
            SEED.set(seed);
            catch_unwind(|| check_exclusion::<Stepping, Open>(LOAD)).is_err()
        });
        assert!(caught, "within twenty schedules");
    }

    #[test]
    fn a_lock_that_is_never_free_again_is_caught() {
        let caught = catch_unwind(|| {
            let lock = std::sync::Arc::new(QSpinLock::<Stepped>::new());
            let forgets: Context = Box::new(move || {
                lock.acquire();
                lock.acquire();
            });
            Stepping::run(&|| "held for ever".to_owned(), vec![forgets]);
        });
        let report = *caught.expect_err("nobody can run").downcast::<String>().expect("a text");
        assert!(report.contains("nobody can run") && report.contains("held for ever"), "{report}");
    }
}
