//! The native world: an execution context is an OS thread, halting and kicking is a futex.
mod atomics;
mod barrier;
mod chunks;
mod classes;
mod counters;
mod destroyable;
#[cfg(feature = "family")]
mod family;
#[cfg(not(feature = "family"))]
#[path = "no_family.rs"]
mod family;
#[cfg(feature = "family")]
mod family_storage;
#[cfg(not(feature = "family"))]
#[path = "no_family_storage.rs"]
mod family_storage;
mod kept;
mod kinds;
pub mod nodes;
mod parker;
mod readers;
mod running;
mod slots;
pub mod ticks;
mod topology;
mod tuned;
pub mod watch;

pub use atomics::{Cell8, Cell16, Cell32, CellUsize};
pub use classes::Class;
pub use kinds::{
    Counted, CountedDestroyable, Counting, Destroyable, Looking, Native, NativeDomain, Observed, Silent,
};

use crate::deadline::Deadline;
use crate::os;
use core::sync::atomic::{Ordering, compiler_fence, fence};
use stanchion_core::nodes::WaitNode;
use stanchion_core::order::{FenceOrder, Relaxed};
use stanchion_core::{Atomic, CpuId, Domain, Event, Machine, NodeId, Released, Tunable};

pub(crate) use counters::{reset as reset_events, total as total_event};
pub(crate) use family::{describe_nodes, tail_name};
pub(crate) use tuned::{get as tunable, paravirt, set as set_tunable, set_paravirt};

impl<C: Counting> Domain<Native<C>> for NativeDomain {
    type Readers = &'static Class;

    #[inline(always)]
    fn readers(&self) -> &&'static Class {
        classes::common()
    }

    #[inline]
    fn lease(&self) -> Option<NodeId> {
        nodes::lease()
    }

    #[inline]
    fn give_back(&self, node: NodeId) {
        nodes::give_back(node);
    }

    #[inline(always)]
    fn wait_node(&self, node: NodeId) -> &WaitNode<Native<C>> {
        let node = core::ptr::from_ref(nodes::node(node)).cast::<WaitNode<Native<C>>>();
        // SAFETY: `WaitNode` is `repr(C)` and made of cells of the platform only, which are the same types in
        // `Native<C>` for every `C`; so both types have the same layout and the same validity.
        unsafe { &*node }
    }
}

// SAFETY: cells are the processor's atomics with the orderings that they are given, slot numbers are distinct
// among living threads (IT1), and storage is one static table.
unsafe impl<C: Counting> crate::SoundPlatform for Native<C> {}

impl<C: Counting> Machine for Native<C> {
    type U8 = Cell8;
    type U16 = Cell16;
    type U32 = Cell32;
    type Usize = CellUsize;
    type Domain = NativeDomain;
    type Deadline = Deadline;

    const COUNTS: bool = C::COUNTS;

    #[inline(always)]
    fn release_then_look(first: &Cell8, value: u8, then: &Cell8, marks: u8) -> Released {
        if C::DESTROYABLE {
            return destroyable::release_unless_marked(first, value, then, marks);
        }
        if barrier::store_then_load(first, value, then) & marks == 0 {
            Released::Unmarked
        } else {
            Released::Marked
        }
    }

    #[inline(always)]
    fn release_fenced_then_look(first: &Cell8, value: u8, then: &Cell8, marks: u8) -> Released {
        destroyable::release_together(first, value, then, marks)
    }

    #[inline(always)]
    fn keep(cell: &Cell8, value: u8) {
        if !C::DESTROYABLE {
            kept::keep(cell, value);
        }
    }

    #[inline(always)]
    fn kept(cell: &Cell8) -> Option<u8> {
        if C::DESTROYABLE { None } else { kept::kept(cell) }
    }

    fn after(nanos: u64) -> Deadline {
        Deadline::after(core::time::Duration::from_nanos(nanos))
    }

    fn remaining(until: &Deadline) -> u64 {
        until.remaining()
    }

    fn try_until(until: &Deadline, attempt: impl FnMut() -> bool) -> bool {
        crate::deadline::acquire_until(until, attempt)
    }

    #[inline]
    fn home() -> u32 {
        os::cpu().map_or_else(os::some_number, |cpu| cpu.wrapping_add(1))
    }

    fn priority() -> u8 {
        os::priority()
    }

    fn sleep(node: NodeId, cell: &Cell32, value: u32, until: Option<&Deadline>) {
        if C::WATCHES {
            watch::parked();
        }
        if C::LOOKS && until.is_none() {
            return watch::sleep(nodes::node(node), value);
        }
        // EINTR, EAGAIN and a deadline that has passed are returns at any time.
        os::wait(&cell.0, value, until);
    }

    fn wake(node: NodeId) {
        if C::WATCHES {
            watch::kicked();
        }
        let began = if C::COUNTS { running::nanos() } else { 0 };
        wake_at(nodes::node(node).cell());
        if C::COUNTS {
            C::count(Event::PvLatencyKick, running::nanos().wrapping_sub(began));
        }
    }

    fn nap(until: Option<&Deadline>) {
        nodes::nap(core::time::Duration::from_nanos(until.map_or(u64::MAX, Deadline::remaining)));
    }

    #[inline(always)]
    fn with_domain<R>(f: impl FnOnce(&NativeDomain) -> R) -> R {
        f(&NativeDomain(()))
    }

    #[inline(always)]
    fn this_cpu() -> Option<CpuId> {
        slots::this_cpu()
    }

