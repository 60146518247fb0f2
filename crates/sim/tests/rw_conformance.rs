//! Every reader-writer lock passes the conformance bodies in both simulated worlds: the same bodies as in the
//! native world.
#[path = "support/worlds.rs"]
mod worlds;

use worlds::{LOAD, SHARED, Stepping, Timed};

stanchion_suite::rw_tests!(Stepping);

mod timed {
    use super::*;

    stanchion_suite::rw_tests!(Timed);
}

/// The bodies would pass any lock if their own checks were blind: a lock that does not exclude must fail.
mod detectors {
    use super::*;
    use stanchion_sim::Sim;
    use stanchion_sim::explore::Stepped;
    use stanchion_suite::broken::{Counted, RW_NONE, RW_SERIAL, SOUND};
    use stanchion_suite::rw;
    use std::panic::catch_unwind;

    #[test]
    fn nothing_is_found_where_nothing_is_broken() {
        let sound = catch_unwind(|| {
            rw::excludes::<Stepping, Counted<Stepped, SOUND>>(LOAD);
            rw::reads_again_while_a_writer_waits::<Stepping, Counted<Stepped, SOUND>>(LOAD);
            rw::downgraded_beside_readers::<Stepping, Counted<Stepped, SOUND>>(LOAD);
        });
        assert!(sound.is_ok(), "the tests below catch what is broken");
    }

    #[test]
    fn a_try_that_lies_is_caught() {
        let caught = catch_unwind(|| rw::tries_fail_while_held::<Stepping, Counted<Stepped, RW_NONE>>(LOAD));
        assert!(caught.is_err(), "the body must notice that a held lock was taken");
        Timed::machine(SHARED);
        let caught = catch_unwind(|| rw::tries_fail_while_held::<Timed, Counted<Sim, RW_NONE>>(LOAD));
        assert!(caught.is_err(), "on a machine with a clock, too");
    }

    #[test]
    fn a_downgraded_holder_that_keeps_readers_out_is_caught() {
        let caught =
            catch_unwind(|| rw::downgraded_beside_readers::<Stepping, Counted<Stepped, RW_SERIAL>>(LOAD));
        assert!(caught.is_err(), "the body must notice that no reader comes in");
    }

    #[test]
    fn a_lock_without_exclusion_is_caught() {
        let caught = (0..20).any(|seed| {
            Stepping::seed(seed);
            catch_unwind(|| rw::excludes::<Stepping, Counted<Stepped, RW_NONE>>(LOAD)).is_err()
        });
        assert!(caught, "within twenty schedules");
        Timed::machine(SHARED);
        let caught = catch_unwind(|| rw::excludes::<Timed, Counted<Sim, RW_NONE>>(LOAD));
        assert!(caught.is_err(), "on a machine with a clock, too");
    }
}
