//! Locks that are broken on purpose, each in one way, to show that torture (or a sanitizer) would notice.
//!
//! Every flaw says what is broken and which detector has to catch it; `registry.rs` repeats the detector as
//! data, and CI holds torture to it. A detector that lets its lock through fails the build. None of them
//! keeps what a lock promises: torture treats the data behind a lock as racing (see `test_lock.rs`).
#![expect(unsafe_code, reason = "to give back a lock under torture is unsafe, whatever the lock makes of it")]
pub(crate) mod flag;
pub(crate) mod rw_count;
pub(crate) mod rw_percpu;
pub(crate) mod ticket;

/// Waits a little, and after many polls gives the CPU away: these locks are to be caught, not to burn time.
fn relax(polls: &mut u32) {
    *polls += 1;
    if polls.is_multiple_of(64) {
        std::thread::yield_now();
    } else {
        core::hint::spin_loop();
    }
}

/// What a reader-writer lock tells of itself.
fn inside(readers: usize, written: bool) -> String {
    format!(
        "{readers} readers, {}",
        if written { "a writer is in, or waits for readers" } else { "no writer" }
    )
}
