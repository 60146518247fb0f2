//! The simulated world: the platform on which every lock runs inside of the engine.
// One host thread runs everything: orderings decide nothing here but whether a fence waits.
use crate::arena::Arena;
use crate::domain::{SimClass, SimDomain};
use crate::engine;
use crate::rw_locks::Classes;
use crate::time::NS;
use crate::widen::Widen;
use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering::Relaxed as Plain};
use stanchion_core::order::{FenceOrder, Kind, LoadOrder, Relaxed, RmwOrder, StoreOrder};
use stanchion_core::{Atomic, CpuId, Event, Machine, NodeId, Tunable};
use std::rc::Rc;

/// The platform of the simulated world.
///
/// Memory is total-store-order: stores are posted and become visible in order, read-modify-writes and fences
/// wait for them. The simulator knows nothing of weaker orders; that is the model checker's part.
pub struct Sim;

macro_rules! cell {
    ($(#[$doc:meta])* $name:ident, $atomic:ident, $value:ident, $bytes:literal) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name($atomic);

        impl $name {
            #[inline(always)]
            fn address(&self) -> usize {
                core::ptr::from_ref(self).addr()
            }
        }
        impl Atomic<$value> for $name {
            fn new(value: $value) -> Self {
                Self($atomic::new(value))
            }
            #[inline]
            fn load(&self, _order: impl LoadOrder) -> $value {
                match engine::load(self.address()) {
                    Some(forwarded) => forwarded as $value,
                    None => self.peek(),
                }
            }
            #[inline]
            fn store(&self, value: $value, order: impl StoreOrder) {
                if order.kind() == Kind::SeqCst {
                    self.swap(value, stanchion_core::order::SeqCst);
                    return;
                }
                engine::post(self.address(), $bytes, value.widen(), &mut || self.0.store(value, Plain));
            }
            #[inline]
            fn swap(&self, value: $value, _order: impl RmwOrder) -> $value {
                let mut before = 0;
                engine::rmw(self.address(), &mut || true, &mut || {
                    before = self.0.swap(value, Plain);
                    true
                });
                before
            }
            #[inline]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                _success: impl RmwOrder,
                _failure: impl LoadOrder,
            ) -> Result<$value, $value> {
                // Where the machine reserves, a mismatch ends it before the effect.
                let mut result = Err(current);
                let seen = Cell::new(current);
                let mut expects = || {
                    seen.set(self.peek());
                    seen.get() == current
                };
                engine::rmw(self.address(), &mut expects, &mut || {
                    seen.set(self.peek());
                    result = self.0.compare_exchange(current, new, Plain, Plain);
                    result.is_ok()
                });
                result.map_err(|_| seen.get())
            }
            #[inline]
            fn fetch_add(&self, value: $value, _order: impl RmwOrder) -> $value {
                let mut before = 0;
                engine::rmw(self.address(), &mut || true, &mut || {
                    before = self.0.fetch_add(value, Plain);
                    true
                });
                before
            }
            fn wait_until(&self, _order: impl LoadOrder, mut done: impl FnMut($value) -> bool) -> $value {
                let mut seen = 0;
                engine::wait(self.address(), None, &mut || {
                    seen = self.peek();
                    done(seen)
                });
                seen
            }
            fn wait_until_polls(
                &self,
                polls: u32,
                _order: impl LoadOrder,
                mut done: impl FnMut($value) -> bool,
            ) -> Result<$value, $value> {
                let mut seen = 0;
                let found = engine::wait(self.address(), Some(polls), &mut || {
                    seen = self.peek();
                    done(seen)
                });
                if found { Ok(seen) } else { Err(seen) }
            }
            #[inline(always)]
            fn peek(&self) -> $value {
                self.0.load(Plain)
            }
            fn prefetch_read(&self) {
                engine::prefetch_read(self.address());
            }
            fn prefetch_write(&self) {
                engine::prefetch(self.address());
            }
        }
    };
}

cell! {
    /// One byte of simulated memory.
    Sim8, AtomicU8, u8, 1
}
cell! {
    /// Two bytes of simulated memory.
    Sim16, AtomicU16, u16, 2
}
cell! {
    /// Four bytes of simulated memory.
    Sim32, AtomicU32, u32, 4
}
cell! {
    /// As much simulated memory as an address takes.
    SimUsize, AtomicUsize, usize, 8
}

/// Beyond the numbers of CPUs.
const VCPUS_FROM: u32 = 1 << 16;

impl Classes for Sim {
    type Class = SimClass;

    fn with_class<R>(index: usize, f: impl FnOnce(&SimClass) -> R) -> R {
        Self::with_domain(|domain| f(&domain.readers[index]))
    }
}

