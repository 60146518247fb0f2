//! Whose a condition variable is: libc's if it is shared between processes, as libc itself notes it.
use crate::condition::libc_s;
use crate::config;
use crate::object::Condition;
use crate::say::die;
use core::sync::atomic::{AtomicUsize, Ordering};
use libc::{pthread_cond_t, pthread_condattr_t};

/// Where libc notes that a condition is shared: byte and bit, plus one; 0 is "not looked up yet".
static SHARED_AT: AtomicUsize = AtomicUsize::new(0);

/// Whether the condition is libc's. If it is ours, it is fit to be used (W4).
///
/// # Safety
///
/// `condition` must point to an object that is or was initialised, and lives.
#[inline(always)]
pub(crate) unsafe fn is_libcs(condition: *mut pthread_cond_t) -> bool {
    if config::choice().is_none() {
        return true;
    }
    // ord: M29 alone: every thread finds the same place
    let place = match SHARED_AT.load(Ordering::Relaxed) {
        0 => find_shared(),
        place => place,
    } - 1;
    // SAFETY: the caller's object has that many bytes. libc sets the bit when it initialises one; ours does not use that byte.
    let byte = unsafe { condition.cast::<u8>().add(place / 8).read_volatile() };
    let is_libcs = byte & (1 << (place % 8)) != 0;
    if !is_libcs {
        // SAFETY: the condition is ours.
        unsafe { Condition::at(condition) }.adopt();
    }
    is_libcs
}

/// Has libc initialise a shared condition and one that is not, and looks for the one bit in which they differ. If there is no such bit,
/// where ours are zero, everything about conditions is better left to libc; that has not been met, so the process ends.
#[cold]
fn find_shared() -> usize {
    // SAFETY: all-zero is a valid initial value for both types, which are then initialised by libc.
    let bytes = unsafe {
        let mut attributes: pthread_condattr_t = core::mem::zeroed();
        let mut conditions: [pthread_cond_t; 2] = core::mem::zeroed();
        libc_s::pthread_condattr_init(&raw mut attributes);
        libc_s::pthread_cond_init(&raw mut conditions[0], &raw const attributes);
        libc_s::pthread_condattr_setpshared(&raw mut attributes, libc::PTHREAD_PROCESS_SHARED);
        libc_s::pthread_cond_init(&raw mut conditions[1], &raw const attributes);
        core::mem::transmute::<[pthread_cond_t; 2], [[u8; size_of::<pthread_cond_t>()]; 2]>(conditions)
    };
    let mut found =
        bytes[0].iter().zip(&bytes[1]).enumerate().filter(|(_, (private, shared))| private != shared);
    let place = match (found.next(), found.next()) {
        (Some((at, (0, bit))), None) if at >= OURS_UP_TO && bit.is_power_of_two() => {
            at * 8 + bit.trailing_zeros() as usize
        }
        _ => die(&[
            b"stanchion: this libc's condition variables look like none we know; run without the library",
        ]),
    };
    // ord: M30 alone: every thread finds the same place
    SHARED_AT.store(place + 1, Ordering::Relaxed);
    place + 1
}

/// Finds out all that is found out once.
pub(crate) fn resolve() {
    libc_s::resolve();
    if config::choice().is_some() {
        find_shared();
    }
}

/// So many bytes of a condition are used by us.
const OURS_UP_TO: usize = core::mem::offset_of!(Condition, generation) + 2;
