//! The sanitizer of `cargo xtask ci` is not blind: it sees the race that a lock without orderings lets through, and nobody else does.
#[path = "support/suppressions.rs"]
mod suppressions;

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use lock_api::{GuardNoSend, Mutex, RawMutex};
use std::process::Command;
use std::{env, thread};

/// Set for the process that races.
const RACES: &str = "STANCHION_TEST_RACES";

/// Excludes, and orders nothing.
struct Unordered(AtomicBool);

// SAFETY: one thread at a time has changed the flag from false to true. That what it guards is not ordered by it is what this test is about.
unsafe impl RawMutex for Unordered {
    #[expect(clippy::declare_interior_mutable_const, reason = "the trait has it so")]
    const INIT: Self = Self(AtomicBool::new(false));
    type GuardMarker = GuardNoSend;

    fn lock(&self) {
        while !self.try_lock() {
            thread::yield_now();
        }
    }

    fn try_lock(&self) -> bool {
        self.0.compare_exchange(false, true, Relaxed, Relaxed).is_ok()
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Relaxed);
    }
}

fn race() {
    static SHARED: Mutex<Unordered, u64> = Mutex::new(0);
    let add = || (0..10_000).for_each(|_| *SHARED.lock() += 1);
    let threads = [thread::spawn(add), thread::spawn(add)];
    threads.into_iter().for_each(|thread| thread.join().expect("it only adds"));
    assert_eq!(*SHARED.lock(), 20_000, "it excludes");
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
