//! The platform of those threads: the native one, but with storage of each run's own, numbered by vCPU.
use super::{HERE, IN_HANDLER, MOST, here, me, stop_if_abandoned};
use core::sync::atomic::Ordering::Relaxed;
use stanchion::native::wake_at;
use stanchion::native::{Cell8, Cell16, Cell32, CellUsize, Native};
use stanchion_core::order::FenceOrder;
use stanchion_core::{Atomic, CpuId, Domain, Machine, NodeId};
use stanchion_family::platform::FixedDomain;

/// vCPUs as threads.
pub(crate) struct Threads;

/// The native platform that does not count.
type Os = Native;

impl Machine for Threads {
    type U8 = Cell8;
    type U16 = Cell16;
    type U32 = Cell32;
    type Usize = CellUsize;
    type Domain = FixedDomain<Self, MOST>;
    type Deadline = <Os as Machine>::Deadline;

    fn after(nanos: u64) -> Self::Deadline {
        Os::after(nanos)
    }

    fn remaining(until: &Self::Deadline) -> u64 {
        Os::remaining(until)
    }

    fn home() -> u32 {
        u32::from(here().1) + 1
    }

    fn sleep(node: NodeId, cell: &Cell32, value: u32, until: Option<&Self::Deadline>) {
        let began = Self::now();
        me().halts.fetch_add(1, Relaxed);
        Os::sleep(node, cell, value, until);
        me().halted_ns.fetch_add(Self::now() - began, Relaxed);
    }

    fn wake(node: NodeId) {
        me().kicks_sent.fetch_add(1, Relaxed);
        wake_at(here().0.domain.wait_node(node).cell());
    }

    fn with_domain<R>(f: impl FnOnce(&Self::Domain) -> R) -> R {
        f(&here().0.domain)
    }

    fn this_cpu() -> Option<CpuId> {
        HERE.get().and_then(|(_, vcpu)| CpuId::new(vcpu))
    }

    fn numa_node() -> u16 {
        here().1 % 2
    }

    fn numa_node_of(cpu: CpuId) -> u16 {
        cpu.index() % 2
    }

    fn is_priority() -> bool {
        IN_HANDLER.get() > 0
    }

    fn now() -> u64 {
        Os::now()
    }

    fn relax(nanos: u32) {
        Os::relax(nanos);
    }

    fn yield_slice() {
        stop_if_abandoned(here().0);
        Os::yield_slice();
    }

    fn fence(order: impl FenceOrder) {
        Os::fence(order);
    }

    fn compiler_barrier() {
        Os::compiler_barrier();
    }

    fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
        first: &impl Atomic<T>,
        value: T,
        then: &impl Atomic<U>,
    ) -> U {
        Os::store_then_load(first, value, then)
    }

    fn heavy_barrier() -> bool {
        Os::heavy_barrier()
    }

    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        let began = Self::now();
        me().halts.fetch_add(1, Relaxed);
        Os::halt_while(cell, value);
        me().halted_ns.fetch_add(Self::now() - began, Relaxed);
    }

    fn halt_while_until<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, until: &Self::Deadline) {
        let began = Self::now();
        me().halts.fetch_add(1, Relaxed);
        Os::halt_while_until(cell, value, until);
        me().halted_ns.fetch_add(Self::now() - began, Relaxed);
    }

    fn kick(cpu: CpuId) {
        me().kicks_sent.fetch_add(1, Relaxed);
        let target = &here().0.vcpus[usize::from(cpu.index())];
        Os::kick(*target.native.get().expect("who halts has come up"));
    }

    fn is_preempted(_cpu: CpuId) -> bool {
        false
    }
}
