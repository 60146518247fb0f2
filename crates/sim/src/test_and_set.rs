//! `byte-rmw`: the byte lock as kernels had it up to Linux 4.2, for published tables. A waiter tries again
//! and again and never only looks. So the line is owned by one waiter after the other, and the holder has
//! to win it back for its release.
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Field, Row, Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};

/// About ten cycles: the pause instruction of that time.
const PAUSE: u32 = 4;

/// See the [module](self).
#[repr(C, align(4))]
pub(crate) struct TestAndSet<P: Platform> {
    locked: P::U8,
}

const TRANSITIONS: Table = Table(&[Row::claim("acquire"), Row::release("release")]);

impl<P: Platform> RawLock for TestAndSet<P> {
    type Platform = P;
    const NAME: &'static str = "byte-rmw";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0) }
    }

    fn acquire(&self) {
        while !self.try_acquire() {
            P::relax(PAUSE);
        }
    }

    fn try_acquire(&self) -> bool {
        // ord: TS1 pairs TS2: the previous holder's section comes before ours
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || self.locked.peek(), 0u8);
        // ord: TS2 pairs TS1: our section comes before the next holder's
        self.locked.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.locked.peek() }
    }
}

#[cfg(test)]
mod tests {
    use crate::run::{Spec, run};
    use crate::testing::{loop_of, machine};
    use crate::time::MS;

    #[test]
    fn waiters_that_only_try_slow_the_holder_down() {
        let (machine, workload) = (machine(2, 1, 8), loop_of(200, 200));
        let rate = |lock: &str, contexts| {
            let spec = Spec {
                machine: &machine,
                workload: &workload,
                lock,
                tunings: &[],
                contexts,
                seed: 1,
                time: 2 * MS,
                warm_up: MS / 2,
                record: None,
                most_events: 100_000_000,
            };
            run(&spec, &|| false).expect("nothing is broken").ops_per_second()
        };
        let alone = rate("byte-rmw", 1) / rate("byte", 1);
        assert!((0.99..1.01).contains(&alone), "alone it is the same lock: {alone}");
        let crowded = rate("byte-rmw", 16) / rate("byte", 16);
        assert!(crowded < 0.9, "sixteen on two sockets: {crowded}");
    }
}
