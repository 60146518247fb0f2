//! Every lock passes the conformance bodies in both simulated worlds: the same bodies as in the native world.
#[path = "support/worlds.rs"]
mod worlds;

use std::collections::BTreeSet;
use worlds::{LOAD, SHARED, Stepping, Timed};

stanchion_suite::mutex_tests!(Stepping);

mod timed {
    use super::*;

    stanchion_suite::mutex_tests!(Timed);
}

/// Worlds without a test harness run the tests from a list, in which each stands once.
#[test]
fn the_list_is_what_the_harness_has() {
    let tests = stanchion_suite::tests::<Stepping>();
    let names: BTreeSet<_> = tests.iter().map(|test| test.name).collect();
    assert_eq!(names.len(), tests.len(), "a test stands there twice");
    let mut bodies = Vec::new();
    for test in tests.iter().filter(|test| test.is_of("pv-qspin-hash")) {
        test.run();
        bodies.push(test.name.strip_prefix("pv_qspin_hash::").expect("it is called as the lock is"));
    }
    let expected = [
        "excludes",
        "excludes_with_tries",
        "tries_fail_while_held",
        "free_after_release",
        "passes_to_and_fro",
        "many_at_once",
        "released_by_another_context",
    ];
    assert_eq!(bodies, expected);
}

/// The bodies would pass any lock if their own checks were blind: a lock that does not exclude must fail.
mod detectors {
    use super::*;
    use stanchion_core::RawLock;
    use stanchion_family::QSpinLock;
    use stanchion_sim::Sim;
    use stanchion_sim::explore::Stepped;
    use stanchion_suite::broken::{Byte, NONE};
    use stanchion_suite::{Context, World, mutex};
    use std::panic::catch_unwind;

    #[test]
    fn a_try_that_lies_is_caught() {
        let caught = catch_unwind(|| mutex::tries_fail_while_held::<Stepping, Byte<Stepped, NONE>>(LOAD));
        assert!(caught.is_err(), "the body must notice that a held lock was taken");
        Timed::machine(SHARED);
        let caught = catch_unwind(|| mutex::tries_fail_while_held::<Timed, Byte<Sim, NONE>>(LOAD));
        assert!(caught.is_err(), "on a machine with a clock, too");
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        let caught = (0..20).any(|seed| {
            Stepping::seed(seed);
            catch_unwind(|| mutex::excludes::<Stepping, Byte<Stepped, NONE>>(LOAD)).is_err()
        });
        assert!(caught, "within twenty schedules");
        Timed::machine(SHARED);
        let caught = catch_unwind(|| mutex::excludes::<Timed, Byte<Sim, NONE>>(LOAD));
        assert!(caught.is_err(), "on a machine with a clock, too");
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
