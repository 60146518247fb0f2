//! Thread slots: each thread that ever waits gets a small number and keeps it as long as it lives.
//!
//! The lowest free number is handed out, so numbers stay dense and storage follows the largest number of
//! threads that waited at the same time. Everything here works inside a signal handler: no allocation, no
//! locks.
//!
//! Nothing is told when a thread ends: no thread-specific key is taken, and a thread may wait in its very
//! last destructor. Each number has its owner's thread id ([`OWNERS`]), and those who need numbers take back
//! those of threads that are no more. Once all below a goal are taken, whoever comes next asks the system
//! about each owner. The goal becomes half as much again as there are that live. So a number costs a few
//! system calls on average, and numbers stay below one and a half times as many threads as lived at a time,
//! and 16 more.
//!
//! Invariants:
//! - **IT1** A slot number belongs to at most one living thread. It is taken by an exchange of its free
//!   owner, and taken back only when the system says that the process has no thread of the owner's id. While
//!   the thread lives the system does not say so, as the id in `OWNERS` is the thread's own, in this process
//!   (IT3). If another thread gets the id of one that has ended, the number stays taken until that one has
//!   ended, too, which costs a number and no more. One thread at a time takes back, by an exchange of
//!   the id that it has asked about.
//! - **IT2** A thread whose number is being handed out has none yet: a signal handler that runs in between
//!   takes the path without a node.
//! - **IT3** Numbers are taken back only in the process to which all ids in `OWNERS` belong that may be of
//!   living threads ([`PROCESS`]). The child of a `fork` is that from the moment at which its only thread has
//!   put its new id there ([`forked`]). Where nobody says so (`_Fork`, raw `clone`, `vfork`) the process id
//!   is another one, unless ids come round: nothing is taken back, and what is handed out is so for good.
//! - **IT4** What a thread leaves in use is not taken back: nodes that stand in a queue, since it was
//!   cancelled there, and cells that say that it reads (`classes.rs`, IR2). The child of a `fork` uses none
//!   of the queues in which threads of its parent stood, so it takes back the nodes.
use super::chunks::{Chunks, Zeroed};
use super::family_storage::{self, InSlot};
use super::kinds::Counting;
use super::parker::Parker;
use super::running::nanos;
use super::{classes, watch};
use crate::deadline::Deadline;
use crate::os::{self, process, thread};
use core::cell::Cell;
use core::ops::Range;
use core::sync::atomic::{AtomicU16, AtomicU32, Ordering, fence};
use stanchion_core::{CpuId, Event};

