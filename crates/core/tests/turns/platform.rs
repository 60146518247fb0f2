//! The platform of the turn-by-turn world: every access is a step, a halt gives the turn away.
use super::watch::QUIET;
use super::{CONTEXTS, Status, here};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use stanchion_core::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use stanchion_core::percpu::{Domain, FixedDomain, PerCpu};
use stanchion_core::spots::SpotRow;
use stanchion_core::{Atomic, CpuId, Event, Platform, PvQSpinLock};
use std::sync::Mutex;

thread_local! {
    /// Set while the context is in its interrupt handler, which is not interrupted again.
    static INTERRUPTED: Cell<bool> = const { Cell::new(false) };
}

/// One step of the run: anybody may run before it, and an interrupt may arrive.
fn step() {
    if QUIET.get() {
        return;
    }
    let (world, me) = here();
    world.pass(me, Status::Ready);
    if world.options.interrupts && !INTERRUPTED.get() && world.lock().draw(12) == 0 {
        INTERRUPTED.set(true);
        (world.interrupt)(me);
        INTERRUPTED.set(false);
    }
}

/// Two rows of spots, so that equal marks of two locks may mean different sleepers.
pub(crate) struct TurnDomain {
    cpus: FixedDomain<Turns, CONTEXTS>,
    spots: [SpotRow<Turns>; 2],
}

impl TurnDomain {
    pub(super) fn new() -> Self {
        Self { cpus: FixedDomain::new(), spots: [SpotRow::new(), SpotRow::new()] }
    }
}

impl Domain<Turns> for TurnDomain {
    fn cpu(&self, cpu: CpuId) -> &PerCpu<Turns> {
        self.cpus.cpu(cpu)
    }
    fn spots(&self, address: usize) -> &SpotRow<Turns> {
        &self.spots[address / size_of::<PvQSpinLock<Turns>>() % 2]
    }
}

static LET_OUT: AtomicU64 = AtomicU64::new(0);

/// How many waiters were let out of a queue so far, over all runs.
pub(crate) fn let_out() -> u64 {
    LET_OUT.load(Ordering::Relaxed)
}

/// The platform of this world.
pub(crate) struct Turns;

pub(crate) struct TurnCell<T>(Mutex<T>);

impl<T: Copy> TurnCell<T> {
    fn get(&self) -> T {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn change(&self, new: T) -> T {
        let before =
            core::mem::replace(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner), new);
        let (world, me) = here();
        world.wrote(me);
        before
    }
}

impl<T: Copy + Eq + Send + WrappingAdd> Atomic<T> for TurnCell<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
    fn load(&self, _order: impl LoadOrder) -> T {
        step();
        self.get()
    }
    fn peek(&self) -> T {
        self.get()
    }
    fn store(&self, value: T, _order: impl StoreOrder) {
        step();
        self.change(value);
    }
    fn swap(&self, value: T, _order: impl RmwOrder) -> T {
        step();
        self.change(value)
    }
    fn compare_exchange(&self, current: T, new: T, _s: impl RmwOrder, _f: impl LoadOrder) -> Result<T, T> {
        step();
        let now = self.get();
        if now == current { Ok(self.change(new)) } else { Err(now) }
    }
    fn fetch_add(&self, value: T, _order: impl RmwOrder) -> T {
        step();
        self.change(self.get().plus(value))
    }
    fn wait_until(&self, _order: impl LoadOrder, mut done: impl FnMut(T) -> bool) -> T {
        step();
        loop {
            let value = self.get();
            if done(value) {
                return value;
            }
            let (world, me) = here();
            world.pass(me, Status::Spinning);
        }
    }
    fn wait_until_polls(
        &self,
        polls: u32,
        _order: impl LoadOrder,
        mut done: impl FnMut(T) -> bool,
    ) -> Result<T, T> {
        for _ in 0..polls.min(4) {
            step();
            if done(self.get()) {
                return Ok(self.get());
            }
        }
        Err(self.get())
    }
}

pub(crate) trait WrappingAdd {
    fn plus(self, other: Self) -> Self;
}
macro_rules! wrapping {
    ($($t:ty)*) => {$(impl WrappingAdd for $t { fn plus(self, other: Self) -> Self { self.wrapping_add(other) } })*};
}
wrapping!(u8 u16 u32);

impl Platform for Turns {
    type U8 = TurnCell<u8>;
    type U16 = TurnCell<u16>;
    type U32 = TurnCell<u32>;
    type Domain = TurnDomain;

    fn with_domain<R>(f: impl FnOnce(&Self::Domain) -> R) -> R {
        f(&here().0.domain)
    }
    fn this_cpu() -> Option<CpuId> {
        CpuId::new(here().1 as u16)
    }
    fn private_counter<R>(f: impl FnOnce(&Cell<u32>) -> R) -> R {
        thread_local!(static COUNTER: Cell<u32> = const { Cell::new(0) });
        COUNTER.with(f)
    }
    fn numa_node() -> u16 {
        0
    }
    fn now() -> u64 {
        here().0.lock().steps * 100 // one step is a tenth of a microsecond
    }
    fn relax(_nanos: u32) {
        step();
    }
    fn yield_slice() {
        step();
    }
    fn fence(_order: impl FenceOrder) {}
    fn compiler_barrier() {}
    fn store_then_load(first: &TurnCell<u8>, value: u8, then: &TurnCell<u8>) -> u8 {
        step();
        first.change(value);
        step();
        then.get()
    }
    fn heavy_barrier() -> bool {
        true
    }
    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        if cell.load(stanchion_core::order::Relaxed) != value {
            return;
        }
        let (world, me) = here();
        if !core::mem::take(&mut world.lock().kicked[me]) {
            world.pass(me, Status::Halted);
            world.lock().kicked[me] = false;
        }
    }
    fn kick(cpu: CpuId) {
        step();
        let cpu = usize::from(cpu.index());
        let (world, _) = here();
        let mut turn = world.lock();
        turn.kicked[cpu] = true;
        if turn.status[cpu] == Status::Halted {
            turn.status[cpu] = Status::Ready;
        }
    }
    fn is_preempted(_cpu: CpuId) -> bool {
        step();
        here().0.lock().draw(2) == 0
    }
    fn count(event: Event) {
        if event == Event::PvLetOut {
            LET_OUT.fetch_add(1, Ordering::Relaxed);
        }
    }
}
