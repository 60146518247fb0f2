//! The fast paths as functions of their own, so that `cargo xtask fastpath` can count their instructions.
//!
//! Each pair acquires and releases the same lock, without and with lock events compiled in: if events cost
//! nothing on the fast path, both have as many instructions.
use core::hint::black_box;
use stanchion::GuardMarker;
use stanchion::lock::{self, counted};
use stanchion::lock_api::{Mutex, RawMutex};

#[inline(always)]
fn acquire_and_release<R: RawMutex>(lock: &R) {
    let guard = lock.lock();
    // SAFETY: the lock is held, by the line above and in this context, and the guard is the one of this
    // acquisition.
    unsafe { lock.unlock(guard) };
}

macro_rules! pairs {
    ($($lock:ident: $off:ident, $on:ident;)*) => {
        $(
            /// Events off.
            // SAFETY: the name begins with `fastpath_` and is defined nowhere else in this program.
            #[unsafe(no_mangle)]
            #[inline(never)]
            pub extern "Rust" fn $off(lock: &lock::$lock) {
                acquire_and_release(lock);
            }

            /// Events on.
            // SAFETY: the name begins with `fastpath_` and is defined nowhere else in this program.
            #[unsafe(no_mangle)]
            #[inline(never)]
            pub extern "Rust" fn $on(lock: &counted::$lock) {
                acquire_and_release(lock);
            }
        )*

        /// Runs each once, so that none is left out of the program.
        fn run_pairs() {
            $({
                let mutex: Mutex<lock::$lock, ()> = Mutex::new(());
                // SAFETY: the lock is acquired and released in turn, and no guard of the mutex is alive.
                $off(black_box(unsafe { mutex.raw() }));
                let mutex: Mutex<counted::$lock, ()> = Mutex::new(());
                // SAFETY: the lock is acquired and released in turn, and no guard of the mutex is alive.
                $on(black_box(unsafe { mutex.raw() }));
                println!(concat!(stringify!($off), " and ", stringify!($on)));
            })*
        }
    };
}

pairs! {
    StanchionLock: fastpath_stanchion_events_off, fastpath_stanchion_events_on;
    ByteLock: fastpath_byte_events_off, fastpath_byte_events_on;
    TicketLock: fastpath_ticket_events_off, fastpath_ticket_events_on;
    QSpinLock: fastpath_qspin_events_off, fastpath_qspin_events_on;
    CnaLock: fastpath_cna_events_off, fastpath_cna_events_on;
    UnfairQueuedLock: fastpath_unfair_q_events_off, fastpath_unfair_q_events_on;
    OwnerYieldLock: fastpath_ppc_simple_events_off, fastpath_ppc_simple_events_on;
    OwnerQueuedLock: fastpath_owner_qspin_events_off, fastpath_owner_qspin_events_on;
    XenPvLock: fastpath_xen_pv_events_off, fastpath_xen_pv_events_on;
    PvTicketLock: fastpath_pv_ticket_events_off, fastpath_pv_ticket_events_on;
    PvTicketOpportunisticLock: fastpath_pv_ticket_opportunistic_events_off, fastpath_pv_ticket_opportunistic_events_on;
    PvQSpinLock: fastpath_pv_qspin_events_off, fastpath_pv_qspin_events_on;
    PvQSpinKickAtUnlockLock: fastpath_pv_qspin_kick_at_unlock_events_off, fastpath_pv_qspin_kick_at_unlock_events_on;
}

/// Releases a lock that the caller holds and gives up with this call: one byte store.
// SAFETY: the name begins with `fastpath_` and is defined nowhere else in this program.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "Rust" fn fastpath_qspin_release(lock: &lock::QSpinLock) {
    // SAFETY: the only caller, `main`, has just acquired the lock and forgotten the guard.
    unsafe { lock.unlock(GuardMarker::new()) };
}

fn main() {
    run_pairs();
    let mutex: Mutex<lock::QSpinLock, ()> = Mutex::new(());
    core::mem::forget(mutex.lock());
    // SAFETY: the lock is held by the forgotten guard, and the function called releases it once.
    fastpath_qspin_release(black_box(unsafe { mutex.raw() }));
    assert!(!mutex.is_locked());
    println!("fastpath_qspin_release");
}
