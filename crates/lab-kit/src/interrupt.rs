//! Ctrl-C and SIGTERM ask a run to stop; what is finished is kept.
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Installs the handlers once; a second Ctrl-C ends the process at once.
pub fn install() {
    for signal in heeded() {
        // In this order: the first signal finds the flag down, and raises it.
        let _ = register_conditional_shutdown(signal, 130, Arc::clone(&REQUESTED));
    }
    note();
}

/// Installs handlers that only note that the user asked, however often: for whoever has children to end.
pub fn note() {
    for signal in heeded() {
        let _ = register(signal, Arc::clone(&REQUESTED));
    }
}

/// Those that are ignored, as under nohup, stay so.
fn heeded() -> impl Iterator<Item = c_int> {
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal))
}

pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Whether this process, and so whatever it starts, ignores the signal.
pub fn is_ignored(signal: c_int) -> bool {
    ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()) >> (signal - 1) & 1 == 1
}

/// The signals that a process ignores, one bit each, from its `status`.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\tff\n"), 0x1001);
        assert_eq!(ignored("Name:\tx\n"), 0);
    }
}