    #[inline]
    fn numa_node() -> u16 {
        topology::here()
    }

    #[inline(always)]
    fn is_numa() -> bool {
        topology::is_numa()
    }

    fn numa_node_of(cpu: CpuId) -> u16 {
        // ord: N44 alone: a hint that may be out of date
        let runs_on = slots::slot(cpu).runs_on.load(Ordering::Relaxed);
        runs_on.checked_sub(1).and_then(topology::node_of).unwrap_or_else(topology::here)
    }

    #[inline]
    fn tunable(tunable: Tunable) -> u32 {
        tuned::get(tunable)
    }

    #[inline]
    fn paravirt() -> bool {
        paravirt()
    }

    #[inline]
    fn now() -> u64 {
        running::now()
    }

    #[inline]
    fn relax(nanos: u32) {
        running::relax(nanos);
    }

    fn yield_slice() {
        os::yield_slice();
    }

    fn doze(nanos: u32) {
        os::sleep(core::time::Duration::from_nanos(nanos.into()));
    }

    #[inline(always)]
    fn fence(order: impl FenceOrder) {
        fence(atomics::translate(order.kind()));
    }

    #[inline(always)]
    fn compiler_barrier() {
        // ord: N34 alone: orders this thread against its own signal handlers only
        compiler_fence(Ordering::SeqCst);
    }

    #[inline(always)]
    fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
        first: &impl Atomic<T>,
        value: T,
        then: &impl Atomic<U>,
    ) -> U {
        if C::DESTROYABLE
            && let Some(found) = destroyable::release(first, value, then)
        {
            return found;
        }
        barrier::store_then_load(first, value, then)
    }

    fn heavy_barrier() -> bool {
        if C::DESTROYABLE && destroyable::uses_sequences() {
            return destroyable::heavy_barrier();
        }
        barrier::heavy_barrier()
    }

    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        // ord: N35 alone: compared again under the parker's protocol, whose own orderings carry what the
        // kicker wrote
        slots::halt::<C>(|| cell.load(Relaxed) == value, None);
    }

    fn halt_while_until<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, until: &Deadline) {
        // ord: N86 alone: as N35, compared again under the parker's protocol
        slots::halt::<C>(|| cell.load(Relaxed) == value, Some(until));
    }

    fn kick(cpu: CpuId) {
        let slot = slots::slot(cpu);
        // A thread that is woken while no CPU is idle is put into the run queue of the CPU that wakes it.
        // ord: N43 alone: a hint, which the thread corrects itself once it runs
        slot.runs_on.store(running::here(), Ordering::Relaxed);
        if C::WATCHES {
            watch::kicked();
        }
        if !C::COUNTS {
            return slot.parker.kick();
        }
        let began = running::nanos();
        // ord: N57 alone: a statistic orders nothing
        slot.kicked_at.store(began.max(1), Ordering::Relaxed);
        slot.parker.kick();
        C::count(Event::PvLatencyKick, running::nanos().wrapping_sub(began));
    }

    fn is_preempted(cpu: CpuId) -> bool {
        // ord: N36 alone: a hint that may be out of date
        let runs_on = slots::slot(cpu).runs_on.load(Ordering::Relaxed);
        runs_on != 0 && runs_on == running::here() && slots::number_if_any() != Some(cpu)
    }

    fn publish_running() {
        let Some(cpu) = slots::number_if_any() else { return };
        let (cell, here) = (&slots::slot(cpu).runs_on, running::here());
        // ord: N37 alone: a hint; read first so that the line is written only after a migration
        if cell.load(Ordering::Relaxed) != here {
            // ord: N38 alone: a hint that may be out of date
            cell.store(here, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn count_many(event: Event, times: u32) {
        C::count(event, times);
    }
}

os::at_load!(at_load);

/// Settles, when the program is loaded and has one thread, what would be slow or unsafe in a signal handler
/// later.
extern "C" fn at_load() {
    barrier::settle();
    os::cpu_is_at_hand();
    os::prepare_clock();
    slots::prepare();
    topology::settle();
    tuned::settle();
}

/// Forgets what threads had in use that the child of a fork does not have. It is for the only thread of the
/// child, before there are others, if a lock may be used before libc calls this library's handler. Later
/// calls in the same process do nothing.
pub fn forget_other_threads() {
    slots::forked();
}

/// Makes releases of paravirtual locks use a full fence instead of the asymmetric one from now on, for
/// comparison.
pub fn force_fenced_release() {
    barrier::force_fences();
}

/// How this process does what the native world needs, for reports.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Releases pay for a compiler barrier only, because `membarrier` works.
    pub asymmetric_release: bool,
    /// Releases of [`Destroyable`] locks cost two stores, because restartable sequences and `membarrier` for
    /// them work.
    pub restartable_release: bool,
    /// The kernel keeps the CPU number of each thread in its restartable-sequences area.
    pub rseq: bool,
    /// Bytes of storage for each thread that ever waited, rounded up to whole slots.
    pub bytes_per_thread: usize,
}

/// How this process does what the native world needs.
pub fn facts() -> Facts {
    Facts {
        asymmetric_release: barrier::is_asymmetric(),
        restartable_release: destroyable::uses_sequences(),
        rseq: os::cpu_is_at_hand(),
        bytes_per_thread: size_of::<slots::Slot>(),
    }
}

/// Wakes the thread that sleeps at this cell of a node; for worlds that keep nodes of their own.
#[doc(hidden)]
pub fn wake_at(cell: &Cell32) {
    os::wake(&cell.0, 1);
}
