//! `qrw-spin`: the queued reader-writer lock as the kernel has it:
//! [`QueuedRwLock`](stanchion_core::QueuedRwLock) over [`QSpinLock`](crate::QSpinLock). All queue together:
//! nobody waits for its lock of writers.
use core::marker::PhantomData;
use stanchion_core::qrw::RwPolicy;
use stanchion_core::{Platform, RawLock};

/// All queue together for `L`, the head lets nobody pass, and waiters spin, as in the kernel.
#[derive(Debug)]
pub struct Strict<L>(PhantomData<fn() -> L>);
impl<P: Platform, L: RawLock<Platform = P> + 'static> RwPolicy<P> for Strict<L> {
    type Queue = L;
    type Writers = L;
    const NAME: &'static str = "qrw-spin";
    const STRICT: bool = true;
}
