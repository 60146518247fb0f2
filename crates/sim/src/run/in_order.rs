//! The default lock in order, as the queue of a reader-writer lock: nobody overtakes who waits, though waits
//! have deadlines.
use crate::contexts::run_contexts;
use crate::platform::Sim;
use crate::testing::machine;
use stanchion_core::{Machine, RawLock, StanchionLock};
use std::sync::{Arc, Mutex};

type InOrder = StanchionLock<Sim, true>;

/// Waits until `at`, in nanoseconds.
fn sleep_until(at: u64) {
    Sim::doze(u32::try_from(at - Sim::now()).expect("soon"));
}

/// Who gives up and comes again takes over the place that it left, behind all others, and is awake when the
/// lock is released.
#[test]
fn who_takes_over_a_place_waits_in_it() {
    const RELEASED: u64 = 1_000_000;
    for early in (1_000..30_000).step_by(1_000) {
        let lock = Arc::new(InOrder::new());
        let order = Arc::new(Mutex::new(Vec::new()));
        let context = |who: usize, acquires: fn(&InOrder, u64)| {
            let (lock, order) = (Arc::clone(&lock), Arc::clone(&order));
            Box::new(move || {
                sleep_until(100_000 * (who as u64 + 1));
                acquires(&lock, early);
                order.lock().expect("no panic").push(who);
                sleep_until(Sim::now().max(RELEASED));
                lock.release();
            }) as Box<dyn FnOnce() + Send>
        };
        let contexts = vec![
            context(0, |lock, _| lock.acquire()),
            context(1, |lock, _| lock.acquire()),
            context(2, |lock, _| lock.acquire()),
            context(3, |lock, early| {
                assert!(!lock.acquire_until(&(RELEASED - early)), "it is held until then");
                assert!(lock.acquire_until(&u64::MAX), "there is time enough");
            }),
        ];
        run_contexts(&machine(1, 1, 4), 1, contexts).expect("all get it");
        assert_eq!(
            *order.lock().expect("no panic"),
            [0, 1, 2, 3],
            "the last one came back {early} ns before the release"
        );
    }
}