thread_local! {
    static DOMAIN: RefCell<Option<Rc<SimDomain>>> = const { RefCell::new(None) };
    /// Empty, if none was ever set.
    static TUNABLES: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// The storage of the contexts that run on this host thread. Outside of a simulation it is an empty one:
/// there are no contexts, and nobody reads it.
fn domain() -> Rc<SimDomain> {
    let nobody = || Rc::new(SimDomain::new(&Arena::new(SimDomain::bytes(0, 1)), 0, 1));
    DOMAIN.with_borrow(Clone::clone).unwrap_or_else(nobody)
}

/// Makes `domain` the storage of the contexts that run on this host thread, until the result is dropped, and
/// sets tunables: to their defaults but for `tunings`, of which the last counts.
#[must_use]
pub(crate) fn furnish(domain: SimDomain, tunings: impl Iterator<Item = (Tunable, u32)>) -> Furnished {
    DOMAIN.set(Some(Rc::new(domain)));
    let mut values =
        stanchion_family::tunables::ALL.iter().map(|tunable| tunable.default()).collect::<Vec<_>>();
    for (tunable, value) in tunings {
        values[tunable.index()] = value;
    }
    TUNABLES.set(values);
    Furnished
}

/// See [`furnish`].
pub(crate) struct Furnished;
impl Drop for Furnished {
    fn drop(&mut self) {
        DOMAIN.set(None);
    }
}

impl Machine for Sim {
    type U8 = Sim8;
    type U16 = Sim16;
    type U32 = Sim32;
    type Usize = SimUsize;
    type Domain = SimDomain;
    /// In nanoseconds of the simulated clock.
    type Deadline = u64;

    fn after(nanos: u64) -> u64 {
        Self::now().saturating_add(nanos)
    }

    fn remaining(until: &u64) -> u64 {
        until.saturating_sub(Self::now())
    }

    /// Threads know their CPU. A vCPU that cannot see that others are preempted knows itself only.
    fn home() -> u32 {
        engine::with(|engine, who| {
            let host = &engine.machine().host;
            let cpu = engine.cpu_of(who).filter(|_| host.preempted_hint || !host.hypercalls);
            cpu.map_or(VCPUS_FROM + who as u32, |cpu| cpu as u32 + 1)
        })
        .unwrap_or(1)
    }

    fn sleep(_node: NodeId, cell: &Sim32, value: u32, until: Option<&u64>) {
        if cell.load(Relaxed) == value {
            engine::halt_until(|| cell.peek() == value, until.map(|until| until.saturating_mul(NS)));
        }
    }

    fn wake(node: NodeId) {
        if let Some(cpu) = node.context() {
            Self::kick(cpu);
        }
    }

    fn with_domain<R>(f: impl FnOnce(&SimDomain) -> R) -> R {
        f(&domain())
    }

    fn this_cpu() -> Option<CpuId> {
        engine::with(|_, who| CpuId::new(who as u16)).flatten()
    }

    fn numa_node() -> u16 {
        engine::with(|engine, _| engine.socket() as u16).unwrap_or(0)
    }

    fn numa_node_of(cpu: CpuId) -> u16 {
        engine::with(|engine, _| engine.socket_of(usize::from(cpu.index())) as u16).unwrap_or(0)
    }

    fn tunable(tunable: Tunable) -> u32 {
        TUNABLES.with_borrow(|values| values.get(tunable.index()).copied()).unwrap_or(tunable.default())
    }

    fn now() -> u64 {
        engine::with(|engine, _| engine.now() / NS).unwrap_or(0)
    }

    fn relax(nanos: u32) {
        engine::pause(u64::from(nanos) * NS);
    }

    fn yield_slice() {
        engine::yield_slice();
    }

    fn doze(nanos: u32) {
        engine::halt_until(|| true, Some((Self::now() + u64::from(nanos)).saturating_mul(NS)));
    }

    fn fence(order: impl FenceOrder) {
        if order.kind() == Kind::SeqCst {
            engine::fence();
        }
    }

    fn compiler_barrier() {}

    fn store_then_load<T: Copy + Eq, U: Copy + Eq>(
        first: &impl Atomic<T>,
        value: T,
        then: &impl Atomic<U>,
    ) -> U {
        let asymmetric = engine::with(|engine, _| engine.machine().host.heavy_barrier.is_some());
        if asymmetric == Some(false) {
            first.swap(value, stanchion_core::order::SeqCst);
        } else {
            first.store(value, stanchion_core::order::Release);
        }
        then.load(Relaxed)
    }

    fn heavy_barrier() -> bool {
        engine::heavy_barrier();
        true
    }

    fn halt_while<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        if cell.load(Relaxed) == value {
            engine::halt(|| cell.peek() == value);
        }
    }

    fn halt_while_until<T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T, until: &u64) {
        if cell.load(Relaxed) == value {
            engine::halt_until(|| cell.peek() == value, Some(until.saturating_mul(NS)));
        }
    }

    fn kick(cpu: CpuId) {
        engine::kick(usize::from(cpu.index()));
    }

    fn is_preempted(cpu: CpuId) -> bool {
        engine::with(|engine, _| engine.is_preempted(usize::from(cpu.index()))).unwrap_or(false)
    }

    fn yield_count(cpu: CpuId) -> u32 {
        engine::with(|engine, _| engine.yield_count(usize::from(cpu.index()))).unwrap_or(0)
    }

    fn confer(cpu: CpuId, count: u32) {
        engine::confer(usize::from(cpu.index()), count);
    }

    fn count_many(event: Event, times: u32) {
        engine::with(|engine, _| engine.count(event, times.into()));
    }
}
