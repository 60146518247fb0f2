//! More threads wait than there are queue nodes. Alone in its process, whose nodes it limits before any is
//! used.
#![cfg(feature = "std")]

#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::time::Duration;
use counts::{count, turn};
use stanchion::diagnose::describe;
use stanchion::lock::counted;
use stanchion::lock_api::Mutex;
use stanchion::native::nodes;
use stanchion::stanchion_core::Event;
use std::thread;
use watch::{Crew, until};

type Lock = Mutex<counted::StanchionLock, u64>;

fn report() -> String {
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    describe(unsafe { HELD.raw() })
}

static HELD: Lock = Mutex::new(0);

fn cpu_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

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
    thread::sleep(Duration::from_millis(50));
    let before = cpu_time();
    thread::sleep(Duration::from_millis(500));
    let used = cpu_time().saturating_sub(before);
    drop(guard);
    crew.join(report);
    assert!(used < Duration::from_millis(50), "they used {used:?} of CPU time in half a second");
    assert_eq!(*HELD.lock(), THREADS);
}
