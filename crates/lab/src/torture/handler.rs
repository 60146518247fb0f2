//! Signal handlers that take locks of the tortured type in the middle of whatever their thread was doing.
//!
//! A lock that queues on per-thread nodes must give a handler a node of its own: this is a kernel's interrupt
//! nesting, four levels deep. A handler never waits for a lock that a context below it on the same thread
//! has: see [`Claims`](super::claims::Claims).
//!
//! Everything here runs inside a handler, so it allocates nothing, takes nothing but the lock under torture,
//! and leaves `errno` as it was.
#![expect(unsafe_code, reason = "signal handlers are installed and sent through libc")]
use super::arena::Context;
use super::chance::{Rng, busy, one_in, stream};
use super::claims::Claimed;
use super::lock::{Side, Skills};
use super::slot::{Activity, Slot};
use super::test_locks::{HANDLER_LEVELS, TASK_LOCKS, handler_lock};
use core::ffi::c_int;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};
use core::time::Duration;
use std::io;
use std::panic::{catch_unwind, resume_unwind};

thread_local! {
    /// The worker that a handler interrupts, on its thread's stack for as long as that can be signalled.
    // A handler sees a single word either set or not, and one without destructor and initialisation at all.
    static WORKER: AtomicPtr<Context> = const { AtomicPtr::new(core::ptr::null_mut()) };
}

/// The two signals: one restarts the system call that it interrupts, one does not.
fn signals() -> [c_int; 2] {
    [libc::SIGRTMIN() + 1, libc::SIGRTMIN() + 2]
}

