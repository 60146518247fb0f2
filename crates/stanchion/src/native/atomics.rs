//! The native cells: the machine's atomics, each at its own size.
// tidy: ordering-definitions: translates the orderings of lock code; every site keeps the ordering that it
// was given
use crate::os;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering};
use stanchion_core::order::{Kind, LoadOrder, RmwOrder, StoreOrder};
use stanchion_core::{Atomic, ConstAtomic};

#[inline(always)]
pub(super) fn translate(kind: Kind) -> Ordering {
    match kind {
        Kind::Relaxed => Ordering::Relaxed,
        Kind::Acquire => Ordering::Acquire,
        Kind::Release => Ordering::Release,
        Kind::AcqRel => Ordering::AcqRel,
        Kind::SeqCst => Ordering::SeqCst,
    }
}

macro_rules! cell {
    ($(#[$doc:meta])* $name:ident, $atomic:ident, $value:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name(pub(super) $atomic);

        impl Atomic<$value> for $name {
            #[inline]
            fn new(value: $value) -> Self {
                Self($atomic::new(value))
            }
            #[inline(always)]
            fn load(&self, order: impl LoadOrder) -> $value {
                self.0.load(translate(order.kind()))
            }
            #[inline(always)]
            fn store(&self, value: $value, order: impl StoreOrder) {
                self.0.store(value, translate(order.kind()));
            }
            #[inline(always)]
            fn swap(&self, value: $value, order: impl RmwOrder) -> $value {
                self.0.swap(value, translate(order.kind()))
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: impl RmwOrder,
                failure: impl LoadOrder,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, translate(success.kind()), translate(failure.kind()))
            }
            #[inline(always)]
            fn fetch_add(&self, value: $value, order: impl RmwOrder) -> $value {
                self.0.fetch_add(value, translate(order.kind()))
            }
            #[inline]
            fn wait_until(&self, order: impl LoadOrder, mut done: impl FnMut($value) -> bool) -> $value {
                loop {
                    let value = self.load(order);
                    if done(value) {
                        return value;
                    }
                    spin_loop();
                }
            }
            #[inline]
            fn wait_until_polls(
                &self,
                polls: u32,
                order: impl LoadOrder,
                mut done: impl FnMut($value) -> bool,
            ) -> Result<$value, $value> {
                let mut value = self.load(order);
                for _ in 0..polls {
                    if done(value) {
                        return Ok(value);
                    }
                    spin_loop();
                    value = self.load(order);
                }
                if done(value) { Ok(value) } else { Err(value) }
            }
            #[inline(always)]
            fn peek(&self) -> $value {
                self.0.load(Ordering::Relaxed)
            }
            #[inline(always)]
            fn prefetch_write(&self) {
                os::prefetch_write(core::ptr::from_ref(self).cast());
            }
        }

        impl ConstAtomic<$value> for $name {
            const ZERO: Self = Self($atomic::new(0));
            const ONE: Self = Self($atomic::new(1));
            const ONES: Self = Self($atomic::new($value::MAX));
        }
    };
}

cell! {
    /// One byte.
    Cell8, AtomicU8, u8
}
cell! {
    /// Two bytes.
    Cell16, AtomicU16, u16
}
cell! {
    /// Four bytes.
    Cell32, AtomicU32, u32
}
cell! {
    /// As many bytes as an address.
    CellUsize, AtomicUsize, usize
}
