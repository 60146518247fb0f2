//! Thread slots: each thread that ever waits gets a small number and keeps it until it exits.
//!
//! The lowest free number is handed out, so numbers stay dense and storage follows the largest number of threads that
//! waited at the same time. Everything here works inside a signal handler: no allocation, no locks.
//!
//! Invariants:
//! - **N1** A slot number belongs to at most one living thread: its bit in `TAKEN` is set from the moment it is handed out
//!   until the thread has exited.
//! - **N2** A thread whose number is being handed out has none yet: a signal handler that runs in between takes the path
//!   without a node.
use super::Counting;
use super::chunks::{Chunks, Zeroed};
use super::parker::Parker;
use super::{Native, Silent, readers};
use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};
use stanchion_core::CpuId;
use stanchion_core::percpu::PerCpu;

/// What one thread owns in the native world. Two cache lines, so that neighbours do not share one, prefetcher included.
#[repr(C, align(128))]
pub(super) struct Slot {
    percpu: PerCpu<Native<Silent>>,
    pub(super) parker: Parker,
    /// The OS CPU that the thread last said it runs on, plus one; 0 is unknown.
    pub(super) runs_on: AtomicU32,
    /// When it was last kicked, in nanoseconds modulo 2^32; for counting locks.
    pub(super) kicked_at: AtomicU32,
}

const _: () = assert!(size_of::<Slot>() <= 128, "a thread that ever waited costs at most 128 bytes");

// SAFETY: every field is made of integer atomics, for which zero is valid; the type is `Sync` by composition.
unsafe impl Zeroed for Slot {}

static SLOTS: Chunks<Slot> = Chunks::new();

const WORDS: usize = (CpuId::LIMIT as usize).div_ceil(64);
/// One bit a slot (N1).
static TAKEN: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

/// One more than the greatest number that was ever handed out.
static CONTEXTS: AtomicU16 = AtomicU16::new(0);

/// No number yet.
const NONE: u16 = 0;
/// A number is being handed out (N2), or there was none to hand out a moment ago.
const BUSY: u16 = u16::MAX;

thread_local! {
    /// `cpu + 1`, [`NONE`] or [`BUSY`]. Constant and without a destructor: reading it never runs code, so it is safe in a
    /// signal handler and while the thread exits.
    static MINE: Cell<u16> = const { Cell::new(NONE) };
}

/// The calling thread's number, handed out at the first call.
#[inline(always)]
pub(super) fn this_cpu() -> Option<CpuId> {
    match number_if_any() {
        Some(cpu) => Some(cpu),
        None => hand_out(),
    }
}

/// The number that the calling thread has, if it has one.
#[inline(always)]
pub(super) fn number_if_any() -> Option<CpuId> {
    // Neither NONE nor BUSY is one more than a number, so one comparison tells.
    CpuId::new(MINE.get().wrapping_sub(1))
}

/// The storage of a slot that was handed out at some time.
#[inline(always)]
pub(super) fn slot(cpu: CpuId) -> &'static Slot {
    SLOTS.get(usize::from(cpu.index())).expect("a number is handed out after its storage is mapped")
}

/// All slots whose storage exists, with their numbers.
pub(super) fn all() -> impl Iterator<Item = (CpuId, &'static Slot)> {
    SLOTS.iter().filter_map(|(index, slot)| Some((CpuId::new(index as u16)?, slot)))
}

/// How many numbers can have been handed out: all are below this.
pub(super) fn contexts() -> u16 {
    // ord: N45 pairs N46: a context that published itself under a number did so after the number counted
    CONTEXTS.load(Ordering::Acquire)
}

/// Whether a living thread has this number.
pub(super) fn is_taken(cpu: CpuId) -> bool {
    let (word, bit) = place(cpu.index());
    // ord: N3 alone: only a report reads it
    TAKEN[word].load(Ordering::Relaxed) & bit != 0
}

