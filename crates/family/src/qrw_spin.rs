//! `qrw-spin`: the queued reader-writer lock as the kernel has it:
//! [`QueuedRwLock`](stanchion_core::QueuedRwLock) over [`QSpinLock`](crate::QSpinLock).
use stanchion_core::qrw::RwPolicy;

/// The head lets nobody pass, and spins, as in the kernel. With a queue lock that spins.
#[derive(Debug)]
pub enum Strict {}
impl RwPolicy for Strict {
    const NAME: &'static str = "qrw-spin";
    const PASSING: bool = false;
    const HALTS: bool = false;
}
