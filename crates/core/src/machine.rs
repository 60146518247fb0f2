//! What a lock may ask of the machine under it.
//!
//! A *world* is one implementation of [`Machine`]: OS threads with futexes, a simulated machine, a model
//! checker, vCPUs of a bare-metal guest. Locks name nothing else, so the same text runs in all of them.
use crate::events::Event;
use crate::numbers::{CpuId, NodeId};
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use crate::tunables::Tunable;

/// One shared cell of type `T`, always accessed at its own size.
pub trait Atomic<T: Copy + Eq>: Send + Sync + 'static {
    /// A cell holding `value`.
    fn new(value: T) -> Self;
    /// Reads the cell.
    fn load(&self, order: impl LoadOrder) -> T;
    /// Writes the cell.
    fn store(&self, value: T, order: impl StoreOrder);
    /// Writes `value` and returns what was there.
    fn swap(&self, value: T, order: impl RmwOrder) -> T;
    /// Writes `new` if the cell holds `current`; the error is what it held instead. Never fails spuriously.
    fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: impl RmwOrder,
        failure: impl LoadOrder,
    ) -> Result<T, T>;
    /// Adds with wrap-around and returns what was there.
    fn fetch_add(&self, value: T, order: impl RmwOrder) -> T;

    /// Spins until `done` accepts the value, and returns that value. `order` is the ordering of the accepted
    /// load.
    fn wait_until(&self, order: impl LoadOrder, done: impl FnMut(T) -> bool) -> T;

    /// As [`Atomic::wait_until`], but gives up after `polls` polls with the last value as error.
    fn wait_until_polls(
        &self,
        polls: u32,
        order: impl LoadOrder,
        done: impl FnMut(T) -> bool,
    ) -> Result<T, T>;

    /// Waits for a value that another context writes next, with a few instructions at most before it: a link,
    /// an answer. `order` is as for [`Atomic::wait_until`], which is for what others have to do first.
    ///
    /// That context may have lost its CPU just then, perhaps to the caller, and perhaps for as long as the
    /// caller is there to run. So this spins, then gives way to its equals, and then to everybody.
    #[inline]
    #[track_caller]
    fn wait_briefly<P: Machine>(&self, order: impl LoadOrder, done: impl FnMut(T) -> bool) -> T {
        wait_briefly::<P, T, Self>(self, order, done)
    }

    /// What the cell holds, for reports and debug checks. Orders nothing, and is no access as far as a
    /// simulated machine is concerned: it costs no time there, so that a debug build runs the same simulation
    /// as a release build.
    fn peek(&self) -> T;

    /// Says that only the calling context, and its handlers, may ever touch the cell: it is about to. A world
    /// that knows its contexts fails if another one says so, too.
    #[inline(always)]
    fn is_private(&self) {}

    /// Hints that this context is about to read the cell. May do nothing.
    #[inline(always)]
    fn prefetch_read(&self) {}

    /// Hints that this context is about to write the cell's line. May do nothing.
    #[inline(always)]
    fn prefetch_write(&self) {}
}

/// How often [`Atomic::wait_briefly`] looks before it gives way: some microseconds. A line has moved ten
/// times by then, also through an interrupt of its writer's; and it is not much beside what a context loses
/// that gives its CPU away.
const BRIEF_POLLS: u32 = 1 << 8;
/// How often it yields. One is enough where the writer is its equal and next in line, some more where others
/// are in line, too. If none of them helped, the writer waits for a CPU elsewhere, or is less urgent, and
/// gets nothing from yields.
const BRIEF_YIELDS: u32 = 8;
/// For how long it sleeps at a time, in nanoseconds. The writer needs less than one microsecond once it has
/// the CPU. A shorter sleep is not to be had from systems that let timers be 50 us late.
const BRIEF_DOZE: u32 = 50_000;