/// Shows `visit` each number that a living thread has, or that a thread kept which exited while it read (see `readers.rs`). A
/// number that a thread got before the caller's last heavy barrier, or fence, is among them.
pub(super) fn each_taken(mut visit: impl FnMut(CpuId)) {
    let words = usize::from(contexts()).div_ceil(64);
    for (index, word) in TAKEN.iter().enumerate().take(words) {
        // ord: N66 pairs N6: a thread that is gone read before we go on; its cell is not shown, so nothing else would say so.
        // Whom we must see the caller's heavy barrier decides, or its fence with the one that follows a number being handed out
        let mut bits = word.load(Ordering::Acquire);
        while bits != 0 {
            if let Some(cpu) = CpuId::new((index * 64) as u16 + bits.trailing_zeros() as u16) {
                visit(cpu);
            }
            bits &= bits - 1;
        }
    }
}

fn place(index: u16) -> (usize, u64) {
    (usize::from(index / 64), 1 << (index % 64))
}

#[cold]
fn hand_out() -> Option<CpuId> {
    if MINE.get() == BUSY {
        return None; // N2
    }
    MINE.set(BUSY);
    let cpu = take_lowest().filter(|&cpu| {
        // Whoever looks at all contexts looks at lower numbers as well, whose threads may not have come so far.
        let slot = SLOTS.map_up_to(usize::from(cpu.index()));
        if let Some(slot) = slot {
            // ord: N46 pairs N45: the number counts once its storage exists, and before its context can block anywhere
            CONTEXTS.fetch_max(cpu.index() + 1, Ordering::Release);
            // Where the number's last thread ran says nothing about this one, nor does how its spins ended.
            // ord: N47 alone: a hint that may be out of date
            slot.runs_on.store(0, Ordering::Relaxed);
            slot.percpu.begin_anew();
        }
        let kept = slot.is_some() && at_exit::announce(cpu);
        if !kept {
            give_back(cpu);
        }
        kept
    });
    MINE.set(cpu.map_or(NONE, |cpu| cpu.index() + 1));
    // ord: N70 alone: fences of later announcements under this number take it along, so whoever sees those sees it (`each_taken`)
    fence(Ordering::SeqCst);
    cpu
}

/// Sets the lowest clear bit (N1).
fn take_lowest() -> Option<CpuId> {
    for (index, word) in TAKEN.iter().enumerate() {
        // ord: N4 alone: a hint, the read-modify-write decides
        let mut bits = word.load(Ordering::Relaxed);
        while bits != u64::MAX {
            let free = bits.trailing_ones();
            let Some(cpu) = CpuId::new((index * 64) as u16 + free as u16) else { break };
            // ord: N5 pairs N6: what the slot's last thread did with its nodes comes before what we do
            let before = word.fetch_or(1 << free, Ordering::Acquire);
            if before & (1 << free) == 0 {
                return Some(cpu);
            }
            bits = before;
        }
    }
    None
}

fn give_back(cpu: CpuId) {
    let (word, bit) = place(cpu.index());
    // ord: N6 pairs N5, N66: what we did with our nodes comes before what the next thread does, and what we read before what a
    // writer does that finds us gone
    TAKEN[word].fetch_and(!bit, Ordering::Release);
}

/// Giving the number back when the thread exits.
///
/// A POSIX key is used and not a Rust destructor: keys are stored in the thread's own block (no allocation, so it works in
/// a signal handler), and their destructors run after Rust's and C++'s, which may still take locks.
mod at_exit {
    use super::{AtomicU32, CpuId, MINE, NONE, Ordering, c_void, give_back, readers};

    /// The key plus one, or zero while there is none.
    static KEY: AtomicU32 = AtomicU32::new(0);

    /// A thread that still reads when it exits is looked at in so many rounds of destructors. POSIX promises four; the last one is left to
    /// those who take away what code needs to run, such as the thread sanitizer.
    const ROUNDS: usize = 3;

    /// Arranges that `cpu` is given back when the calling thread exits. `false` if the system cannot.
    pub(super) fn announce(cpu: CpuId) -> bool {
        announce_in(cpu, 1)
    }

    fn announce_in(cpu: CpuId, round: usize) -> bool {
        let Some(key) = key() else { return false };
        let value = core::ptr::without_provenance::<c_void>(usize::from(cpu.index()) + 1 + (round << 16));
        // SAFETY: the key was made by `pthread_key_create` and is never deleted once published.
        unsafe { libc::pthread_setspecific(key, value) == 0 }
    }

    pub(super) fn prepare() {
        key();
    }