pub(super) fn install() -> io::Result<()> {
    for (signal, flags) in signals().into_iter().zip([libc::SA_RESTART, 0]) {
        // SAFETY: all-zero is a valid `sigaction` (no handler, empty mask); the fields that matter are set
        // below.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        action.sa_sigaction = on_signal as *const () as usize;
        // `SA_NODEFER` lets the signal interrupt its own handler: that is the nesting.
        action.sa_flags = flags | libc::SA_NODEFER;
        // SAFETY: `action` is initialised, the handler has the signature that goes without `SA_SIGINFO` and
        // does what a handler may, the old action is not asked for, and nobody else here uses the signal.
        if unsafe { libc::sigaction(signal, &raw const action, core::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Runs `body` on the calling thread, which is that worker's, while it can be signalled and moved.
pub(super) fn reachable(worker: Context, body: &mut dyn FnMut()) {
    WORKER.with(|word| word.store((&raw const worker).cast_mut(), Relaxed));
    compiler_fence(SeqCst);
    worker.slot.signals.store(0, Relaxed); // those to the thread before have gone with it
    worker.slot.thread.set(rustix::thread::gettid().as_raw_nonzero().get());
    // A lock's own assertions may make it panic.
    let done = catch_unwind(AssertUnwindSafe(body));
    // In this order: no new signals, then no worker. A signal still on its way finds none and does nothing.
    worker.slot.thread.set(0);
    WORKER.with(|word| word.store(core::ptr::null_mut(), Relaxed));
    compiler_fence(SeqCst);
    done.unwrap_or_else(|panic| resume_unwind(panic));
}

/// So many signals may be on their way to a thread. A thread that had no CPU gets them all at once, each on
/// the stack upon the one before: some hundred are more than it has room for.
const ON_THE_WAY: u32 = 16;

/// Sends one of the signals to the thread in a slot, if there is one and not too many are on their way.
pub(super) fn signal(slot: &Slot, rng: &mut Rng) {
    let signal = signals()[rng.usize(..2)];
    let process = rustix::process::getpid().as_raw_nonzero().get();
    slot.thread.with(|tid| {
        if slot.signals.load(Relaxed) < ON_THE_WAY {
            // SAFETY: takes numbers only. An error (the signal queue is full) means one signal less.
            let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, tid, signal) } == 0;
            // Its handler may have counted it already: nobody but us reads this in between.
            slot.signals.fetch_add(sent.into(), Relaxed);
        }
    });
}

extern "C" fn on_signal(_signal: c_int) {
    // SAFETY: takes nothing and returns this thread's `errno`, which is valid for as long as the thread is.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; a plain integer of this thread.
    let saved = unsafe { *errno };
    WORKER.with(|word| {
        // SAFETY: the pointer is null or points to the worker's context on this very thread's stack, in a
        // suspended frame below this handler, so it lives until the handler returns. Nobody changes it.
        if let Some(worker) = unsafe { word.load(Relaxed).as_ref() } {
            interrupt(*worker);
        }
    });
    // SAFETY: `errno` is still this thread's, and nothing else on this thread runs while the handler does.
    unsafe { *errno = saved };
}

fn interrupt(worker: Context) {
    let Context { arena, slot, .. } = worker;
    slot.signals.fetch_sub(1, Relaxed);
    // A handler that interrupts this one before it says what it does is over by then.
    let depth = slot.doing().depth() + 1;
    if depth > HANDLER_LEVELS {
        slot.counts.handler_refused.fetch_add(1, Relaxed);
        return;
    }
    let run = slot.counts.handler_runs.fetch_add(1, Relaxed);
    let context = Context { depth, ..worker };
    let rng = &mut stream(arena.orders.seed, context.id() << 40 | run);
    let claimed = slot.claims.below(depth);
    let (test_lock, side) = choose(arena.skills, claimed, depth, rng);
    let place = arena.test_locks[test_lock];

    context.does(Activity::Waiting, test_lock);
    // The next handler reads the level: the compiler is not to move its ends into what is done there.
    compiler_fence(SeqCst);
    slot.handler_deepest.fetch_max(depth as u64, Relaxed);
    if context.waits_fifth() {
        slot.counts.handler_fifth.fetch_add(1, Relaxed);
    }
    context.enter(place, side, || place.lock.acquire(side));
    if test_lock < claimed.first_free() {
        slot.shared.handler_again.fetch_add(1, Relaxed);
    }
    // Mostly as short as can be; sometimes long enough for the next signal to arrive inside.
    if one_in(rng, 4) {
        busy(Duration::from_micros(rng.u64(1..=50)));
    }
    context.leave(place, side);
    compiler_fence(SeqCst);
    context.does(Activity::Vacant, 0);
}

/// What a handler takes, and on which side, that interrupted `depth` contexts with these claims.
fn choose(skills: Skills, claimed: Claimed, depth: usize, rng: &mut Rng) -> (usize, Side) {
    let own = handler_lock(depth);
    if !skills.shares {
        return (own, Side::Writes);
    }
    let free = claimed.first_free();
    let readable_again = || claimed.readable_again().filter(|_| skills.reads_again);
    let count = readable_again().count();
    let reads = |rng: &mut Rng| if rng.bool() { Side::ReadsAgain } else { Side::Reads };
    match rng.u8(..4) {
        0 if skills.handlers_write => (own, Side::Writes),
        1 if free < TASK_LOCKS => (rng.usize(free..TASK_LOCKS), reads(rng)),
        2 | 3 if count > 0 => {
            let chosen = readable_again().nth(rng.usize(..count));
            (chosen.unwrap_or(own), Side::ReadsAgain)
        }
        _ => (own, reads(rng)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::{Arena, TestLock};
    use super::super::busted::Byte;
    use super::super::lock::Tortured;
    use super::super::orders::Orders;
    use super::super::session::STACK;
    use super::super::test_locks::TEST_LOCKS;
    use super::*;
    use stanchion_suite::broken::SOUND;
    use std::sync::Barrier;

    /// Blocks the signals of the calling thread, or lets them come.
    fn mask(how: c_int) {
        // SAFETY: all-zero is an empty set, to which two signals are added; the old mask is not asked for.
        unsafe {
            let mut set: libc::sigset_t = core::mem::zeroed();
            let added = signals().map(|signal| libc::sigaddset(&raw mut set, signal));
            assert_eq!(added, [0, 0]);
            assert_eq!(libc::pthread_sigmask(how, &raw const set, core::ptr::null_mut()), 0);
        }
    }

    #[test]
    fn who_gets_no_cpu_is_not_buried_in_signals() {
        install().expect("handlers");
        let lock = |test_lock| -> &'static TestLock<dyn Tortured> {
            Box::leak(Box::new(TestLock::new(test_lock, Byte::<SOUND>::new(test_lock))))
        };
        let locks = (0..TEST_LOCKS).map(lock).collect();
        let arena = Arena::leak(Orders { writers: 1, ..Orders::default() }, Skills::MUTEX, locks);
        let meeting: &Barrier = Box::leak(Box::new(Barrier::new(2)));
        // As good as without a CPU: what is sent waits.
        let mut body = move || {
            mask(libc::SIG_BLOCK);
            meeting.wait();
            meeting.wait();
            mask(libc::SIG_UNBLOCK); // all of them come at once, each upon the one before
        };
        let worker = move || reachable(Context::of(arena, 0), &mut body);
        let worker = std::thread::Builder::new().stack_size(STACK).spawn(worker).expect("a thread");
        meeting.wait();
        (0..5_000).for_each(|_| signal(&arena.slots[0], &mut stream(1, 1)));
        meeting.wait();
        worker.join().expect("it has room for them");
        assert!(arena.slots[0].counts.handler_runs.load(Relaxed) > 0);
    }
}
