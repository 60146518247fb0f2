//! The model's platform.
use crate::cells::{CellU8, CellU16, CellU32, CellUsize, loom_order};
use crate::policies;
use crate::weaken::ordering;
use crate::world::{self, World};
use core::panic::Location;
use core::sync::atomic::Ordering;
use stanchion_core::order::{FenceOrder, Kind, Relaxed, Release};
use stanchion_core::{Atomic, CpuId, Event, Machine, NodeId, Tunable};

/// The world in which loom explores every order of steps, and for each load every store that it may read.
#[derive(Debug)]
pub struct Model;

impl Machine for Model {
    type U8 = CellU8;
    type U16 = CellU16;
    type U32 = CellU32;
    type Usize = CellUsize;
    type Domain = World;
    /// In nanoseconds of the execution's clock.
    type Deadline = u64;

    const EXPLORES: bool = true;

    fn after(nanos: u64) -> u64 {
        Self::now() + nanos
    }

    fn remaining(until: &u64) -> u64 {
        until.saturating_sub(Self::now())
    }

    /// Contexts of a NUMA node share a CPU.
    fn home() -> u32 {
        u32::from(Self::numa_node()) + 1
    }

    fn priority() -> u8 {
        let (world, me) = world::here();
        u8::from(world.settings().urgent & (1 << me) != 0)
    }

    /// A sleep with a deadline may end at once: a moment passes between any two steps.
    fn sleep(_node: NodeId, cell: &CellU32, value: u32, until: Option<&u64>) {
        let (world, me) = world::here();
        world.begin_halt(me);
        if cell.load(Relaxed) == value {
            match until {
                Some(_) => world::pause_for_a_time(),
                None => world.wait_to_be_woken(me, Ordering::Acquire),
            }
        }
    }

    fn wake(node: NodeId) {
        if let Some(cpu) = node.context() {
            world::here().0.wake_sleeper(cpu.index().into());
        }
    }

    fn with_domain<R>(f: impl FnOnce(&World) -> R) -> R {
        f(&world::here().0)
    }

    fn this_cpu() -> Option<CpuId> {
        let (world, me) = world::here();
        CpuId::new(me as u16).filter(|_| world.settings().numbered)
    }

    fn numa_node() -> u16 {
        let (world, me) = world::here();
        me as u16 % world.settings().nodes
    }

    fn is_priority() -> bool {
        let (world, me) = world::here();
        world.settings().priority && world.interrupts(me).running()
    }

    fn is_numa() -> bool {
        world::here().0.settings().nodes > 1
    }

    fn numa_node_of(cpu: CpuId) -> u16 {
        cpu.index() % world::here().0.settings().nodes
    }

    fn tunable(tunable: Tunable) -> u32 {
        policies::tuned(tunable)
    }

    /// Without heavy barriers, nobody can be sure to be woken.
    fn paravirt() -> bool {
        !world::here().0.has_no_barriers()
    }

    fn now() -> u64 {
        world::here().0.now()
    }

    fn relax(_nanos: u32) {
        world::pause();
    }

    fn yield_slice() {
        world::yield_slice();
    }

    #[track_caller]
    fn fence(order: impl FenceOrder) {
        if let Some(kind) = ordering(Location::caller(), "fence", order.kind()) {
            loom::sync::atomic::fence(loom_order(kind));
        }
    }

    fn compiler_barrier() {}

    #[track_caller]
    fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
        first: &impl Atomic<T>,
        value: T,
        then: &impl Atomic<U>,
    ) -> U {
        let at = Location::caller();
        match ordering(at, "store_then_load", Kind::Release) {
            Some(Kind::Release) => first.store(value, Release),
            _ => first.store(value, Relaxed),
        }
        let is_bare = world::here().0.has_no_barriers();
        if !is_bare && ordering(at, "store_then_load.fence", Kind::SeqCst).is_some() {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
        then.load(Relaxed)
    }

    #[track_caller]
    fn heavy_barrier() -> bool {
        let at = Location::caller();
        let (world, me) = world::here();
        if world.barrier_fails(me) {
            return false;
        }
        if ordering(at, "heavy_barrier", Kind::SeqCst).is_some() {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
        true
    }

    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        let (world, me) = world::here();
        world.begin_halt(me);
        if cell.load(Relaxed) == value {
            world.wait_for_kick(me);
        }
    }

    fn halt_while_until<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, _until: &u64) {
        let (world, me) = world::here();
        world.begin_halt(me);
        if cell.load(Relaxed) == value {
            world::pause_for_a_time();
        }
    }

    fn kick(cpu: CpuId) {
        world::here().0.kick(cpu.index().into());
    }

    fn is_preempted(cpu: CpuId) -> bool {
        world::here().0.settings().preempted & (1 << cpu.index()) != 0
    }

    fn yield_count(cpu: CpuId) -> u32 {
        u32::from(Self::is_preempted(cpu)) + world::here().0.absences(cpu.index().into())
    }

    fn confer(cpu: CpuId, count: u32) {
        world::here().0.check_confers(cpu.index().into(), count);
        Self::yield_slice();
    }

    fn count(event: Event) {
        crate::run::count(event);
    }
}
