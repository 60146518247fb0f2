//! A thread that sleeps, as the system sees it, on either side of a `fork`.
use super::child::{eventually, start};
use core::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Starts a thread, and waits until it sleeps in `body`. Steps from `first` to `first + 2`.
pub(crate) fn start_sleeper(first: i32, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, i32> {
    let id = Arc::new(AtomicI32::new(0));
    let told = Arc::clone(&id);
    let thread = start(first, move || {
        // SAFETY: `gettid` has no preconditions.
        told.store(unsafe { libc::gettid() }, SeqCst);
        body();
    })?;
    eventually(first + 1, || id.load(SeqCst) != 0)?;
    eventually(first + 2, || is_asleep(id.load(SeqCst)))?;
    Ok(thread)
}

fn is_asleep(thread: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('S'))
}
