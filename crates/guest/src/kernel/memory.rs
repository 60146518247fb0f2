//! The functions on memory that compiled code calls by name, where no C library has them.
//!
//! As single string instructions: a loop would be compiled into a call of the function that it is in.
use super::arch;
use core::arch::asm;

/// Copies bytes that do not overlap.
///
/// # Safety
/// As C's `memcpy`: `from` can be read, `to` written, and they do not overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: the caller says that both places hold so many bytes; the direction flag is clear wherever
    // compiled code runs.
    unsafe {
        asm!("rep movsb", inout("rcx") bytes => _, inout("rdi") to => _, inout("rsi") from => _, options(nostack, preserves_flags));
    }
    to
}

/// Copies bytes that may overlap.
///
/// # Safety
/// As C's `memmove`: `from` can be read and `to` written.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    if to.addr().wrapping_sub(from.addr()) >= bytes {
        // SAFETY: `to` does not lie within what is read, so going forward overwrites nothing unread.
        return unsafe { memcpy(to, from, bytes) };
    }
    // SAFETY: the caller says that both places hold so many bytes; backwards, nothing unread is overwritten;
    // the flag is clear again after it.
    unsafe {
        asm!(
            "std", "rep movsb", "cld",
            inout("rcx") bytes => _,
            inout("rdi") to.wrapping_add(bytes).wrapping_sub(1) => _,
            inout("rsi") from.wrapping_add(bytes).wrapping_sub(1) => _,
            options(nostack),
        );
    }
    to
}

/// Fills bytes.
///
/// # Safety
/// As C's `memset`: `to` can be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, bytes: usize) -> *mut u8 {
    // SAFETY: the caller says that so many bytes can be written; the direction flag is clear wherever
    // compiled code runs.
    unsafe {
        asm!("rep stosb", inout("rcx") bytes => _, inout("rdi") to => _, in("al") value as u8, options(nostack, preserves_flags));
    }
    to
}

/// Compares bytes.
///
/// # Safety
/// As C's `memcmp`: both can be read.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, bytes: usize) -> i32 {
    for at in 0..bytes {
        // SAFETY: the caller says that both places hold so many bytes. Volatile, so that this is not made a
        // call of itself.
        let (one, other) = unsafe { (left.add(at).read_volatile(), right.add(at).read_volatile()) };
        if one != other {
            return i32::from(one) - i32::from(other);
        }
    }
    0
}

/// Compares bytes for being equal.
///
/// # Safety
/// As [`memcmp`].
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, bytes: usize) -> i32 {
    // SAFETY: the caller says what `memcmp` asks.
    unsafe { memcmp(left, right, bytes) }
}

/// The length of a string of C.
///
/// # Safety
/// As C's `strlen`: there is a zero, and all before it can be read.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller says that all bytes up to the zero can be read.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}

/// Named by the standard library's precompiled part, whose code for unwinding is there but never runs: a
/// panic ends the machine.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// The same: where a cleanup during unwinding would end.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    arch::stop()
}
