//! `qspin`: queued spin lock: pending bit, then a FIFO queue; never sleeps.
use super::ours::Ours;

pub(crate) struct QSpin;

impl Ours for QSpin {
    const NAME: &'static str = "qspin";
    const ABOUT: &'static str = "queued spin lock: pending bit, then a FIFO queue; never sleeps";
    type Silent = stanchion::lock::QSpinLock;
    type Counted = stanchion::lock::counted::QSpinLock;
}
