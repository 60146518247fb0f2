//! Signal handlers that take locks of the tortured type in the middle of whatever their thread was doing.
//!
//! A lock that queues on per-thread nodes must give a handler a node of its own: this is a kernel's interrupt
//! nesting, four levels deep. Which lock a handler takes is decided by its depth, and deeper ones come later
//! in the order, so a handler never waits for a lock that a context below it on the same thread has.
//!
//! Everything here runs inside a handler, so it allocates nothing, takes nothing but the lock under torture,
//! and leaves `errno` as it was.
#![expect(unsafe_code, reason = "signal handlers are installed and sent through libc")]
use super::claims::Claimed;
use super::context::Context;
use super::delay::busy;
use super::lock::{Side, Skills};
use super::rng::{Chance as _, Rng, stream};
use super::slot::{Activity, HANDLER_LEVELS, Reach, TASK_LOCKS, handler_lock};
use core::ffi::c_int;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};
use core::time::Duration;
use std::io;

thread_local! {
    /// The worker that a handler interrupts. It lives on its thread's stack for as long as that can be
    /// signalled.
    // A single word, stored in one instruction, so that a handler sees it either set or not. It has no
    // destructor and needs no initialisation, which makes it fit to be read in a handler.
    static WORKER: AtomicPtr<Context> = const { AtomicPtr::new(core::ptr::null_mut()) };
}

/// The two signals: one restarts the system call that it interrupts, one does not.
pub(super) fn signals() -> [c_int; 2] {
    [libc::SIGRTMIN() + 1, libc::SIGRTMIN() + 2]
}

/// Installs the handler for both signals.
pub(super) fn install() -> io::Result<()> {
    for (signal, flags) in signals().into_iter().zip([libc::SA_RESTART, 0]) {
        // SAFETY: all-zero is a valid `sigaction` (no handler, empty mask); the fields that matter are set
        // below.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        action.sa_sigaction = on_signal as *const () as usize;
        // `SA_NODEFER` lets the signal interrupt its own handler: that is the nesting.
        action.sa_flags = flags | libc::SA_NODEFER;
        // SAFETY: `action` is initialised, the handler has the signature that goes without `SA_SIGINFO` and
        // only does what a handler may, the old action is not asked for, and no one else in this process uses
        // the signal.
        if unsafe { libc::sigaction(signal, &raw const action, core::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Runs `body` on the calling thread, which is that worker's, while it can be signalled and moved.
pub(super) fn reachable(worker: Context, body: impl FnOnce()) {
    WORKER.with(|word| word.store((&raw const worker).cast_mut(), Relaxed));
    compiler_fence(SeqCst);
    worker.slot.thread.open(rustix::thread::gettid().as_raw_nonzero().get());
    // Also if `body` panics, as a lock's own assertions may make it.
    let _farewell = Farewell(&worker.slot.thread);
    body();
}

/// Makes its thread unreachable when dropped, before its worker goes.
struct Farewell<'a>(&'a Reach);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        // In this order: no new signals, then no worker. A signal that is still on its way finds none and
        // does nothing.
        self.0.close();
        WORKER.with(|word| word.store(core::ptr::null_mut(), Relaxed));
        compiler_fence(SeqCst);
    }
}

/// Sends `signal` to a thread of this process, by its id: see [`Reach::with`].
pub(super) fn send(tid: i32, signal: c_int) {
    let process = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: takes numbers only. An error (the signal queue is full) means one signal less.
    unsafe { libc::syscall(libc::SYS_tgkill, process, tid, signal) };
}

extern "C" fn on_signal(_signal: c_int) {
    // SAFETY: takes nothing and returns this thread's `errno`, which is valid for as long as the thread is.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; a plain integer of this thread.
    let saved = unsafe { *errno };
    WORKER.with(|word| {
        // SAFETY: the pointer is null or points to the worker's context on this very thread's stack, in a
        // frame below this handler that is suspended, so it lives until the handler returns. Nobody changes
        // it.
        if let Some(worker) = unsafe { word.load(Relaxed).as_ref() } {
            interrupt(*worker);
        }
    });
    // SAFETY: `errno` is still this thread's, and nothing else on this thread runs while the handler does.
    unsafe { *errno = saved };
}

fn interrupt(worker: Context) {
    let (arena, slot) = (worker.arena, worker.slot);
    // A handler that interrupts this one before it says what it does is over by then.
    let depth = slot.doing().depth() + 1;
    if depth > HANDLER_LEVELS {
        slot.counts.handler_refused.fetch_add(1, Relaxed);
        return;
    }
    let run = slot.counts.handler_runs.fetch_add(1, Relaxed);
    let handler = worker.interrupted(depth);
    let mut rng = stream(arena.orders.seed, handler.id() << 40 | run);
    strike(handler, depth, &mut rng);
}

/// What one run of a handler takes.
struct Acquisition {
    test_lock: usize,
    side: Side,
    /// As a reader that must not wait behind writers.
    again: bool,
}

/// What a handler at `depth` takes whose thread claims `claimed`. Under a mutex that is decided by the depth.
fn choose(skills: Skills, claimed: Claimed, depth: usize, rng: &mut Rng) -> Acquisition {
    let own = Acquisition { test_lock: handler_lock(depth), side: Side::Writes, again: false };
    if !skills.shares {
        return own;
    }
    let free = claimed.first_free();
    let readable_again = || claimed.readable_again().filter(|_| skills.reads_again);
    let count = readable_again().count();
    let read = |test_lock, again| Acquisition { test_lock, side: Side::Reads, again };
    match rng.u8(..4) {
        0 if skills.handlers_write => own,
        1 if free < TASK_LOCKS => read(rng.usize(free..TASK_LOCKS), rng.bool()),
        2 | 3 if count > 0 => {
            let chosen = readable_again().nth(rng.usize(..count));
            read(chosen.unwrap_or(own.test_lock), true)
        }
        _ => read(own.test_lock, rng.bool()),
    }
}

fn strike(context: Context, depth: usize, rng: &mut Rng) {
    let Context { arena, slot, .. } = context;
    let claimed = slot.claims.below(depth);
    let Acquisition { test_lock, side, again } = choose(arena.skills, claimed, depth, rng);
    let place = arena.test_locks[test_lock];

    context.does(Activity::Waiting, test_lock);
    // The compiler is not to move the level's beginning and end into what is done there: the next handler
    // reads them.
    compiler_fence(SeqCst);
    slot.handler_deepest.fetch_max(depth as u64, Relaxed);
    if context.waits_fifth() {
        slot.counts.handler_fifth.fetch_add(1, Relaxed);
    }
    context.enter(
        place,
        test_lock,
        side,
        |lock| {
            if again { lock.acquire_again() } else { lock.acquire(side) }
        },
    );
    if test_lock < claimed.first_free() {
        slot.shared.handler_again.fetch_add(1, Relaxed);
    }
    // Mostly as short as can be; sometimes long enough for the next signal to arrive inside.
    if rng.one_in(4) {
        busy(Duration::from_micros(rng.u64(1..=50)));
    }
    context.leave(place, test_lock, side);
    compiler_fence(SeqCst);
    context.does(Activity::Vacant, 0);
}
