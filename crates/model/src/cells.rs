//! The model's cells: loom's atomics, corrected where they are weaker than the language, and tracked by the
//! caller's place.
//!
//! - A cell that only one context touches costs nothing: its accesses are ordered by the program, so no other
//!   order and no other value is possible, and loom is not asked. When another context touches it, the
//!   exploration starts anew with a loom object for it, and for all cells at the same place. (Such an access
//!   is no step at which loom could preempt the context, which changes nothing that others see.)
//! - Loom does not know that nothing comes between a read-modify-write and the store that it read from: it
//!   lets a plain store of one context come *before* another's read-modify-write that it must follow, and
//!   then finds locks broken that are not. A plain store to a cell that is also exchanged first looks at the
//!   newest value (a failing exchange, relaxed), without another context in between; so the store is newer
//!   than the exchange, and orders nothing.
use crate::guard::{self, By};
use crate::interrupts::access;
use crate::run;
use crate::weaken::ordering;
use crate::world;
use core::panic::Location;
use core::sync::atomic::Ordering;
use stanchion_core::order::{Kind, LoadOrder, RmwOrder, StoreOrder};
use stanchion_core::{Atomic, Machine};

/// How a context fails that touches the private cell of another.
pub(crate) const NOT_PRIVATE: &str = "race: a context touches a cell that is private to another";

/// How often a bounded wait polls at most.
const POLLS: u32 = 2;

/// Loom's name of an ordering.
pub(crate) fn loom_order(kind: Kind) -> Ordering {
    match kind {
        Kind::Relaxed => Ordering::Relaxed,
        Kind::Acquire => Ordering::Acquire,
        Kind::Release => Ordering::Release,
        Kind::AcqRel => Ordering::AcqRel,
        Kind::SeqCst => Ordering::SeqCst,
    }
}

fn order_at(at: &'static Location<'static>, op: &'static str, kind: Kind) -> Ordering {
    loom_order(ordering(at, op, kind).unwrap_or(Kind::Relaxed))
}

