//! The sanitizer of `cargo xtask ci` is not blind: it sees the race that a lock without orderings lets through, and nobody else does.
#[path = "support/suppressions.rs"]
mod suppressions;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::process::Command;
use std::{env, thread};

/// Set for the process that races.
const RACES: &str = "STANCHION_TEST_RACES";

/// A number behind a lock that excludes, and orders nothing.
struct Unordered {
    held: AtomicBool,
    value: UnsafeCell<u64>,
}

// SAFETY: one thread at a time has changed `held` from false to true, and it alone uses the value. That nothing orders one such thread before the
// next is what this test is about; it runs for the sanitizer's eyes, in a process that uses the number for nothing else.
unsafe impl Sync for Unordered {}

impl Unordered {
    fn add(&self) -> u64 {
        while self.held.compare_exchange(false, true, Relaxed, Relaxed).is_err() {
            thread::yield_now();
        }
        // SAFETY: we changed `held` to true, so nobody else uses the value until we change it back.
        let value = unsafe { &mut *self.value.get() };
        *value += 1;
        let now = *value;
        self.held.store(false, Relaxed);
        now
    }
}

fn race() {
    static SHARED: Unordered = Unordered { held: AtomicBool::new(false), value: UnsafeCell::new(0) };
    let add = || (0..10_000).for_each(|_| assert!(SHARED.add() > 0));
    let threads = [thread::spawn(add), thread::spawn(add)];
    for thread in threads {
        thread.join().expect("it only adds");
    }
    assert_eq!(SHARED.add(), 20_001, "it excludes");
}

#[test]
fn only_the_sanitizer_sees_that_orderings_are_missing() {
    if env::var_os(RACES).is_some() {
        return race();
    }
    let this = env::current_exe().expect("this program");
    let name = "only_the_sanitizer_sees_that_orderings_are_missing";
    let output = Command::new(this).args(["--exact", name, "--nocapture"]).env(RACES, "1").output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let seen = !output.status.success() && said.contains("ThreadSanitizer: data race");
    let sanitizer = env::var_os("STANCHION_SANITIZER").is_some_and(|sanitizer| sanitizer == "thread");
    assert_eq!(seen, sanitizer, "{}\n{said}", output.status);
}
