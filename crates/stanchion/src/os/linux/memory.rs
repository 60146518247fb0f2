//! Memory: more of it, and barriers in other threads.
use core::ptr::{self, NonNull};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::thread::{MembarrierCommand, membarrier as command};

pub(crate) fn map(bytes: usize, sparse: bool) -> Option<NonNull<u8>> {
    let flags = if sparse { MapFlags::PRIVATE | MapFlags::NORESERVE } else { MapFlags::PRIVATE };
    // SAFETY: a fresh private mapping at an address of the kernel's choice touches no memory that anybody
    // has.
    let fresh = unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags) };
    NonNull::new(fresh.ok()?.cast())
}

/// # Safety
///
/// It is all that one call of [`map`] returned, and nobody uses it.
pub(crate) unsafe fn unmap(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: a whole mapping that nobody uses, by the caller's promise.
    let unmapped = unsafe { munmap(memory.as_ptr().cast(), bytes) };
    debug_assert!(unmapped.is_ok(), "a mapping just made can be unmapped");
}

/// # Safety
///
/// It is all that one call of [`map`] returned.
pub(crate) unsafe fn wipe_on_fork(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: a whole mapping, by the caller's promise; this process goes on with what is in it. Failing is a
    // kernel that does not know the advice.
    let _ = unsafe { madvise(memory.as_ptr().cast(), bytes, Advice::LinuxWipeOnFork) };
}

pub(crate) fn register_barrier() -> bool {
    command(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

pub(crate) fn membarrier() -> bool {
    command(MembarrierCommand::PrivateExpedited).is_ok()
}

/// The sequence for aarch64 has run nowhere yet: emulation of user programs has no restartable sequences. So
/// nobody uses it there.
pub(crate) fn register_restarts() -> bool {
    cfg!(target_arch = "x86_64")
        && super::cpu_is_at_hand()
        && command(MembarrierCommand::RegisterPrivateExpeditedRseq).is_ok()
}

pub(crate) fn restart_everywhere() -> bool {
    command(MembarrierCommand::PrivateExpeditedRseq).is_ok()
}
