//! The platform of the stepped world.
use super::cells::{CellU8, CellU16, CellU32, CellUsize};
use super::domain::{Cells, SteppedDomain};
use super::engine::{self, arrive, with};
use super::plan::Coin;
use crate::rw_locks::Classes;
use stanchion_core::order::{FenceOrder, Kind};
use stanchion_core::{Atomic, CpuId, Domain, Event, Machine, NodeId, Released, Tunable};

/// How much the clock advances with each step, in nanoseconds. A pause is one step, however long it claims to
/// be.
pub(super) const STEP_NANOS: u64 = 100;

/// The world in which a context goes one step at a time, and the explorer decides whose step is next.
///
/// Weaker than hardware where the contract allows it: halts end for no reason, kicks are late or forgotten,
/// `is_preempted` answers anything, the heavy barrier may fail.
#[derive(Debug)]
pub struct Stepped;

/// The step at which a wait ends that is to end when the run's clock shows `until`.
fn step_of(until: u64) -> u64 {
    with(|engine| engine.end_of(engine.step_at(until)))
}

/// Halts in a wait that ends when the run's clock shows `until`, if it has an end.
fn halt<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, until: Option<u64>) {
    let end = until.map(step_of);
    with(|engine| engine.sleeps_until(until.map(|until| engine.step_at(until))));
    engine::halt_while(end, || cell.load(stanchion_core::order::Relaxed) == value);
}

/// This world has one class.
impl Classes for Stepped {
    type Class = Cells;

    fn with_class<R>(index: usize, f: impl FnOnce(&Self::Class) -> R) -> R {
        assert_eq!(index, 0, "the stepped world has one class");
        Self::with_domain(|domain| f(domain.readers()))
    }
}

impl Machine for Stepped {
    type U8 = CellU8;
    type U16 = CellU16;
    type U32 = CellU32;
    type Usize = CellUsize;
    type Domain = SteppedDomain;
    /// In nanoseconds of the run's clock.
    type Deadline = u64;

    const EXPLORES: bool = true;

    fn after(nanos: u64) -> u64 {
        Self::now() + nanos
    }

    fn remaining(until: &u64) -> u64 {
        step_of(*until).saturating_sub(with(|engine| engine.steps)).saturating_mul(STEP_NANOS)
    }

    fn release_then_look(first: &CellU8, value: u8, then: &CellU8, marks: u8) -> Released {
        if !with(|engine| engine.domain.machine().restarts) {
            let marked = Self::store_then_load(first, value, then) & marks != 0;
            return if marked { Released::Marked } else { Released::Unmarked };
        }
        arrive(); // one step: nobody has a turn between the look and the store
        if with(|engine| engine.load(then)) & u64::from(marks) != 0 {
            return Released::Held;
        }
        engine::store(first, value.into(), false);
        Released::Unmarked
    }

    fn release_fenced_then_look(first: &CellU8, value: u8, then: &CellU8, marks: u8) -> Released {
        arrive(); // one step, as above; what it stores is visible to all at once
        if with(|engine| engine.load(then)) & u64::from(marks) != 0 {
            return Released::Held;
        }
        engine::store(first, value.into(), true);
        Released::Unmarked
    }

    fn home() -> u32 {
        with(|engine| engine.coin(Coin::Home, 2)) as u32 + 1
    }

    fn priority() -> u8 {
        with(engine::Engine::urgency)
    }

    fn sleep(node: NodeId, cell: &CellU32, value: u32, until: Option<&u64>) {
        with(|engine| engine.sleeps_with(node));
        halt(cell, value, until.copied());
    }

    fn wake(node: NodeId) {
        arrive();
        engine::wake(node);
    }

    fn with_domain<R>(f: impl FnOnce(&Self::Domain) -> R) -> R {
        f(&engine::domain())
    }

    fn this_cpu() -> Option<CpuId> {
        with(engine::Engine::number)
    }

    fn numa_node() -> u16 {
        with(engine::Engine::numa_node)
    }

    fn is_priority() -> bool {
        with(|engine| engine.is_priority())
    }

    fn is_numa() -> bool {
        with(|engine| engine.domain.machine().nodes > 1)
    }

    fn numa_node_of(cpu: CpuId) -> u16 {
        with(|engine| engine.owner_of(cpu).map_or(0, |ctx| engine.numa_node_of(ctx)))
    }

    fn paravirt() -> bool {
        with(|engine| engine.domain.machine().paravirt)
    }

    fn tunable(tunable: Tunable) -> u32 {
        if super::policies::is_switch(tunable) {
            return with(|engine| engine.coin(Coin::Switch, 2)) as u32;
        }
        super::policies::tuned(tunable, with(|engine| engine.tunings))
    }

    fn now() -> u64 {
        with(|engine| engine.now())
    }

    fn relax(_nanos: u32) {
        engine::pause();
    }

    fn yield_slice() {
        engine::pause();
    }

    fn doze(nanos: u32) {
        let step = with(|engine| engine.steps) + u64::from(nanos) / STEP_NANOS;
        engine::halt_while(Some(step), || true);
    }

    fn fence(order: impl FenceOrder) {
        if order.kind() == Kind::SeqCst {
            arrive();
            engine::flush_own();
        }
    }

    fn compiler_barrier() {}

    fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
        first: &impl Atomic<T>,
        value: T,
        then: &impl Atomic<U>,
    ) -> U {
        use stanchion_core::order::{Relaxed, Release};
        first.store(value, Release);
        then.load(Relaxed)
    }

    fn heavy_barrier() -> bool {
        arrive();
        engine::flush_all()
    }

    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        halt(cell, value, None);
    }

    fn halt_while_until<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, until: &u64) {
        halt(cell, value, Some(*until));
    }

    fn kick(cpu: CpuId) {
        arrive();
        engine::kick(cpu);
    }

    fn is_preempted(_cpu: CpuId) -> bool {
        with(|engine| engine.coin(Coin::Preempted, 2)) == 0
    }

    fn count_many(event: Event, times: u32) {
        with(|engine| {
            engine.events[event.index()] += u64::from(times);
            match event {
                Event::LockNoNode => engine.goes_without_node(),
                Event::LockSlowpath => engine.goes_slow(),
                _ => {}
            }
        });
    }
}
