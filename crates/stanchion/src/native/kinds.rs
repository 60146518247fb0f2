//! The native platform as a type, with the kinds that there are of it.
use core::marker::PhantomData;
use stanchion_core::Event;

/// The operating system as the machine under a lock.
///
/// `C` says whether lock events are counted: [`Silent`] (the default, no code at all) or [`Counted`].
#[derive(Debug)]
pub struct Native<C: Counting = Silent>(PhantomData<fn() -> C>);

/// The storage of all threads; see [`Machine::with_domain`](stanchion_core::Machine::with_domain).
#[derive(Debug)]
pub struct NativeDomain(pub(super) ());

/// Whether a native platform counts lock events, and what it may do to a lock that it has released.
/// Implemented by [`Silent`], [`Counted`], [`Destroyable`], [`CountedDestroyable`], [`Observed`] and
/// [`Looking`] only.
pub trait Counting: sealed::Sealed {}

/// Lock events are not counted and cost nothing.
#[derive(Debug)]
pub enum Silent {}

/// Lock events are counted; read them with [`crate::events`].
#[derive(Debug)]
pub enum Counted {}

/// As [`Silent`], and a lock's memory may be gone as soon as it is released: `pv-qspin` does not even read it
/// then.
///
/// A thread keeps a pointer into the code that it released a lock with last: code that uses this kind must
/// not be unloaded (`dlclose`) while its threads live.
///
/// Locks that do not release through [`Machine::store_then_load`](stanchion_core::Machine::store_then_load)
/// with two neighbouring bytes are what they are anyway.
#[derive(Debug)]
pub enum Destroyable {}

/// As [`Destroyable`], and lock events are counted.
#[derive(Debug)]
pub enum CountedDestroyable {}

/// As [`Destroyable`], and each thread can see what it did at locks of this kind: [`watch`](super::watch).
#[derive(Debug)]
pub enum Observed {}

/// As [`Observed`], and a thread that sleeps long in the queue of the default lock looks around:
/// [`watch::look_around`](super::watch::look_around).
#[derive(Debug)]
pub enum Looking {}

impl<C: sealed::Sealed> Counting for C {}

pub(super) mod sealed {
    use super::Event;

    /// What differs between them.
    pub trait Sealed: Sized + 'static {
        /// Whether it counts.
        const COUNTS: bool;
        /// Whether a lock may be gone once it was released.
        const DESTROYABLE: bool;
        /// Whether threads see what they did.
        const WATCHES: bool;
        /// Whether a thread looks around that sleeps long.
        const LOOKS: bool;
        fn count(event: Event, times: u32);
    }
}
