//! Shared cells of the stepped world: each access is a step, before which anybody may have a turn.
//!
//! A cell is a plain atomic of its own size, used by one host thread at a time, so it can stand anywhere.
use super::engine::{self, Update, arrive};
use crate::widen::Widen;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering};

use stanchion_core::order::{Kind, LoadOrder, RmwOrder, StoreOrder};
use stanchion_core::{Atomic, Machine};

/// What the engine sees of a cell of any size. No method is a step.
pub(super) trait Plain: 'static {
    fn get(&self) -> u64;
    fn set(&self, value: u64);
}

/// The address by which the engine knows a cell.
#[inline]
pub(super) fn address_of(cell: &dyn Plain) -> usize {
    core::ptr::from_ref(cell).addr()
}

/// A waiter without a node looks so often before it offers its slice; more would only lengthen schedules.
const MOST_POLLS: u32 = 2;

macro_rules! cell {
    ($(#[$doc:meta])* $name:ident: $atomic:ty, $value:ty, quiet $quiet:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name($atomic);
        impl Plain for $name {
            #[inline]
            fn get(&self) -> u64 {
                self.0.load(Ordering::Relaxed).widen()
            }
            #[inline]
            fn set(&self, value: u64) {
                self.0.store(value as $value, Ordering::Relaxed);
            }
        }
        impl Atomic<$value> for $name {
            fn new(value: $value) -> Self {
                Self(<$atomic>::new(value))
            }

            #[inline]
            fn load(&self, _order: impl LoadOrder) -> $value {
                if $quiet && engine::is_nobodys(self) {
                    return self.0.load(Ordering::Relaxed);
                }
                arrive();
                engine::load(self) as $value
            }

            #[inline]
            fn store(&self, value: $value, order: impl StoreOrder) {
                arrive();
                engine::store(self, value.widen(), order.kind() == Kind::SeqCst);
            }

            #[inline]
            fn swap(&self, value: $value, _order: impl RmwOrder) -> $value {
                arrive();
                engine::update(self, Update::Swap(value.widen())) as $value
            }

            #[inline]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                _success: impl RmwOrder,
                _failure: impl LoadOrder,
            ) -> Result<$value, $value> {
                arrive();
                let found = engine::update(self, Update::Exchange(current.widen(), new.widen())) as $value;
                if found == current { Ok(found) } else { Err(found) }
            }

            #[inline]
            fn fetch_add(&self, value: $value, _order: impl RmwOrder) -> $value {
                arrive();
                let sum = |before: u64| (before as $value).wrapping_add(value).widen();
                engine::update(self, Update::Add(&sum)) as $value
            }

            fn wait_until(&self, _order: impl LoadOrder, mut done: impl FnMut($value) -> bool) -> $value {
                arrive();
                loop {
                    let value = engine::load(self) as $value;
                    if done(value) {
                        return value;
                    }
                    engine::sleep_until_written(self);
                }
            }

            /// Steps once when it is written, not again and again; but where priorities are strict, the way
            /// there is what matters.
            fn wait_briefly<P: Machine>(
                &self,
                order: impl LoadOrder,
                done: impl FnMut($value) -> bool,
            ) -> $value {
                if engine::is_strict() {
                    return stanchion_core::machine::wait_briefly::<P, $value, Self>(self, order, done);
                }
                self.wait_until(order, done)
            }

            fn wait_until_polls(
                &self,
                polls: u32,
                order: impl LoadOrder,
                mut done: impl FnMut($value) -> bool,
            ) -> Result<$value, $value> {
                let mut value = self.load(order);
                for _ in 0..polls.min(MOST_POLLS) {
                    if done(value) {
                        return Ok(value);
                    }
                    engine::pause();
                    value = self.load(order);
                }
                if done(value) { Ok(value) } else { Err(value) }
            }

            #[inline]
            fn peek(&self) -> $value {
                self.0.load(Ordering::Relaxed)
            }
        }
    };
}

cell! {
    /// A cell of 8 bits.
    CellU8: AtomicU8, u8, quiet false
}
cell! {
    /// A cell of 16 bits.
    CellU16: AtomicU16, u16, quiet false
}
cell! {
    /// A cell of 32 bits.
    CellU32: AtomicU32, u32, quiet false
}
cell! {
    /// A cell as wide as an address. To look at one of a number that nobody has is no step: a release may
    /// look at hundreds.
    CellUsize: AtomicUsize, usize, quiet true
}
