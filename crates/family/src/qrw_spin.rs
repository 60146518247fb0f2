//! `qrw-spin`: the queued reader-writer lock as the kernel has it; see [`stanchion_core::qrw`].
use crate::qspin::QSpinLock;
use stanchion_core::qrw::{QueuedRwLock, RwPolicy};

/// [`QueuedRwLock`] strictly in order, whose waiters spin.
pub type QueuedSpinRwLock<P> = QueuedRwLock<P, QSpinLock<P>, Strict>;

/// The head lets nobody pass, and spins, as in the kernel. With a queue lock that spins.
#[derive(Debug)]
pub enum Strict {}
impl RwPolicy for Strict {
    const NAME: &'static str = "qrw-spin";
    const PATIENT: bool = false;
    const HALTS: bool = false;
}