/// [`Atomic::wait_briefly`], for worlds that have a form of their own and want this one sometimes.
#[inline]
pub fn wait_briefly<P: Machine, T: Copy + Eq, A: Atomic<T> + ?Sized>(
    cell: &A,
    order: impl LoadOrder,
    mut done: impl FnMut(T) -> bool,
) -> T {
    let mut left = BRIEF_YIELDS;
    loop {
        if let Ok(value) = cell.wait_until_polls(BRIEF_POLLS, order, &mut done) {
            return value;
        }
        if left > 0 {
            left -= 1;
            P::yield_slice();
        } else {
            P::doze(BRIEF_DOZE);
        }
    }
}

/// A cell that can be made in a constant, so that a lock can stand in a `static`.
///
/// Not every world has one (a model checker's cells register themselves when they are made).
pub trait ConstAtomic<T: Copy + Eq>: Atomic<T> {
    /// A cell holding zero.
    const ZERO: Self;
    /// A cell holding one.
    const ONE: Self;
    /// A cell with all bits set.
    const ONES: Self;
}

/// How a release has ended; see [`Machine::release_then_look`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Released {
    /// The lock is released, and there was no mark.
    Unmarked,
    /// The lock is released, and there is a mark.
    Marked,
    /// There is a mark, and the lock is still held.
    Held,
}

