//! What the thread sanitizer is told in every test program; without the sanitizer nobody calls it.
#![cfg(target_arch = "x86_64")]

/// What the sanitizer is not to report.
///
/// The standard library as it is shipped is not built for the sanitizer, which then misses how its channels
/// (those of the test harness too) synchronise; and it knows nothing of fences, by which the last owner of an
/// `Arc` synchronises. No access to anything that a lock protects has such a function on its stack.
///
/// This is called before the sanitizer is ready, so it may not be instrumented itself: hence no compiled
/// body.
// SAFETY: the sanitizer's runtime declares this symbol weak for programs to define, and nobody else defines
// it; the body returns the address of a constant string in `rax`, as the C calling convention wants, and
// touches nothing else.
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn __tsan_default_suppressions() -> *const core::ffi::c_char {
    core::arch::naked_asm!("lea rax, [rip + {text}]", "ret", text = sym TEXT)
}

static TEXT: [u8; 67] = *b"race:std::sync::mpmc::\nrace:Arc<*> as core::ops::drop::Drop>::drop\0";
