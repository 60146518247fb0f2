//! What a port provides, with contracts and without bodies. It stands in where there is no port, so that the
//! compiler says only that.
//!
//! All of it may be called in a signal handler: no function allocates, takes a lock of the C library, or is a
//! cancellation point; none leaves another `errno`. Functions that answer `Option` or `bool` may always say
//! no: what is lost is told there.
use crate::moment::{Clock, Deadline};
use core::ffi::CStr;
use core::sync::atomic::AtomicU32;
use core::time::Duration;

/// Sleeps while `word` holds `value`, until the deadline at the latest. `false` if that has passed; otherwise
/// it may return for no reason. Comparing and falling asleep are one step to those who call [`wake`] after
/// they changed the word.
pub(crate) fn wait(_word: &AtomicU32, _value: u32, _until: Option<&Deadline>) -> bool {
    loop {}
}

/// As [`wait`], for about this long at most.
pub(crate) fn wait_for(_word: &AtomicU32, _value: u32, _time: Duration) {}

/// As [`wait_for`], in memory that processes share.
pub(crate) fn wait_in_any_process(_word: &AtomicU32, _value: u32, _time: Duration) {}

/// Wakes so many threads of this process that [`wait`] at the word.
pub(crate) fn wake(_word: &AtomicU32, _threads: u32) {}

/// Wakes one thread at an address that may be no word any more: the address is a number here, and nothing is
/// read there.
pub(crate) fn wake_at(_address: *const AtomicU32) {}

/// As [`wake_at`], of threads in [`wait_in_any_process`], too.
pub(crate) fn wake_at_in_any_process(_address: *const AtomicU32) {}

/// Seconds and nanoseconds on a clock. The monotonic one is read without a system call.
pub(crate) fn time(_clock: Clock) -> (i64, u32) {
    loop {}
}

/// Makes ready what [`time`] needs, while the program is loaded.
pub(crate) fn prepare_clock() {}

/// Sleeps for `pause`, or less if a signal comes.
pub(crate) fn sleep(_pause: Duration) {}

/// Lets another thread have the CPU, if one wants it.
pub(crate) fn yield_slice() {}

/// A counter that all CPUs have in common, in ticks of any length, and quicker to read than [`time`].
pub(crate) fn ticks() -> u64 {
    loop {}
}

/// Whether [`ticks`] have one length, whatever the CPU does meanwhile. `false`: nobody uses them.
pub(crate) fn ticks_are_steady() -> bool {
    false
}

/// Makes [`membarrier`] work in this process. `false`: releases are fenced.
pub(crate) fn register_barrier() -> bool {
    false
}

/// Every thread of the process that runs passes a full memory barrier between the call and the return.
pub(crate) fn membarrier() -> bool {
    false
}

/// Whether [`store_unless_marked`] can be had, together with [`restart_everywhere`]. `false`: releases of
/// foreign memory are read-modify-writes.
pub(crate) fn register_restarts() -> bool {
    false
}

/// As [`membarrier`]; and every thread that is in [`store_unless_marked`] begins that again.
pub(crate) fn restart_everywhere() -> bool {
    false
}

/// Stores `value` to the first byte if the second has none of `marks` set, and returns the second: a
/// *restartable sequence*, which begins again when its thread is interrupted in between. `PAUSES` spin hints
/// stand between look and store. The store is a release.
///
/// # Safety
///
/// Both bytes may be written, and [`register_restarts`] said yes.
pub(crate) unsafe fn store_unless_marked<const PAUSES: usize>(_lock: *mut u8, _value: u8, _marks: u8) -> u8 {
    loop {}
}

/// Asks for the line of `address` to be written. Does nothing else, whatever the address.
pub(crate) fn prefetch_write(_address: *const u8) {}

/// So many bytes of zeroes, aligned to 4096, that are the process's until the end or [`unmap`]; sparse ones
/// count for what is touched only. `None` if there is no memory.
pub(crate) fn map(_bytes: usize, _sparse: bool) -> Option<core::ptr::NonNull<u8>> {
    None
}

/// Gives memory back.
///
/// # Safety
///
/// It is all that one call of [`map`] returned, and nobody uses it.
pub(crate) unsafe fn unmap(_memory: core::ptr::NonNull<u8>, _bytes: usize) {}

/// The child of a `fork` is to find zeroes there, if the system can do that.
///
/// # Safety
///
/// As [`unmap`], but for that the memory may be used.
pub(crate) unsafe fn wipe_on_fork(_memory: core::ptr::NonNull<u8>, _bytes: usize) {}

/// The process's number.
pub(crate) fn process() -> u32 {
    loop {}
}

/// The calling thread's number, which is not 0 and no other living thread's.
pub(crate) fn thread() -> u32 {
    loop {}
}

/// Whether the process has no thread of this number: it has passed a full memory barrier on its way out then.
/// It may always say no; numbers of threads that have ended do not come back then.
pub(crate) fn has_ended(_process: u32, _thread: u32) -> bool {
    false
}

/// Has `handler` called in the child of each `fork`, until this code is unloaded.
pub(crate) fn on_fork(_handler: extern "C" fn()) {}

/// 0 for a calling thread of no real-time class, 1 to 99 as for `SCHED_FIFO` and `SCHED_RR`, 100 for
/// `SCHED_DEADLINE`.
pub(crate) fn priority() -> u8 {
    0
}

/// The CPU that the calling thread runs on, if that is known without a system call: waiting loops ask.
pub(crate) fn cpu() -> Option<u32> {
    None
}

/// The same by any means; 0 if nobody knows.
pub(crate) fn cpu_for_sure() -> u32 {
    0
}

/// Whether [`cpu`] costs a load. Makes it so, if it can be.
pub(crate) fn cpu_is_at_hand() -> bool {
    false
}

/// A number, not zero, that hardly another thread has.
pub(crate) fn some_number() -> u32 {
    loop {}
}

/// Which CPUs belong to a NUMA node, such as `0-3,8`. `None` if there is no such node.
pub(crate) fn cpus_of_node(_node: u8, _buffer: &mut [u8; 1024]) -> Option<&[u8]> {
    None
}

/// A variable of the environment, while the program is loaded.
pub(crate) fn variable(_name: &CStr) -> Option<&'static [u8]> {
    None
}

/// Has a function called when the program is loaded, before there are threads: `at_load!(NAME)`.
macro_rules! at_load {
    ($function:path) => {};
}
pub(crate) use at_load;
