//! A plugin, as a shared library: what a host calls uses locks of the library that is inside it.
//! `tests/plugin.rs` loads and unloads it.
use stanchion::{Mutex, RwLock, lock, lock_api};

static DONE: Mutex<u64> = Mutex::new(0);
static QUEUED: lock_api::Mutex<lock::PvQSpinLock, u64> = lock_api::Mutex::new(0);
static ROUTES: RwLock<u64> = RwLock::new(0);

/// Uses the locks so many times; how often all threads together have.
// SAFETY: no other function of the host or of a library has this name.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_work(times: u64) -> u64 {
    let mut now = 0;
    for turn in 0..times {
        *DONE.lock() += 1;
        *QUEUED.lock() += 1;
        if turn % 16 == 0 {
            *ROUTES.write() += 1;
        }
        now = *DONE.lock() + *ROUTES.read() / u64::MAX;
    }
    now
}
