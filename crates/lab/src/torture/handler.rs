//! Signal handlers that take locks of the tortured type in the middle of whatever their thread was doing.
//!
//! A lock that queues on per-thread nodes must give a handler a node of its own: this is a kernel's interrupt
//! nesting, four levels deep. Which lock a handler takes is decided by its depth, and deeper ones come later
//! in the order, so a handler never waits for a lock that a context below it on the same thread has.
//!
//! Everything here runs inside a handler, so it allocates nothing, takes nothing but the lock under torture,
//! and leaves `errno` as it was.
#![expect(
    unsafe_code,
    reason = "signal handlers are installed and sent through libc, and giving a lock back is unsafe"
)]
use super::arena::{Arena, Ring};
use super::claims::Claimed;
use super::delay::busy;
use super::rng::Rng;
use super::slot::{Activity, HANDLER_LEVELS, Reach, TASK_LOCKS, handler_lock};
use super::tortured::{Side, Tortured};
use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed, compiler_fence};
use core::time::Duration;
use std::io;

/// What the handler of a thread has to know. Lives on that thread's stack for as long as it can be signalled.
struct Hook<'a> {
    torment: &'a dyn Torment,
    slot: usize,
    /// How many handlers are on this thread's stack.
    depth: AtomicUsize,
    seed: u64,
    /// How many handlers have run, which picks the stream each draws from.
    runs: Cell<u64>,
}

/// What a handler does, whatever the type of the lock.
trait Torment {
    fn strike(&self, slot: usize, depth: usize, rng: &mut Rng);
    fn refuse(&self, slot: usize);
}

thread_local! {
    // A single word, stored in one instruction, so that a handler sees it either set or not. It has no
    // destructor and needs no initialisation, which makes it fit to be read in a handler.
    static HOOK: AtomicPtr<Hook<'static>> = const { AtomicPtr::new(core::ptr::null_mut()) };
}

/// The two signals: one restarts the system call that it interrupts, one does not.
pub(crate) fn signals() -> [c_int; 2] {
    [libc::SIGRTMIN() + 1, libc::SIGRTMIN() + 2]
}