macro_rules! cells {
    ($($(#[$doc:meta])* $cell:ident: $int:ident in $atomic:ident, never $never:literal;)*) => {$(
        $(#[$doc])*
        pub struct $cell {
            pub(crate) number: usize,
            place: usize,
            /// What loom knows it as, if more than one context touches it.
            atomic: Option<loom::sync::atomic::$atomic>,
            /// Who touches it, if that is only one; see [`world::toucher`].
            toucher: core::sync::atomic::AtomicUsize,
            /// What was written last, for [`Atomic::peek`], and all that a cell has that only one context
            /// touches.
            shadow: core::sync::atomic::$atomic,
        }

        impl $cell {
            /// A value that no lock writes: an exchange of it always fails.
            const NEVER: $int = $never;

            /// `None`: only the calling context touches it.
            #[inline]
            fn shared(&self) -> Option<&loom::sync::atomic::$atomic> {
                if self.atomic.is_none() {
                    let me = world::toucher();
                    match self.toucher.swap(me, Ordering::Relaxed) {
                        world::NOBODY => {}
                        before if before == me => {}
                        _ => run::becomes_shared(self.place),
                    }
                }
                self.atomic.as_ref()
            }

            /// Exchanges what is in a cell that only the calling context touches, unless `new` says not to.
            fn change(&self, new: impl FnOnce($int) -> Option<$int>) -> Result<$int, $int> {
                let before = self.peek();
                let Some(new) = new(before) else { return Err(before) };
                self.shadow.store(new, Ordering::Relaxed);
                if new != before {
                    world::wrote_own(); // as in `note`
                }
                Ok(before)
            }

            fn note(&self, value: $int) {
                assert_ne!(value, Self::NEVER, "the model needs a value that no lock writes");
                // The same value again is no news to anybody who waits: a poll that rewrites its own hint
                // would spin for ever.
                if self.shadow.swap(value, Ordering::Relaxed) != value {
                    world::wrote(self.number);
                }
                if value == 0 {
                    guard::is_zero(self.number);
                }
            }

            /// A store with the ordering that loom shall see.
            pub(crate) fn plain_store(&self, value: $int, order: Ordering) {
                if std::thread::panicking() {
                    return; // a destructor, and loom is already going down
                }
                let Some(atomic) = self.shared() else {
                    let _ = self.change(|_| Some(value));
                    return;
                };
                let store = || {
                    let exchanged = run::is_exchanged(self.place);
                    if exchanged {
                        let never = Self::NEVER;
                        let _ = atomic.compare_exchange(never, never, Ordering::Relaxed, Ordering::Relaxed);
                    }
                    if exchanged && world::exploring() {
                        loom::stop_exploring();
                        atomic.store(value, order);
                        loom::explore();
                    } else {
                        atomic.store(value, order);
                    }
                };
                guard::write(self.number, By::Store, store, |()| true);
                self.note(value);
            }

            /// A load with the ordering that loom shall see.
            pub(crate) fn plain_load(&self, order: Ordering) -> $int {
                let value = self.shared().map_or_else(|| self.peek(), |atomic| atomic.load(order));
                world::looked(value != self.peek());
                value
            }

            /// Waits, with loads of the ordering that loom shall see.
            fn wait_with(&self, order: Ordering, mut done: impl FnMut($int) -> bool) -> $int {
                loop {
                    access();
                    let value = self.plain_load(order);
                    if done(value) {
                        return value;
                    }
                    // A load may be out of date; the next one is not, after a yield.
                    world::wait((value == self.peek()).then_some(self.number));
                }
            }

            /// A swap with the ordering that loom shall see.
            pub(crate) fn plain_swap(&self, value: $int, order: Ordering) -> $int {
                let Some(atomic) = self.shared() else {
                    return self.change(|_| Some(value)).unwrap_or(value);
                };
                run::exchange(self.place);
                let swap = || atomic.swap(value, order);
                let before = guard::write(self.number, By::Exchange, swap, |_| true);
                self.note(value);
                before
            }
        }

        impl Atomic<$int> for $cell {
            fn new(value: $int) -> Self {
                let (number, place) = run::number_cell();
                let atomic = run::is_shared(place).then(|| loom::sync::atomic::$atomic::new(value));
                guard::begin(number, place);
                Self {
                    number,
                    place,
                    atomic,
                    toucher: core::sync::atomic::AtomicUsize::new(world::NOBODY),
                    shadow: core::sync::atomic::$atomic::new(value),
                }
            }

            #[track_caller]
            fn load(&self, order: impl LoadOrder) -> $int {
                access();
                self.plain_load(order_at(Location::caller(), "load", order.kind()))
            }

            #[track_caller]
            fn store(&self, value: $int, order: impl StoreOrder) {
                access();
                self.plain_store(value, order_at(Location::caller(), "store", order.kind()));
            }

            #[track_caller]
            fn swap(&self, value: $int, order: impl RmwOrder) -> $int {
                access();
                self.plain_swap(value, order_at(Location::caller(), "swap", order.kind()))
            }

            #[track_caller]
            fn compare_exchange(
                &self,
                current: $int,
                new: $int,
                success: impl RmwOrder,
                failure: impl LoadOrder,
            ) -> Result<$int, $int> {
                let at = Location::caller();
                access();
                let success = order_at(at, "compare_exchange", success.kind());
                let failure = order_at(at, "compare_exchange.failure", failure.kind());
                let Some(atomic) = self.shared() else {
                    return self.change(|now| (now == current).then_some(new));
                };
                run::exchange(self.place);
                let exchange = || atomic.compare_exchange(current, new, success, failure);
                let result = guard::write(self.number, By::Exchange, exchange, Result::is_ok);
                if result.is_ok() {
                    self.note(new);
                }
                result
            }

            #[track_caller]
            fn fetch_add(&self, value: $int, order: impl RmwOrder) -> $int {
                access();
                let order = order_at(Location::caller(), "fetch_add", order.kind());
                let Some(atomic) = self.shared() else {
                    return self.change(|now| Some(now.wrapping_add(value))).unwrap_or(value);
                };
                run::exchange(self.place);
                let add = || atomic.fetch_add(value, order);
                let before = guard::write(self.number, By::Addition, add, |_| true);
                self.note(before.wrapping_add(value));
                before
            }

            #[track_caller]
            fn wait_until(&self, order: impl LoadOrder, done: impl FnMut($int) -> bool) -> $int {
                self.wait_with(order_at(Location::caller(), "wait_until", order.kind()), done)
            }

            /// Whoever waits here has no turn until somebody writes: how it passes the time makes no
            /// difference to others.
            #[track_caller]
            fn wait_briefly<P: Machine>(
                &self,
                order: impl LoadOrder,
                done: impl FnMut($int) -> bool,
            ) -> $int {
                self.wait_with(order_at(Location::caller(), "wait_briefly", order.kind()), done)
            }

            /// Gives up between any two steps of the others: there is no yield in a bounded wait.
            #[track_caller]
            fn wait_until_polls(
                &self,
                polls: u32,
                order: impl LoadOrder,
                mut done: impl FnMut($int) -> bool,
            ) -> Result<$int, $int> {
                let order = order_at(Location::caller(), "wait_until_polls", order.kind());
                access();
                let mut value = self.plain_load(order);
                for _ in 1..polls.min(POLLS) {
                    if done(value) {
                        return Ok(value);
                    }
                    world::interrupt();
                    access();
                    value = self.plain_load(order);
                }
                if done(value) {
                    return Ok(value);
                }
                world::pause(); // a loop around this one waits for somebody else
                Err(value)
            }

            fn is_private(&self) {
                if std::thread::panicking() {
                    return; // a destructor, and loom is already going down
                }
                let me = world::toucher();
                let before = self.toucher.swap(me, Ordering::Relaxed);
                assert!(before == me || before == world::NOBODY, "{NOT_PRIVATE}");
            }

            fn peek(&self) -> $int {
                self.shadow.load(Ordering::Relaxed)
            }
        }
    )*};
}

cells! {
    /// A cell of 8 bits.
    CellU8: u8 in AtomicU8, never 0xA5;
    /// A cell of 16 bits.
    CellU16: u16 in AtomicU16, never 0xA5A5;
    /// A cell of 32 bits.
    CellU32: u32 in AtomicU32, never 0xA5A5_A5A5;
    /// A cell as wide as an address.
    CellUsize: usize in AtomicUsize, never 0xA5A5_A5A5;
}
