//! How long a thread was off its CPU between two steps, and whether by its own wish.
//!
//! The system is asked only where it matters: when much time has passed between two steps, and when a thread
//! has waited for locks so long that the next answer could not be told from that. A call takes half a
//! microsecond. In a section others would wait for it.
use super::now;
use super::thread::write_mark;
use core::mem::MaybeUninit;
use stanchion_wire::trace::{Chunk, mark};

/// Ticks that are long enough for a thread to have left its CPU: 10 to 50 microseconds.
const LONG: u64 = 50_000;

/// What the thread has run for in nanoseconds, how often its CPU was taken from it, and how often it gave it
/// up.
fn answer() -> (u64, u32, u32) {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call writes the whole structure, and cannot fail with these arguments.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanos = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    (nanos(usage.ru_utime) + nanos(usage.ru_stime), usage.ru_nivcsw as u32, usage.ru_nvcsw as u32)
}

/// Begins anew at `at`.
pub(super) fn ask(chunk: &mut Chunk, at: u64) {
    (chunk.ran, chunk.put_aside, chunk.gave_up) = answer();
    (chunk.asked, chunk.waited) = (at, 0);
}

/// The thread waited for a lock or a condition.
#[inline(always)]
pub(super) fn waited(chunk: &mut Chunk, came: u64, got: u64) {
    chunk.waited = chunk.waited.saturating_add(got - came);
    // It may have been for a lock that it has now. After short waits, the system is asked when the thread
    // comes for the next one.
    if got - came > LONG {
        ask(chunk, got);
        kept(chunk, got);
    }
}

/// Whether to ask the system at `at`: the last step was long ago, or short waits add up.
#[inline(always)]
pub(super) fn is_due(chunk: &Chunk, at: u64) -> bool {
    at.saturating_sub(chunk.last_step) > LONG || chunk.waited > LONG
}

/// What the thread did up to `at`, if much time has passed since its last step: a mark and its numbers. The
/// system is asked anew then.
#[inline(always)]
pub(super) fn look(chunk: &mut Chunk, at: u64) -> Option<(u8, [u64; 3])> {
    (at.saturating_sub(chunk.last_step) > LONG).then(|| look_back(chunk, at))
}

#[cold]
#[inline(never)]
fn look_back(chunk: &mut Chunk, at: u64) -> (u8, [u64; 3]) {
    let (asked, ran, waited) = (chunk.asked, chunk.ran, chunk.waited);
    let (put_aside, gave_up) = (chunk.put_aside, chunk.gave_up);
    ask(chunk, at);
    chunk.last_step = at;
    // Who waits gives its CPU up, too; who did not has slept, even if it was put aside for a moment before.
    let slept = chunk.put_aside == put_aside || chunk.gave_up != gave_up && waited == 0;
    let what = if slept { mark::SLEPT } else { mark::PREEMPTED };
    (what, [at.saturating_sub(asked), waited, chunk.ran.saturating_sub(ran)])
}

/// The recorder itself kept the thread since `came`, and has asked the system: a mark says how long all that
/// took.
pub(super) fn kept(chunk: &mut Chunk, came: u64) {
    let got = now();
    write_mark(chunk, mark::KEPT, got, &[got.saturating_sub(came)]);
    (chunk.asked, chunk.last_step) = (got, got);
}
