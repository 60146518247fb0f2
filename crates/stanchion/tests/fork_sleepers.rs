//! `fork()` while threads sleep for a mutex, a reader-writer lock and a per-CPU one that the forking thread
//! holds: in the child, whose storage begins with what they left, threads sleep for other locks and are
//! woken. Those of the parent go on as if nothing had been.
#![cfg(feature = "std")]

#[path = "support/child.rs"]
mod child;
#[path = "support/sleeper.rs"]
mod sleeper;
#[path = "support/suppressions.rs"]
mod suppressions;

use child::{Step, assert_child_succeeds, ensure, eventually, skipped};
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};
use sleeper::start_sleeper;
use stanchion::percpu::{Class, PerCpuRwLock, ReadGuard};
use stanchion::{Mutex, RwLock};

/// One lock of each kind whose waiters sleep.
struct Locks {
    mutex: Mutex<()>,
    queued: RwLock<()>,
    percpu: PerCpuRwLock<()>,
    came_back: AtomicU32,
}

const SLEEPERS: usize = 9;

static CLASS: Class = Class::new();
static OF_PARENT: Locks = Locks::new();
static OF_CHILD: Locks = Locks::new();

impl Locks {
    const fn new() -> Self {
        Self {
            mutex: Mutex::new(()),
            queued: RwLock::new(()),
            percpu: PerCpuRwLock::new(&CLASS, ()),
            came_back: AtomicU32::new(0),
        }
    }

    /// What the sleeper of this number does: three for each lock. Behind a writer that waits for a reader
    /// there is a reader, too, where it waits.
    fn wait(&self, number: usize) {
        match (number % 3, number / 3) {
            (0, _) => drop(self.mutex.lock()),
            (1, 1) => drop(self.queued.read()),
            (1, _) => drop(self.queued.write()),
            _ => drop(self.percpu.write()),
        }
    }

    /// Runs `meanwhile` while threads sleep for all three locks, which end then. It may give the per-CPU one
    /// back. Steps from `first` on.
    fn with_sleepers(
        &'static self,
        first: i32,
        meanwhile: impl FnOnce(&mut Option<ReadGuard<'static, ()>>),
    ) -> Step {
        let held = (self.mutex.lock(), self.queued.read());
        let mut read = Some(self.percpu.read());
        let mut threads = Vec::new();
        for number in 0..SLEEPERS {
            threads.push(start_sleeper(first, move || {
                self.wait(number);
                self.came_back.fetch_add(1, SeqCst);
            })?);
        }
        meanwhile(&mut read);
        drop((held, read));
        for thread in &threads {
            eventually(first + 3, || thread.is_finished())?;
        }
        for thread in threads {
            thread.join().map_err(|_| first + 4)?;
        }
        ensure(first + 5, self.came_back.load(SeqCst) == SLEEPERS as u32)?;
        ensure(first + 6, self.mutex.try_lock().is_some())?;
        ensure(first + 7, self.queued.try_write().is_some() && self.percpu.try_write().is_some())
    }
}

#[test]
fn threads_of_the_child_sleep_and_are_woken_though_others_slept_at_the_fork() {
    if skipped() {
        return;
    }
    let slept = OF_PARENT.with_sleepers(1, |read| {
        assert_child_succeeds(|| {
            drop(read.take()); // a thread reads one lock of a class through its cell
            OF_CHILD.with_sleepers(1, |_| ())
        });
    });
    assert_eq!(slept, Ok(()), "the step of the parent that failed");
}
