//! Signal handlers that take locks of the tortured type in the middle of whatever their thread was doing.
//!
//! A lock that queues on per-thread nodes must give a handler a node of its own: this is a kernel's interrupt
//! nesting, four levels deep. A handler never waits for a lock that a context below it on the same thread
//! has: see [`Claims`].
//!
//! Everything here runs inside a handler, so it allocates nothing, takes nothing but the lock under torture,
//! and leaves `errno` as it was.
#![expect(unsafe_code, reason = "signal handlers are installed and sent through libc")]
use super::arena::Context;
use super::chance::{Rng, busy, one_in, stream};
use super::lock::{Side, Skills};
use super::slot::{Activity, HANDLER_LEVELS, Slot, TASK_LOCKS, TEST_LOCKS, handler_lock};
use core::ffi::c_int;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};
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
pub(super) fn reachable(worker: Context, body: impl FnOnce()) {
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

/// What the contexts stacked on one thread hold and want: the worker, then the handlers by depth. Each writes
/// its own.
///
/// Test locks are taken in ascending order. A handler may take what comes after everything that its thread
/// holds or wants (under a mutex its depth decides which); or read once more what its thread
///
/// - **holds** for reading, which needs no waiting if the lock says so ([`Skills::reads_again`]); or
/// - is **about to** take or give back for reading, if nothing after it is claimed: it waits for a writer who
///   is in, and who waits for later test locks only.
///
/// Anything else, above all what its thread writes or is about to write, would make a thread wait for itself.
#[derive(Default)]
pub(crate) struct Claims([AtomicU32; HANDLER_LEVELS + 1]);

/// The claims of several contexts, in three bytes that have a bit for each test lock.
#[derive(Clone, Copy)]
pub(crate) struct Claimed(u32);

const _: () = assert!(TEST_LOCKS <= 8, "a byte has a bit for each test lock");

/// The byte of what is held for reading, and not about to be given back.
const READS: usize = 0;
/// The byte of what is about to be taken or given back for reading.
const CHANGES: usize = 1;
/// The byte of what is held, wanted or about to be given back in any other way.
const OTHERS: usize = 2;

impl Claimed {
    /// The first test lock that comes after everything claimed.
    pub(crate) fn first_free(self) -> usize {
        let any = self.0.to_le_bytes().into_iter().fold(0, |any, set| any | set);
        u8::BITS as usize - any.leading_zeros() as usize
    }

    pub(crate) fn readable_again(self) -> impl Iterator<Item = usize> {
        (0..TEST_LOCKS).filter(move |&test_lock| {
            let has = |set: usize| self.0 >> (8 * set + test_lock) & 1 != 0;
            let last = test_lock + 1 == self.first_free();
            !has(OTHERS) && (has(READS) || has(CHANGES) && last)
        })
    }
}

impl Claims {
    /// The context at `depth` is about to take `test_lock`, to give it back, or to change how it has it.
    pub(crate) fn about_to(&self, depth: usize, test_lock: usize, side: Side) {
        self.change(depth, test_lock, Some(if side.reads() { CHANGES } else { OTHERS }));
    }

    pub(crate) fn holds(&self, depth: usize, test_lock: usize, side: Side) {
        self.change(depth, test_lock, Some(if side.reads() { READS } else { OTHERS }));
    }

    pub(crate) fn gone(&self, depth: usize, test_lock: usize) {
        self.change(depth, test_lock, None);
    }

    /// What the contexts that a handler at `depth` interrupted claim.
    pub(crate) fn below(&self, depth: usize) -> Claimed {
        Claimed(self.0[..depth].iter().fold(0, |sum, claims| sum | claims.load(Relaxed)))
    }

    fn change(&self, depth: usize, test_lock: usize, now: Option<usize>) {
        // Our handlers read this: the compiler is not to move it across the acquisition or release.
        compiler_fence(SeqCst);
        let bit = |set: usize| 1_u32 << (8 * set + test_lock);
        let others = self.0[depth].load(Relaxed) & !(bit(READS) | bit(CHANGES) | bit(OTHERS));
        self.0[depth].store(others | now.map_or(0, bit), Relaxed);
        compiler_fence(SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::{Arena, TestLock};
    use super::super::args::Orders;
    use super::super::busted::Byte;
    use super::super::lock::Tortured;
    use super::super::session::STACK;
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
        let locks = core::array::from_fn(lock);
        let arena = Arena::leak(Orders { writers: 1, ..Orders::default() }, Skills::MUTEX, locks);
        let meeting: &Barrier = Box::leak(Box::new(Barrier::new(2)));
        // As good as without a CPU: what is sent waits.
        let body = move || {
            mask(libc::SIG_BLOCK);
            meeting.wait();
            meeting.wait();
            mask(libc::SIG_UNBLOCK); // all of them come at once, each upon the one before
        };
        let worker = move || reachable(Context::of(arena, 0), body);
        let worker = std::thread::Builder::new().stack_size(STACK).spawn(worker).expect("a thread");
        meeting.wait();
        (0..5_000).for_each(|_| signal(&arena.slots[0], &mut stream(1, 1)));
        meeting.wait();
        worker.join().expect("it has room for them");
        assert!(arena.slots[0].counts.handler_runs.load(Relaxed) > 0);
    }

    fn again(claims: &Claims, depth: usize) -> Vec<usize> {
        claims.below(depth).readable_again().collect()
    }

    #[test]
    fn what_is_held_for_reading_may_be_read_again_and_what_is_written_may_not() {
        let claims = Claims::default();
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (0, vec![]));
        claims.about_to(0, 0, Side::Reads);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (1, vec![0]), "in the midst of it");
        claims.holds(0, 0, Side::Reads);
        claims.about_to(0, 1, Side::Writes);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (2, vec![0]));
        claims.holds(0, 1, Side::Writes);
        claims.about_to(0, 2, Side::Reads);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (3, vec![0, 2]));
        claims.gone(0, 2);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (2, vec![0]));
    }

    #[test]
    fn what_is_about_to_go_is_left_alone_while_something_later_is_claimed() {
        let claims = Claims::default();
        claims.holds(0, 0, Side::Reads);
        claims.holds(0, 3, Side::Reads);
        claims.about_to(0, 0, Side::Reads);
        assert_eq!(again(&claims, 1), [3], "a writer of 0 may wait for 3");
    }

    #[test]
    fn a_handler_counts_all_contexts_below_it_and_not_itself() {
        let claims = Claims::default();
        claims.about_to(0, 1, Side::Upgrades);
        claims.about_to(1, 4, Side::Reads);
        claims.holds(2, 5, Side::Writes);
        assert_eq!((claims.below(1).first_free(), again(&claims, 1)), (2, vec![]));
        assert_eq!((claims.below(2).first_free(), again(&claims, 2)), (5, vec![4]));
        assert_eq!((claims.below(3).first_free(), again(&claims, 3)), (6, vec![]));
    }

    #[test]
    fn a_lock_that_one_context_reads_and_another_wants_to_write_is_left_alone() {
        let claims = Claims::default();
        claims.holds(0, 2, Side::Reads);
        claims.about_to(1, 2, Side::Writes);
        assert_eq!(again(&claims, 2), [0_usize; 0]);
    }
}
