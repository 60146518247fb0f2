//! vCPUs as the machine under a lock: halting is HLT, kicking an interrupt, a nested context an interrupt
//! handler.
use super::cells::{Cell8, Cell16, Cell32, CellUsize, translate};
use super::cpu::{Cpu, record, this};
use super::domain::{DOMAIN, GuestDomain};
use super::interrupts::ALL_BUT_KICKS;
use super::pause::pause;
use super::{apic, arch, clock, kvm, smp, timer};
use core::sync::atomic::{Ordering, compiler_fence, fence};
use stanchion_core::order::{FenceOrder, Relaxed, SeqCst};
use stanchion_core::{Atomic, CpuId, Machine, NodeId};

/// The world of this kernel.
#[derive(Debug)]
pub(crate) struct Guest;

impl Machine for Guest {
    type U8 = Cell8;
    type U16 = Cell16;
    type U32 = Cell32;
    type Usize = CellUsize;
    type Domain = GuestDomain;
    /// In nanoseconds of the kernel's clock.
    type Deadline = u64;

    fn after(nanos: u64) -> u64 {
        clock::now() + nanos
    }

    fn remaining(until: &u64) -> u64 {
        until.saturating_sub(clock::now())
    }

    /// Only the hypervisor knows who shares a CPU.
    fn home() -> u32 {
        u32::from(this().index()) + 1
    }

    /// With a deadline: a halt that the alarm ends, too. With interrupts disabled no alarm comes, so the vCPU
    /// polls.
    fn sleep(_node: NodeId, cell: &Cell32, value: u32, until: Option<&u64>) {
        match until {
            Some(until) => Self::halt_while_until(cell, value, until),
            None => Self::halt_while(cell, value),
        }
    }

    fn wake(node: NodeId) {
        if let Some(cpu) = node.context() {
            Self::kick(cpu);
        }
    }

    #[inline(always)]
    fn with_domain<R>(f: impl FnOnce(&GuestDomain) -> R) -> R {
        f(&DOMAIN)
    }

    #[inline(always)]
    fn this_cpu() -> Option<CpuId> {
        CpuId::new(this().index())
    }

    #[inline(always)]
    fn numa_node() -> u16 {
        this().node.get()
    }

    fn is_priority() -> bool {
        this().depth.get() > 0
    }

    #[inline]
    fn is_numa() -> bool {
        smp::nodes() > 1
    }

    fn numa_node_of(cpu: CpuId) -> u16 {
        record(cpu.index()).node.get()
    }

    fn confer(cpu: CpuId, count: u32) {
        if kvm::has_yield() && Self::yield_count(cpu) == count {
            kvm::yield_to(record(cpu.index()).apic.get());
        } else {
            Self::yield_slice();
        }
    }

    #[inline]
    fn now() -> u64 {
        clock::now()
    }

    #[inline]
    fn relax(nanos: u32) {
        let until = clock::now() + u64::from(nanos);
        loop {
            pause();
            if clock::now() >= until {
                return;
            }
        }
    }

    /// No hypervisor lets a guest yield to just anybody. The hint of a spinning vCPU is all there is:
    /// hardware that notices many of them tells the hypervisor.
    #[inline]
    fn yield_slice() {
        pause();
    }

    #[inline(always)]
    fn fence(order: impl FenceOrder) {
        fence(translate(order.kind()));
    }

    #[inline(always)]
    fn compiler_barrier() {
        // ord: AB12 alone: orders this vCPU against its own handlers only
        compiler_fence(Ordering::SeqCst);
    }

    /// With a full barrier: interrupting all other vCPUs from the heavy side, the kernel's counterpart of
    /// `membarrier`, would have to wait for those that do not run.
    #[inline(always)]
    fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
        first: &impl Atomic<T>,
        value: T,
        then: &impl Atomic<U>,
    ) -> U {
        // ord: AB13 pairs AB15: either we see the mark, or the heavy side sees our store
        first.swap(value, SeqCst);
        // ord: AB14 alone: after AB13 in the single total order
        then.load(SeqCst)
    }

    fn heavy_barrier() -> bool {
        // ord: AB15 pairs AB13: the mark is in the single total order before the look at the lock
        fence(Ordering::SeqCst);
        true
    }

    /// Compares with interrupts disabled: a kick that is sent after that stands by, and ends the halt. The
    /// handler of a kick notes that there was one, so that one that came before the comparison makes the halt
    /// return, too.
    ///
    /// A context with interrupts disabled stays undisturbed: while it halts, everything but kicks has to
    /// wait.
    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        let cpu = this();
        let enabled = arch::disable_interrupts();
        // ord: AB16 alone: whoever changed the cell kicks; the interrupt makes us look again
        if !cpu.kicked.get() && cell.load(Relaxed) == value {
            let class = arch::task_priority();
            if !enabled {
                arch::set_task_priority(ALL_BUT_KICKS);
            }
            let began = clock::now();
            arch::halt();
            let over = clock::now();
            if !enabled {
                arch::set_task_priority(class);
            }
            cpu.meters.halted(began, over);
            let kicked_at = cpu.meters.kicked_at.drain();
            if kicked_at != 0 && (cpu.kicked.get() || kvm::has_kick()) {
                cpu.meters.woken(over.saturating_sub(kicked_at.max(began)));
            }
        } else {
            cpu.meters.kicked_at.drain();
        }
        cpu.kicked.set(false);
        if enabled {
            arch::enable_interrupts();
        }
    }

    fn halt_while_until<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, until: &u64) {
        if timer::set_alarm(this(), *until) {
            Self::halt_while(cell, value);
        } else {
            pause();
        }
        this().alarm.set(0);
    }

    fn kick(cpu: CpuId) {
        let other = record(cpu.index());
        this().meters.kicks_sent.take(1);
        other.meters.kicked_at.set(clock::now().max(1));
        rouse(other);
    }

    fn is_preempted(cpu: CpuId) -> bool {
        kvm::is_preempted(record(cpu.index()))
    }
}

/// Ends a vCPU's halt, or its next one, and counts nothing: what is no lock's kick must not show up as one.
pub(super) fn rouse(other: &Cpu) {
    if kvm::has_kick() {
        kvm::kick(other.apic.get());
    } else {
        apic::kick(other.apic.get());
    }
}