/// What one thread owns in the native world. Two cache lines, so that neighbours do not share one, prefetcher
/// included.
#[repr(C, align(128))]
pub(super) struct Slot {
    pub(super) family: InSlot,
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

/// Each number's owner: its thread id, [`FREE`], or [`FOR_GOOD`] (IT1).
static OWNERS: [AtomicU32; CpuId::LIMIT as usize] = [const { AtomicU32::new(FREE) }; CpuId::LIMIT as usize];

const FREE: u32 = 0;
/// The owner of a number that is never taken back. No thread has this id.
const FOR_GOOD: u32 = u32::MAX;

/// The process whose threads the owners are (IT3); 0 is none.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Numbers below this are handed out before anybody looks who has ended.
static GOAL: AtomicU16 = AtomicU16::new(SPARE);

/// Below this there was no free number a moment ago.
static FROM: AtomicU16 = AtomicU16::new(0);

/// So many numbers more than there are threads the goal is at least.
const SPARE: u16 = 16;

/// The process in which somebody takes numbers back at this moment (IT1). Of another one that is nobody whom
/// this process has.
static SWEEPER: AtomicU32 = AtomicU32::new(0);

/// How many threads have found no number since the last one was handed out. Few of them look: it is a long
/// way.
static MISSES: AtomicU32 = AtomicU32::new(0);
const ONE_LOOK_IN: u32 = 256;

/// One more than the greatest number that was ever handed out.
static CONTEXTS: AtomicU16 = AtomicU16::new(0);

/// No number yet.
const NONE: u16 = 0;
/// A number is being handed out (IT2), or there was none to hand out a moment ago.
const BUSY: u16 = u16::MAX;

thread_local! {
    /// `cpu + 1`, [`NONE`] or [`BUSY`]. Constant and without a destructor: reading it never runs code, so it
    /// is safe in a signal handler and while the thread exits.
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
#[cfg(feature = "family")]
pub(super) fn all() -> impl Iterator<Item = (CpuId, &'static Slot)> {
    SLOTS.iter().filter_map(|(index, slot)| Some((CpuId::new(index as u16)?, slot)))
}

/// How many numbers can have been handed out: all are below this.
pub(super) fn contexts() -> u16 {
    // ord: N45 pairs N46: a context that published itself under a number did so after the number counted
    CONTEXTS.load(Ordering::Acquire)
}

/// Whether a thread has this number, or had it and nobody has taken it back.
#[cfg(feature = "family")]
pub(super) fn is_taken(cpu: CpuId) -> bool {
    // ord: N3 alone: only a report reads it
    owner(cpu).load(Ordering::Relaxed) != FREE
}

/// Shows `visit` each number that a living thread has, or that a thread left which read when it ended (see
/// `classes.rs`). A number that a thread got before the caller's last heavy barrier, or fence, is among them.
pub(super) fn each_taken(mut visit: impl FnMut(CpuId)) {
    for (cpu, owner) in all_owners() {
        // ord: N66 pairs N6: a thread that is gone read before we go on; its cell is not shown, so nothing
        // else would say so. Whom we must see the caller's heavy barrier decides, or its fence with the one
        // that follows a number being handed out
        if owner.load(Ordering::Acquire) != FREE {
            visit(cpu);
        }
    }
}

fn owner(cpu: CpuId) -> &'static AtomicU32 {
    &OWNERS[usize::from(cpu.index())]
}

/// The owners of all numbers that can have been handed out.
fn all_owners() -> impl Iterator<Item = (CpuId, &'static AtomicU32)> {
    (0..contexts()).filter_map(CpuId::new).map(|cpu| (cpu, owner(cpu)))
}

#[cold]
fn hand_out() -> Option<CpuId> {
    if MINE.get() == BUSY {
        return None; // IT2
    }
    MINE.set(BUSY);
    let cpu = take().filter(|&cpu| {
        // Whoever looks at all contexts looks at lower numbers as well, whose threads may not have come so
        // far.
        let slot = SLOTS.map_up_to(usize::from(cpu.index()));
        if let Some(slot) = slot {
            // ord: N46 pairs N45: the number counts once its storage exists, and before its context can block
            // anywhere
            CONTEXTS.fetch_max(cpu.index() + 1, Ordering::Release);
            // Where the number's last thread ran says nothing about this one.
            // ord: N47 alone: a hint that may be out of date
            slot.runs_on.store(0, Ordering::Relaxed);
        }
        if slot.is_none() {
            // ord: N7 alone: nothing was done under the number
            owner(cpu).store(FREE, Ordering::Relaxed);
        }
        slot.is_some()
    });
    MINE.set(cpu.map_or(NONE, |cpu| cpu.index() + 1));
    // ord: N70 alone: fences of later announcements under this number take it along, so whoever sees those
    // sees it (`each_taken`)
    fence(Ordering::SeqCst);
    cpu
}

/// Takes a free number for the calling thread (IT1).
fn take() -> Option<CpuId> {
    // ord: N8 alone: how often it is worth a look
    let misses = MISSES.load(Ordering::Relaxed);
    let found = if misses.is_multiple_of(ONE_LOOK_IN) { take_or_take_back() } else { None };
    // ord: N4 alone: as N8, a count that may be off
    MISSES.store(if found.is_some() { 0 } else { misses.wrapping_add(1) }, Ordering::Relaxed);
    found
}

fn take_or_take_back() -> Option<CpuId> {
    let process = process();
    // ord: SL1 alone: written while the process has one thread
    let is_known = PROCESS.load(Ordering::Relaxed) == process;
    // Read after the process: a fork in between, by the handler of a signal, has settled that nothing is
    // taken back (`forked`).
    let me = if is_known { thread() } else { FOR_GOOD };
    // ord: SL2 alone: a goal, and where to look first; any values are right ones
    let found = take_in(FROM.load(Ordering::Relaxed)..GOAL.load(Ordering::Relaxed), me);
    found.or_else(|| {
        if is_known {
            take_back(process);
        }
        take_in(0..CpuId::LIMIT, me)
    })
}

/// Takes the lowest free number of these.
fn take_in(numbers: Range<u16>, me: u32) -> Option<CpuId> {
    let found = numbers.filter_map(CpuId::new).find(|&cpu| {
        // ord: SL3 alone: a hint, the exchange decides
        owner(cpu).load(Ordering::Relaxed) == FREE
            // ord: N5 pairs N6: what the slot's last thread did with its nodes comes before what we do
            && owner(cpu).compare_exchange(FREE, me, Ordering::Acquire, Ordering::Relaxed).is_ok()
    })?;
    // ord: SL11 alone: as SL2, any value is a right one
    FROM.store(found.index() + 1, Ordering::Relaxed);
    Some(found)
}

/// Takes back the numbers of threads that are no more (IT1, IT4), and sets the goal anew.
fn take_back(process: u32) {
    // ord: SL4 pairs SL5: what the last one left taken is what we find
    if SWEEPER.swap(process, Ordering::Acquire) == process {
        return;
    }
    let mut kept: u16 = 0;
    for (cpu, owner) in all_owners() {
        // ord: SL6 alone: an owner that is not free stays until we change it, but for one that finds no
        // storage
        let id = owner.load(Ordering::Relaxed);
        if id == FREE {
            continue;
        }
        if id == FOR_GOOD || !has_ended(process, id) || is_in_use(cpu) {
            kept += 1;
        } else {
            // It may have been given back, and taken by another thread, since we looked.
            // ord: N6 pairs N5, N66: what the thread did with its nodes comes before what the next one does,
            // and what it read before what a writer does that finds it gone
            let _ = owner.compare_exchange(id, FREE, Ordering::Release, Ordering::Relaxed);
        }
    }
    // ord: SL12 alone: as SL2, any value is a right one
    FROM.store(0, Ordering::Relaxed);
    // ord: SL7 alone: a goal; any value is a right one
    GOAL.store(kept.saturating_add(SPARE.max(kept / 2)).min(CpuId::LIMIT), Ordering::Relaxed);
    // ord: SL5 pairs SL4: what we leave taken is what the next one finds
    SWEEPER.store(0, Ordering::Release);
}

/// Whether the process has no thread of this id.
fn has_ended(process: u32, id: u32) -> bool {
    let ended = os::has_ended(process, id);
    // ord: SL8 alone: what the thread did comes before what we do: on its way out the system passes a full
    // barrier (for `membarrier`, as it gives up its memory), and only then it is found no more
    fence(Ordering::SeqCst);
    ended
}

/// Whether something of the thread that had the number is in use still (IT4).
fn is_in_use(cpu: CpuId) -> bool {
    classes::is_reading(cpu) || slot(cpu).family.is_in_use()
}

/// The process is the child of a fork: its thread keeps its number (IT3). The others' are taken back as those
/// of threads that have ended, once it has forgotten in which queues they stood (IT4). No writer waits for
/// what any of them reads, though a cell may say so.
///
/// If the fork came while a number was handed out, in the handler of a signal, nobody knows which: nothing is
/// taken back in this process.
pub(super) fn forked() {
    let mine = number_if_any();
    // ord: SL13 alone: the process has one thread, or this was settled while it had one
    let is_settled = PROCESS.load(Ordering::Relaxed) == process()
        // ord: SL14 alone: as SL13, nobody else changes it meanwhile
        && mine.is_none_or(|cpu| owner(cpu).load(Ordering::Relaxed) == thread());
    if is_settled {
        return; // somebody's handler has called before, and there may be other threads by now
    }
    let known = if MINE.get() == BUSY {
        0
    } else {
        if let Some(cpu) = mine {
            // ord: SL10 alone: the process has one thread
            owner(cpu).store(thread(), Ordering::Relaxed);
        }
        process()
    };
    // ord: SL9 alone: as SL10, or, when the library is loaded, a number that is the same for all
    PROCESS.store(known, Ordering::Relaxed);
    let mut waited = false;
    for (cpu, _) in all_owners() {
        classes::forget_writers(cpu);
        if mine != Some(cpu) {
            waited |= slot(cpu).family.is_in_use();
            slot(cpu).family.forget();
        }
    }
    // Who sleeps where others look for him stands in a queue.
    if waited {
        let is_waiting = mine.is_some_and(|cpu| slot(cpu).family.is_in_use());
        family_storage::forget_sleepers(mine, is_waiting);
    }
}

/// Says whose the threads are, and asks to be told of forks. Without an answer, children are processes of
/// which nothing is known (IT3).
pub(super) fn prepare() {
    extern "C" fn in_child() {
        forked();
    }
    forked();
    os::on_fork(in_child);
}

/// Halts the calling thread while `still` says so, until it is kicked or the deadline has passed. May return
/// at any time.
pub(super) fn halt<C: Counting>(still: impl Fn() -> bool, until: Option<&Deadline>) {
    let Some(cpu) = this_cpu() else { return }; // only a context with a number can be kicked
    let slot = slot(cpu);
    if C::WATCHES {
        watch::parked();
    }
    slot.parker.halt_while(still, until);
    if C::COUNTS {
        // ord: N56 alone: a statistic orders nothing
        let kicked_at = slot.kicked_at.swap(0, Ordering::Relaxed);
        if kicked_at != 0 {
            C::count(Event::PvLatencyWake, nanos().wrapping_sub(kicked_at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_number_and_returns_it_when_it_exits() {
        let mine = this_cpu().expect("few threads");
        assert_eq!(this_cpu(), Some(mine));
        let theirs = std::thread::spawn(|| this_cpu().expect("few threads")).join().expect("no panic");
        assert_ne!(mine, theirs);
        // Numbers are reused: many short-lived threads stay within the few that run at once (other tests run
        // beside).
        let highest = (0..3000)
            .map(|_| {
                std::thread::spawn(|| this_cpu().expect("few threads").index()).join().expect("no panic")
            })
            .max();
        assert!(highest < Some(64), "3000 threads one after another reached slot {highest:?}");
    }
}
