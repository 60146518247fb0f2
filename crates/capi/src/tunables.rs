//! What can be changed while locks are in use, and the version.
use crate::boundary::place;
use crate::names::{names_of, read};
use core::ffi::{c_char, c_int};
use stanchion::tunables::{self, Tunable};

/// The version of the library that is running, such as `0.1.0`; `STANCHION_VERSION` is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// How many tunables there are.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_tunable_count() -> usize {
    tunables::ALL.len()
}

/// The name of the tunable `index`, such as `turn_us`; null if there are not so many. It stays for
/// ever.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_tunable_name(index: usize) -> *const c_char {
    names_of!([tunables::ALL].name).at(index)
}

/// What the tunable `index` means, in English; null if there are not so many. It stays for ever.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_tunable_meaning(index: usize) -> *const c_char {
    names_of!([tunables::ALL].meaning).at(index)
}

/// The tunable of that name.
///
/// # Safety
///
/// `name` is null or a string.
unsafe fn named(name: *const c_char) -> Option<Tunable> {
    // SAFETY: the caller promises what `read` asks.
    let name = unsafe { read(name) }?;
    tunables::ALL.iter().copied().find(|tunable| tunable.name().as_bytes() == name)
}

/// Sets a tunable for all locks of the process. Waiters may work with the old value for one more round.
///
/// - Returns: 0, or `EINVAL` if `name` is null or no tunable has that name.
///
/// # Safety
///
/// `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_tunable_set(name: *const c_char, value: u32) -> c_int {
    // SAFETY: the caller promises what `named` asks.
    let Some(tunable) = (unsafe { named(name) }) else { return libc::EINVAL };
    tunables::set(tunable, value);
    0
}

/// Writes to `value` what a tunable is set to.
///
/// - Returns: 0, or `EINVAL` if a pointer is null or misaligned, or no tunable has that name; then nothing is
///   written.
///
/// # Safety
///
/// `name` is a string, and `value` a place to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_tunable_get(name: *const c_char, value: *mut u32) -> c_int {
    // SAFETY: the caller promises what `named` asks.
    let tunable = unsafe { named(name) };
    let (Some(tunable), Some(_)) = (tunable, place(value)) else { return libc::EINVAL };
    // SAFETY: it is aligned and not null, so the caller promises that it can be written to.
    unsafe { value.write(tunables::get(tunable)) };
    0
}

/// Keeps waiters of all locks of the process from sleeping, or lets them sleep again: for machines on which
/// every thread has a CPU of its own. The word `nopv` in the environment variable `STANCHION` does the same
/// when the program is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_set_nopv(nopv: bool) {
    tunables::set_paravirt(!nopv);
}

/// Whether waiters are kept from sleeping.
#[unsafe(no_mangle)]
pub extern "C" fn stanchion_nopv() -> bool {
    !tunables::paravirt()
}