/// The machine under a lock: one implementation a world.
///
/// All functions are static, as in a kernel: a context is always *on* its machine.
pub trait Machine: Sized + Send + Sync + 'static {
    /// An 8-bit cell.
    type U8: Atomic<u8>;
    /// A 16-bit cell.
    type U16: Atomic<u16>;
    /// A 32-bit cell.
    type U32: Atomic<u32>;
    /// A cell as wide as an address. No lock word has one: it stands in the storage of contexts.
    type Usize: Atomic<usize>;
    /// The storage of this world. What locks ask of it is theirs to say: see [`Domain`](crate::Domain).
    type Domain;
    /// A moment at which a wait is given up.
    type Deadline: Copy;

    /// Whether [`Machine::count`] does anything.
    const COUNTS: bool = true;

    /// Whether this world goes through schedules one by one. Limits are small then, and soon reached.
    const EXPLORES: bool = false;

    /// In one of how many acquisitions a lock does what it does in one of 16, less one: 0 or 15.
    const SELDOM: u8 = if Self::EXPLORES { 0 } else { 15 };

    /// Gives `f` the storage of all contexts.
    fn with_domain<R>(f: impl FnOnce(&Self::Domain) -> R) -> R;

    /// The number of the calling context; `None`: all are taken, and the lock does without a queue node.
    fn this_cpu() -> Option<CpuId>;

    /// The NUMA node that the calling context runs on now.
    fn numa_node() -> u16;

    /// Whether the calling context is one that must not be made to wait behind others: an interrupt handler,
    /// a real-time task.
    fn is_priority() -> bool {
        false
    }

    /// Whether the machine has more than one NUMA node. Where it has not, a NUMA-aware lock does without its
    /// own part.
    #[inline(always)]
    fn is_numa() -> bool {
        true
    }

    /// The NUMA node that `cpu` was last known to run on; the caller's own if that is unknown.
    fn numa_node_of(cpu: CpuId) -> u16 {
        let _ = cpu;
        Self::numa_node()
    }

    /// What a tunable is set to.
    #[inline]
    fn tunable(tunable: Tunable) -> u32 {
        tunable.default()
    }

    /// Whether paravirtual locks may halt. Else their waiters spin, as with the kernel's `nopvspin`.
    #[inline]
    fn paravirt() -> bool {
        true
    }

    /// How often `cpu` was put on or taken off a CPU, at least modulo 2: **odd while it is known not to
    /// run**.
    ///
    /// The use: sample the count, re-read the reason for giving up the slice, then
    /// [`confer`](Machine::confer) with the sampled count.
    fn yield_count(cpu: CpuId) -> u32 {
        u32::from(Self::is_preempted(cpu))
    }

    /// Gives the rest of this context's slice to `cpu`, if its count is still `count`; else does nothing, or
    /// yields to anybody where the system cannot do it.
    fn confer(cpu: CpuId, count: u32) {
        let _ = (cpu, count);
        Self::yield_slice();
    }

    /// Nanoseconds since some fixed moment; never runs backwards on one context.
    fn now() -> u64;

    /// Lets about `nanos` nanoseconds pass without giving up the CPU, leaving the memory system alone.
    fn relax(nanos: u32);

    /// Offers the rest of this context's slice to whoever can use it (POWER: confer to any; POSIX:
    /// `sched_yield`).
    fn yield_slice();

    /// Gives the CPU away for about `nanos` nanoseconds, also to less urgent contexts. May return early.
    fn doze(nanos: u32) {
        let _ = nanos;
        Self::yield_slice();
    }

    /// A fence between all earlier and all later accesses of this context.
    fn fence(order: impl FenceOrder);

    /// Keeps the compiler from moving accesses across. Orders them for interrupts of the same context only.
    fn compiler_barrier();

    /// The light side of an asymmetric store-buffering pair: stores `value` to `first` (release), then loads
    /// `then`.
    ///
    /// Pairs with [`Machine::heavy_barrier`]: if a context stores to `then`, passes a heavy barrier that
    /// returned `true`, and then loads `first`, at least one of the two sees the other's store. If the heavy
    /// side does not see the light one's, then the light one also sees from there on what came before the
    /// heavy one's store, if that was a release. The light side may be as cheap as a compiler barrier; worlds
    /// without an asymmetric fence use a full one on both sides.
    fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
        first: &impl Atomic<T>,
        value: T,
        then: &impl Atomic<U>,
    ) -> U;

    /// The heavy side of the pair described at [`Machine::store_then_load`].
    ///
    /// `false` means that the barrier could not be had: the caller must not rely on being noticed (do not
    /// halt).
    #[must_use]
    fn heavy_barrier() -> bool;

    /// As [`Machine::store_then_load`] of a release that must wake somebody if `then` has one of `marks` set:
    /// stores `value` to `first` and looks for marks.
    ///
    /// In a world in which a lock may be gone as soon as it is released, marks are looked for *before* the
    /// store, in one step with it; where there are some, nothing is stored.
    #[inline(always)]
    #[track_caller]
    fn release_then_look(first: &Self::U8, value: u8, then: &Self::U8, marks: u8) -> Released {
        if Self::store_then_load(first, value, then) & marks == 0 {
            Released::Unmarked
        } else {
            Released::Marked
        }
    }

    /// For worlds whose [`Machine::release_then_look`] may store nothing: the same with a full fence in place
    /// of the light side. Whoever stores to `then`, passes one and loads `first` needs no heavy barrier.
    #[inline(always)]
    #[track_caller]
    fn release_fenced_then_look(first: &Self::U8, value: u8, then: &Self::U8, marks: u8) -> Released {
        Self::release_then_look(first, value, then, marks)
    }

    /// Keeps the `value` that the caller has just given a cell by a read-modify-write, for its own
    /// [`Machine::kept`]: a load right behind that waits until it is done. A world may keep nothing.
    #[inline(always)]
    fn keep(cell: &Self::U8, value: u8) {
        let _ = (cell, value);
    }

    /// What the caller kept last, if that was of this cell. Others may have changed the cell since.
    #[inline(always)]
    fn kept(cell: &Self::U8) -> Option<u8> {
        let _ = cell;
        None
    }

    /// The moment so many nanoseconds from now.
    fn after(nanos: u64) -> Self::Deadline;

    /// How many nanoseconds are left until the deadline; 0 once it has passed.
    fn remaining(until: &Self::Deadline) -> u64;

    /// Tries `attempt` until it succeeds, which is `true`, or the deadline has passed; at least once.
    fn try_until(until: &Self::Deadline, mut attempt: impl FnMut() -> bool) -> bool {
        loop {
            if attempt() {
                return true;
            }
            if Self::remaining(until) == 0 {
                return false;
            }
            Self::yield_slice();
        }
    }

    /// Where the calling context runs: a number, not zero, of the CPU that it shares with others. Contexts
    /// with one number cannot run at the same time. Worlds that do not know give each context a number of its
    /// own.
    fn home() -> u32;

    /// How urgent the calling context is: 0, or its real-time priority. Asked for before it sleeps.
    fn priority() -> u8 {
        0
    }

    /// Sleeps while `cell`, which is that of `node`, holds `value`, until [`Machine::wake`] or the deadline.
    /// May return at any time. No wake-up that is sent after the comparison is lost, and the comparison and
    /// whoever is woken see what came before earlier wake-ups.
    fn sleep(node: NodeId, cell: &Self::U32, value: u32, until: Option<&Self::Deadline>);

    /// Wakes the context that sleeps with `node`. Harmless if it does not, or if the node is another
    /// context's by now.
    fn wake(node: NodeId);

    /// Gives the CPU away for a while: until a node is given back, if this world can tell, or for some time;
    /// until the deadline at the latest.
    fn nap(_until: Option<&Self::Deadline>) {
        Self::yield_slice();
    }

    /// Halts the calling context while `cell` holds `value`, until it is kicked.
    ///
    /// Returns at once if the cell holds another value. Loses no kick that is sent after the comparison; one
    /// that was sent before it may end this halt, or be forgotten. May return spuriously at any time; in
    /// particular, a halt in an interrupt handler ends the halt that it interrupted, also one that returns at
    /// once. A handler that does not halt need not end it.
    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T);

    /// As [`Machine::halt_while`], until the deadline at the latest.
    fn halt_while_until<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, until: &Self::Deadline);

    /// Wakes context `cpu` if it is halted, or about to and has made its comparison. On one that runs it is
    /// harmless: its next halt may return at once.
    fn kick(cpu: CpuId);

    /// Whether `cpu` is known not to run at this moment. `false` also stands for "unknown".
    fn is_preempted(cpu: CpuId) -> bool;

    /// Publishes where the calling context runs, for [`Machine::is_preempted`]; called from waiting loops.
    fn publish_running() {}

    /// Counts an event of the calling context; nothing, and no code, where events are off.
    #[inline(always)]
    fn count(event: Event) {
        Self::count_many(event, 1);
    }

    /// Counts an event if `happened` says so, which is asked in worlds that count only.
    #[inline(always)]
    fn count_if(event: Event, happened: impl FnOnce() -> bool) {
        if Self::COUNTS && happened() {
            Self::count(event);
        }
    }

    /// Counts an event so many times.
    #[inline(always)]
    fn count_many(event: Event, times: u32) {
        let _ = (event, times);
    }
}

/// The time of [`Machine::now`] in microseconds, which wraps after 71 minutes.
#[inline]
pub fn micros<P: Machine>() -> u32 {
    (P::now() / 1_000) as u32
}

/// Of this time and the deadline, if there is one, the one that comes first.
pub(crate) fn sooner<'a, P: Machine>(
    time: &'a P::Deadline,
    until: Option<&'a P::Deadline>,
) -> &'a P::Deadline {
    // Time that passes between the two looks counts for the deadline.
    until.filter(|until| P::remaining(time) > P::remaining(until)).unwrap_or(time)
}

/// Wakes the context whose number plus one a release has found. Of the lock, nothing is touched.
#[cold]
pub(crate) fn kick_numbered<P: Machine>(code: u16) {
    if let Some(cpu) = code.checked_sub(1).and_then(CpuId::new) {
        P::count(Event::RwKick);
        P::kick(cpu);
    }
}