    fn key() -> Option<libc::pthread_key_t> {
        // ord: N7 alone: the key is an integer, nothing hangs on it
        let known = KEY.load(Ordering::Relaxed);
        if known != 0 {
            return Some(known - 1);
        }
        let mut fresh: libc::pthread_key_t = 0;
        // SAFETY: `fresh` is a valid place for the key, and `thread_exits` has the signature of a key's destructor.
        if unsafe { libc::pthread_key_create(&raw mut fresh, Some(thread_exits)) } != 0 {
            return None;
        }
        // ord: N8 alone: the key is an integer, nothing hangs on it
        match KEY.compare_exchange(0, fresh + 1, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(fresh),
            Err(first) => {
                // SAFETY: `fresh` was made above and no value was stored under it.
                unsafe { libc::pthread_key_delete(fresh) };
                Some(first - 1)
            }
        }
    }

    extern "C" fn thread_exits(value: *mut c_void) {
        let (code, round) = (value.addr() as u16, value.addr() >> 16);
        let Some(cpu) = CpuId::new(code - 1) else { return };
        if readers::is_reading(cpu) {
            // A destructor that runs later may still release what it reads; after the last round the number is kept for good.
            if round < ROUNDS {
                announce_in(cpu, round + 1);
            }
            return;
        }
        MINE.set(NONE);
        give_back(cpu);
    }
}

/// Makes the key for thread exit, if it can be had.
pub(super) fn prepare() {
    at_exit::prepare();
}

impl Slot {
    /// The storage as locks of platform `Native<C>` see it. Those that count and those that do not share it: a context's nodes
    /// are in use by nesting level, whatever the lock.
    #[inline(always)]
    pub(super) fn percpu<C: Counting>(&'static self) -> &'static PerCpu<Native<C>> {
        let percpu = core::ptr::from_ref(&self.percpu).cast::<PerCpu<Native<C>>>();
        // SAFETY: `PerCpu` and its nodes are `repr(C)` and made of cells of the platform only, which are the same types in
        // `Native<C>` for every `C`; so both types have the same layout and the same validity.
        unsafe { &*percpu }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_core::RawLock;
    use stanchion_core::pv_qspin::{Hybrid, PvQSpinLock};
    use std::sync::LazyLock;

    #[test]
    fn a_thread_keeps_its_number_and_returns_it_when_it_exits() {
        let mine = this_cpu().expect("few threads");
        assert_eq!(this_cpu(), Some(mine));
        let theirs = std::thread::spawn(|| this_cpu().expect("few threads")).join().expect("no panic");
        assert_ne!(mine, theirs);
        // Numbers are reused: many short-lived threads stay within the few that run at once (other tests run beside).
        let highest = (0..300)
            .map(|_| {
                std::thread::spawn(|| this_cpu().expect("few threads").index()).join().expect("no panic")
            })
            .max();
        assert!(highest < Some(64), "300 threads one after another reached slot {highest:?}");
    }

    #[test]
    fn who_gets_the_number_of_another_is_new() {
        static LOCK: LazyLock<PvQSpinLock<Native<Silent>, Hybrid>> = LazyLock::new(RawLock::new);
        let waits = || {
            LOCK.acquire();
            LOCK.release();
            let me = this_cpu().expect("few threads");
            (!slot(me).percpu.is_new()).then_some(me)
        };
        // It may come after the release, and then has not spun.
        let used = (0..100).find_map(|_| {
            LOCK.acquire();
            let waiter = std::thread::spawn(waits);
            std::thread::sleep(core::time::Duration::from_millis(20));
            LOCK.release();
            waiter.join().expect("no panic")
        });
        let used = used.expect("a waiter spins");
        assert_eq!(is_new_under(used, 60), Some(true));
    }

    /// Whether a new thread with this number is new. Numbers are handed out from the lowest; each thread that gets another one keeps it
    /// while the next one tries.
    fn is_new_under(used: CpuId, tries: u32) -> Option<bool> {
        let body = move || {
            let me = this_cpu()?;
            let new = slot(me).percpu.is_new();
            if me == used { Some(new) } else { is_new_under(used, tries.checked_sub(1)?) }
        };
        std::thread::spawn(body).join().expect("no panic")
    }
}
