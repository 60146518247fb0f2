//! `qrw-spin`: the queued reader-writer lock as the kernel has it:
//! [`QueuedRwLock`](stanchion_core::QueuedRwLock) over [`QSpinLock`](crate::QSpinLock). All queue together:
//! nobody waits for its lock of writers.
use crate::QSpinLock;
use crate::platform::FamilyPlatform;
use stanchion_core::qrw::RwPolicy;

/// All queue together, the head lets nobody pass, and waiters spin, as in the kernel.
#[derive(Debug)]
pub enum Strict {}
impl<P: FamilyPlatform> RwPolicy<P> for Strict {
    type Queue = QSpinLock<P>;
    type Writers = QSpinLock<P>;
    const NAME: &'static str = "qrw-spin";
    const STRICT: bool = true;
}
