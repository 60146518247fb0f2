//! Ctrl-C and SIGTERM ask a run to stop; what is finished is kept.
use core::sync::atomic::{AtomicBool, Ordering};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Installs the handlers once; a second Ctrl-C ends the process at once.
pub fn install() {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag down, and raises it.
        let _ = register_conditional_shutdown(signal, 130, Arc::clone(&REQUESTED));
    }
    note();
}

/// Installs handlers that only note that the user asked, however often: for whoever has children to end.
pub fn note() {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let _ = register(signal, Arc::clone(&REQUESTED));
    }
}

pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
