//! Lock events: what `stanchion_counted_mutex_t` counts.
use crate::boundary::{guarded, place};
use crate::names::{names_of, read};
use core::ffi::{c_char, c_int};
use stanchion::events;

/// How many kinds of lock events there are.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_event_count() -> usize {
    events::ALL.len()
}

/// The name of the lock event `index`, such as `lock_slowpath`; null if there are not so many. It stays for
/// ever.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_event_name(index: usize) -> *const c_char {
    names_of!([events::ALL].name).at(index)
}

/// What one count of the lock event `index` means, in English; null if there are not so many. It stays for
/// ever.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_event_meaning(index: usize) -> *const c_char {
    names_of!([events::ALL].meaning).at(index)
}

/// How often the lock event `index` was counted since the last `stanchion_events_reset`, by all threads, at
/// all counting locks of the process; 0 if there are not so many kinds. Nothing is lost, but events of this
/// moment may be missing.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_event_total(index: usize) -> u64 {
    events::ALL.get(index).map_or(0, |&event| guarded(|| events::total(event)))
}

/// Writes to `total` what `stanchion_event_total` says of the event with that name.
///
/// - Returns: 0, or `EINVAL` if a pointer is null or misaligned, or no event has that name; then nothing is
///   written.
///
/// # Safety
///
/// `name` is a string, and `total` a place to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_event_read(name: *const c_char, total: *mut u64) -> c_int {
    // SAFETY: the caller promises that a name that is not null is a string.
    let name = unsafe { read(name) };
    let event = name.and_then(|name| events::ALL.iter().find(|event| event.name().as_bytes() == name));
    let (Some(&event), Some(_)) = (event, place(total)) else { return libc::EINVAL };
    // SAFETY: it is aligned and not null, so the caller promises that it can be written to.
    unsafe { total.write(guarded(|| events::total(event))) };
    0
}

/// Sets all totals to 0.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_events_reset() {
    guarded(events::reset);
}
