//! Memory orderings as types, so that a release load does not compile.
//!
//! Each world translates [`Kind`] into its own ordering (the standard library's, loom's, the simulator's
//! none). Lock code passes the unit structs:
//!
//! ```
//! use stanchion_core::order::{Acquire, LoadOrder, Kind};
//! fn kind_of(order: impl LoadOrder) -> Kind { order.kind() }
//! assert_eq!(kind_of(Acquire), Kind::Acquire);
//! ```
//!
//! ```compile_fail
//! use stanchion_core::order::{LoadOrder, Release};
//! fn load(_order: impl LoadOrder) {}
//! load(Release); // a load cannot release
//! ```
//!
//! ```compile_fail
//! use stanchion_core::order::{Acquire, StoreOrder};
//! fn store(_order: impl StoreOrder) {}
//! store(Acquire); // a store cannot acquire
//! ```
// tidy: ordering-definitions: this file defines the names and performs no memory access

/// What a world has to translate; lock code uses the unit structs instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Atomicity only.
    Relaxed,
    /// Later accesses stay after this load.
    Acquire,
    /// Earlier accesses stay before this store.
    Release,
    /// Both, on a read-modify-write or a fence.
    AcqRel,
    /// Both, and one order that all contexts agree on.
    SeqCst,
}

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident: $($role:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Order for $name {
            #[inline(always)]
            fn kind(self) -> Kind { Kind::$name }
        }
        $(impl $role for $name {})*
    )*};
}

/// Any ordering.
pub trait Order: Copy {
    /// The value that a world translates.
    fn kind(self) -> Kind;
}
/// An ordering that a load may have.
pub trait LoadOrder: Order {}
/// An ordering that a store may have.
pub trait StoreOrder: Order {}
/// An ordering that a read-modify-write may have.
pub trait RmwOrder: Order {}
/// An ordering that a fence may have.
pub trait FenceOrder: Order {}

orders! {
    /// Atomicity only.
    Relaxed: LoadOrder StoreOrder RmwOrder;
    /// Later accesses stay after this one.
    Acquire: LoadOrder RmwOrder FenceOrder;
    /// Earlier accesses stay before this one.
    Release: StoreOrder RmwOrder FenceOrder;
    /// Acquire and release at once.
    AcqRel: RmwOrder FenceOrder;
    /// Acquire, release and a single total order.
    SeqCst: LoadOrder StoreOrder RmwOrder FenceOrder;
}
