//! Cells that belong to one context.
use crate::machine::{Atomic, ConstAtomic};
use crate::order::Relaxed;

/// A cell that only its own context touches, and handlers that interrupt it. So its accesses need no order
/// but that of the program; a handler that runs between two of them puts back what it changes, or does no
/// harm by it. Where a handler must see the one before the other, a
/// [`compiler_barrier`](crate::Machine::compiler_barrier) stands between.
///
/// A world that knows its contexts fails if another one touches the cell ([`Atomic::is_private`]).
#[repr(transparent)]
pub struct Private<A>(A);

impl<A> Private<A> {
    /// A cell holding `value`.
    pub fn new<T: Copy + Eq>(value: T) -> Self
    where
        A: Atomic<T>,
    {
        Self(A::new(value))
    }

    /// What the calling context, whose cell it is, wrote last.
    #[inline(always)]
    pub fn get<T: Copy + Eq>(&self) -> T
    where
        A: Atomic<T>,
    {
        self.0.is_private();
        // ord: PC1 alone: nobody else touches the cell
        self.0.load(Relaxed)
    }

    /// Writes the cell of the calling context.
    #[inline(always)]
    pub fn set<T: Copy + Eq>(&self, value: T)
    where
        A: Atomic<T>,
    {
        self.0.is_private();
        // ord: PC2 alone: nobody else touches the cell
        self.0.store(value, Relaxed);
    }

    /// What the cell holds, for reports and debug checks: see [`Atomic::peek`].
    pub fn peek<T: Copy + Eq>(&self) -> T
    where
        A: Atomic<T>,
    {
        self.0.peek()
    }

    /// A cell holding zero.
    pub const fn zero<T: Copy + Eq>() -> Self
    where
        A: ConstAtomic<T>,
    {
        Self(A::ZERO)
    }
}