/// Installs the handler for both signals.
pub(crate) fn install() -> io::Result<()> {
    let [restarting, interrupting] = signals();
    // `SA_NODEFER` lets the signal interrupt its own handler: that is the nesting.
    for (signal, flags) in
        [(restarting, libc::SA_RESTART | libc::SA_NODEFER), (interrupting, libc::SA_NODEFER)]
    {
        // SAFETY: all-zero is a valid `sigaction` (no handler, empty mask); the fields that matter are set
        // below.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = flags;
        // SAFETY: `action` is initialised, the handler has the signature that goes without `SA_SIGINFO` and
        // only does what a handler may, the old action is not asked for, and no one else in this process uses
        // the signal.
        if unsafe { libc::sigaction(signal, &raw const action, core::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Runs `body` on the calling thread while it can be signalled and moved.
pub(crate) fn with_hook<L: Tortured>(
    ring: &'static Ring<L>,
    number: usize,
    generation: u64,
    body: impl FnOnce(),
) {
    let hook = Hook {
        torment: ring,
        slot: number,
        depth: AtomicUsize::new(0),
        seed: ring.orders.seed ^ generation.rotate_left(40),
        runs: Cell::new(0),
    };
    HOOK.with(|word| word.store((&raw const hook).cast_mut().cast(), Relaxed));
    compiler_fence(core::sync::atomic::Ordering::SeqCst);
    // SAFETY: takes nothing and always succeeds.
    let pthread = unsafe { libc::pthread_self() };
    ring.slots[number].thread().open(pthread, rustix::thread::gettid().as_raw_nonzero().get());
    // Also if `body` panics, as a lock's own assertions may make it.
    let _farewell = Farewell(ring.slots[number].thread());
    body();
}

/// Makes its thread unreachable when dropped, before the thread's hook goes.
struct Farewell<'a>(&'a Reach);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        // In this order: no new signals, then no hook. A signal that is still on its way finds none and does
        // nothing.
        self.0.close();
        HOOK.with(|word| word.store(core::ptr::null_mut(), Relaxed));
        compiler_fence(core::sync::atomic::Ordering::SeqCst);
    }
}

/// Sends `signal` to a thread.
///
/// # Safety
///
/// `pthread` must be a thread of this process that was not joined yet: see [`super::slot::Reach::with`].
pub(crate) unsafe fn send(pthread: u64, signal: c_int) {
    // SAFETY: the caller guarantees the thread. An error (the signal queue is full) means one signal less.
    unsafe { libc::pthread_kill(pthread, signal) };
}

extern "C" fn on_signal(_signal: c_int) {
    // SAFETY: takes nothing and returns this thread's `errno`, which is valid for as long as the thread is.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; a plain integer of this thread.
    let saved = unsafe { *errno };
    HOOK.with(|word| {
        // SAFETY: the pointer is null or points to the hook on this very thread's stack, in a frame below
        // this handler that is suspended, so it lives until the handler returns. All its fields are shared by
        // this thread only.
        if let Some(hook) = unsafe { word.load(Relaxed).as_ref() } {
            interrupt(hook);
        }
    });
    // SAFETY: `errno` is still this thread's, and nothing else on this thread runs while the handler does.
    unsafe { *errno = saved };
}

fn interrupt(hook: &Hook<'_>) {
    // A handler that interrupts this one leaves `depth` and what it added to `runs` behind, but never
    // half-done.
    let depth = hook.depth.load(Relaxed) + 1;
    hook.depth.store(depth, Relaxed);
    if depth <= HANDLER_LEVELS {
        let run = hook.runs.get() + 1;
        hook.runs.set(run);
        let mut rng = Rng::new(hook.seed, (hook.slot as u64) << 40 | run << 3 | depth as u64);
        hook.torment.strike(hook.slot, depth, &mut rng);
    } else {
        hook.torment.refuse(hook.slot);
    }
    hook.depth.store(depth - 1, Relaxed);
}

/// What one run of a handler takes.
struct Acquisition {
    test_lock: usize,
    writes: bool,
    /// As a reader that must not wait behind writers.
    again: bool,
    /// The test lock is one that the thread reads, or is about to read.
    claimed: bool,
}

/// What a handler at `depth` takes whose thread claims `claimed`. Under a mutex that is decided by the depth.
fn choose<L: Tortured>(claimed: Claimed, depth: usize, rng: &mut Rng) -> Acquisition {
    let own = Acquisition { test_lock: handler_lock(depth), writes: true, again: false, claimed: false };
    if !L::SKILLS.shares {
        return own;
    }
    let free = claimed.first_free();
    let again = || claimed.readable_again().filter(|_| L::SKILLS.reads_again);
    match rng.below(4) {
        0 if L::SKILLS.handlers_write => own,
        1 if free < TASK_LOCKS => {
            let test_lock = rng.between(free as u64, TASK_LOCKS as u64 - 1) as usize;
            Acquisition { test_lock, writes: false, again: rng.one_in(2), claimed: false }
        }
        2 | 3 if again().next().is_some() => {
            let chosen = again().nth(rng.below(again().count() as u64) as usize);
            let test_lock = chosen.unwrap_or(own.test_lock);
            Acquisition { test_lock, writes: false, again: true, claimed: true }
        }
        _ => Acquisition { writes: false, again: rng.one_in(2), ..own },
    }
}

impl<L: Tortured> Torment for Ring<L> {
    fn strike(&self, number: usize, depth: usize, rng: &mut Rng) {
        let slot = &self.slots[number];
        let Acquisition { test_lock, writes, again, claimed } =
            choose::<L>(slot.claims.below(depth), depth, rng);
        let side = if writes { Side::Writes } else { Side::Reads };
        let place = &self.test_locks[test_lock];
        let context = Arena::context(number, depth);
        slot.handler_runs.fetch_add(1, Relaxed);
        slot.handler_deepest.fetch_max(depth as u64, Relaxed);

        slot.handler_does(depth, Activity::Waiting, test_lock);
        let doing = slot.doing();
        if depth == HANDLER_LEVELS && (0..depth).all(|below| doing.at(below).0 == Activity::Waiting) {
            slot.handler_fifth.fetch_add(1, Relaxed);
        }
        if L::SKILLS.shares {
            slot.claims.about_to(depth, test_lock, side);
        }
        let guard = if again { place.lock.acquire_again() } else { place.lock.acquire(side) };
        if L::SKILLS.shares {
            slot.claims.holds(depth, test_lock, side);
        }
        slot.handler_does(depth, Activity::Holding, test_lock);
        let mut seen = if writes { place.enter_write(context) } else { place.enter_read().0 };
        slot.handler_count(test_lock, writes);
        if claimed {
            slot.sharing.handler_again.fetch_add(1, Relaxed);
        }
        // Mostly as short as can be; sometimes long enough for the next signal to arrive inside.
        if rng.one_in(4) {
            busy(Duration::from_micros(rng.between(1, 50)));
        }
        seen += if writes { place.leave_write(context) } else { place.leave_read() };
        slot.handler_charge(seen);
        slot.handler_does(depth, Activity::Releasing, test_lock);
        if L::SKILLS.shares {
            slot.claims.about_to(depth, test_lock, side);
        }
        // SAFETY: `guard` is what an acquisition of this very lock returned above, in this context.
        unsafe { place.lock.release(guard) };
        if L::SKILLS.shares {
            slot.claims.gone(depth, test_lock);
        }
        slot.handler_does(depth, Activity::Vacant, 0);
    }

    fn refuse(&self, number: usize) {
        self.slots[number].handler_refused.fetch_add(1, Relaxed);
    }
}
