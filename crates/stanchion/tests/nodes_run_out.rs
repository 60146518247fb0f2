//! More threads wait than there are queue nodes. Alone in its process, whose nodes it limits before any is
//! used.
#![cfg(feature = "std")]

#[path = "support/asleep.rs"]
mod asleep;
#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use asleep::until_asleep;
use counts::{count, turn};
use stanchion::diagnose::describe;
use stanchion::lock::counted;
use stanchion::lock_api::Mutex;
use stanchion::native::nodes;
use stanchion::stanchion_core::Event;
use watch::{Crew, until};

type Lock = Mutex<counted::StanchionLock, u64>;

fn report() -> String {
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    describe(unsafe { HELD.raw() })
}

static HELD: Lock = Mutex::new(0);

#[test]
fn without_a_node_threads_wait_and_use_no_cpu() {
    const THREADS: u64 = 12;
    let _turn = turn();
    nodes::limit(4);
    let guard = HELD.lock();
    let mut crew = Crew::new();
    for _ in 0..THREADS {
        crew.spawn(|| *HELD.lock() += 1);
    }
    until("threads without a node", report, || count(Event::LockNoNode) >= THREADS - 4);
    until_asleep(report);
    drop(guard);
    crew.join(report);
    assert_eq!(*HELD.lock(), THREADS);
}
