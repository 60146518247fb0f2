//! The fast path of a per-CPU lock: readers fence while writers are frequent, and no longer when they have
//! become rare.
#![cfg(feature = "std")]

#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use stanchion::native::{Counted, Native};
use stanchion::stanchion_core::{ConstRwLock, Event, PerCpuRwLock, RawRwLock};
use watch::{Crew, until};

static LOCK: PerCpuRwLock<Native<Counted>> = PerCpuRwLock::NEW;

fn count(event: Event) -> u64 {
    stanchion::events::snapshot().iter().filter(|line| line.event == event).map(|line| line.count).sum()
}

fn fast_path() -> String {
    format!("fenced {}, calmed {}", count(Event::PercpuFenced), count(Event::PercpuCalmed))
}

fn read() {
    LOCK.acquire_read().expect("few readers");
    LOCK.release_read();
}

/// Alone in its process: events are counted for all of it.
#[test]
fn readers_fence_while_writers_are_frequent() {
    (0..1000).for_each(|_| read());
    assert_eq!((count(Event::PercpuFenced), count(Event::PercpuCalmed)), (0, 0));

    until("a writer that comes right after another", fast_path, || {
        for _ in 0..100 {
            LOCK.acquire_write();
            LOCK.release_write();
        }
        count(Event::PercpuFenced) > 0
    });

    // It may take a second if we were preempted while a barrier was measured.
    let mut readers = Crew::new();
    for _ in 0..2 {
        readers.spawn(|| {
            while count(Event::PercpuCalmed) == 0 {
                (0..1000).for_each(|_| read());
            }
        });
    }
    readers.join(fast_path);
    assert_eq!(count(Event::PercpuReadSlow), 0, "nobody had to wait");
    assert!(LOCK.try_acquire_write());
    LOCK.release_write();
}
