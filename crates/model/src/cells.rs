//! The model's cells: loom's atomics, corrected where they are weaker than the language, and tracked by the caller's place.
//!
//! - A cell that no execution uses costs nothing: it gets a loom object only if it was ever touched. When an unused cell is
//!   touched, the exploration starts anew with it.
//! - Loom does not know that nothing comes between a read-modify-write and the store that it read from: it lets a plain store of
//!   one context come *before* another's read-modify-write that it must follow, and then finds locks broken that are not. A
//!   plain store to a cell that is also exchanged first looks at the newest value (a failing exchange, relaxed), without another context in
//!   between; so the store is newer than the exchange, and orders nothing.
use crate::run;
use crate::weaken::ordering;
use crate::world;
use core::panic::Location;
use core::sync::atomic::Ordering;
use stanchion_core::Atomic;
use stanchion_core::order::{Kind, LoadOrder, RmwOrder, StoreOrder};

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
            atomic: Option<loom::sync::atomic::$atomic>,
            /// What was written last, for [`Atomic::peek`]: loom does not see it.
            shadow: core::sync::atomic::$atomic,
        }

        impl $cell {
            /// A value that no lock writes: an exchange of it always fails.
            const NEVER: $int = $never;

            #[inline]
            fn atomic(&self) -> &loom::sync::atomic::$atomic {
                match &self.atomic {
                    Some(atomic) => atomic,
                    None => run::comes_alive(self.place),
                }
            }

            fn note(&self, value: $int) {
                assert_ne!(value, Self::NEVER, "the model needs a value that no lock writes");
                // The same value again is no news to anybody who waits: a poll that rewrites its own hint would spin for ever.
                if self.shadow.swap(value, Ordering::Relaxed) != value {
                    world::wrote(self.number);
                }
            }

            /// A store with the ordering that loom shall see.
            pub(crate) fn plain_store(&self, value: $int, order: Ordering) {
                if std::thread::panicking() {
                    return; // a destructor, and loom is already going down
                }
                let atomic = self.atomic();
                let store = || {
                    if run::is_exchanged(self.place) && world::exploring() {
                        let never = Self::NEVER;
                        let _ = atomic.compare_exchange(never, never, Ordering::Relaxed, Ordering::Relaxed);
                        loom::stop_exploring();
                        atomic.store(value, order);
                        loom::explore();
                    } else {
                        atomic.store(value, order);
                    }
                };
                run::guarded(self.number, false, store, |()| true);
                self.note(value);
            }

            /// A load with the ordering that loom shall see.
            pub(crate) fn plain_load(&self, order: Ordering) -> $int {
                let value = self.atomic().load(order);
                world::looked(value != self.peek());
                value
            }

            /// A swap with the ordering that loom shall see.
            pub(crate) fn plain_swap(&self, value: $int, order: Ordering) -> $int {
                run::exchange(self.place);
                let before = run::guarded(self.number, true, || self.atomic().swap(value, order), |_| true);
                self.note(value);
                before
            }
        }

        impl Atomic<$int> for $cell {
            fn new(value: $int) -> Self {
                let (number, place) = run::number_cell();
                let atomic = run::is_alive(place).then(|| loom::sync::atomic::$atomic::new(value));
                run::guard(number, place);
                Self { number, place, atomic, shadow: core::sync::atomic::$atomic::new(value) }
            }

            #[track_caller]
            fn load(&self, order: impl LoadOrder) -> $int {
                self.plain_load(order_at(Location::caller(), "load", order.kind()))
            }

            #[track_caller]
            fn store(&self, value: $int, order: impl StoreOrder) {
                self.plain_store(value, order_at(Location::caller(), "store", order.kind()));
            }

            #[track_caller]
            fn swap(&self, value: $int, order: impl RmwOrder) -> $int {
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
                let success = order_at(at, "compare_exchange", success.kind());
                let failure = order_at(at, "compare_exchange.failure", failure.kind());
                run::exchange(self.place);
                let exchange = || self.atomic().compare_exchange(current, new, success, failure);
                let result = run::guarded(self.number, true, exchange, Result::is_ok);
                if result.is_ok() {
                    self.note(new);
                }
                result
            }

            #[track_caller]
            fn fetch_add(&self, value: $int, order: impl RmwOrder) -> $int {
                let order = order_at(Location::caller(), "fetch_add", order.kind());
                run::exchange(self.place);
                let before = run::guarded(self.number, true, || self.atomic().fetch_add(value, order), |_| true);
                self.note(before.wrapping_add(value));
                before
            }

            #[track_caller]
            fn wait_until(&self, order: impl LoadOrder, mut done: impl FnMut($int) -> bool) -> $int {
                let order = order_at(Location::caller(), "wait_until", order.kind());
                loop {
                    let value = self.plain_load(order);
                    if done(value) {
                        return value;
                    }
                    // A load may be out of date; the next one is not, after a yield.
                    world::wait((value == self.peek()).then_some(self.number));
                }
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
                let mut value = self.plain_load(order);
                for _ in 1..polls.min(POLLS) {
                    if done(value) {
                        return Ok(value);
                    }
                    world::interrupt();
                    value = self.plain_load(order);
                }
                if done(value) {
                    return Ok(value);
                }
                world::pause(); // a loop around this one waits for somebody else
                Err(value)
            }

            #[track_caller]
            fn load_noticing(&self, order: impl LoadOrder) -> ($int, bool) {
                let order = order_at(Location::caller(), "load_noticing", order.kind());
                (self.plain_load(order), world::lines_move())
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
