//! `pv-qspin`: paravirtual queued lock: steals, queues, sleeps; the default.
use super::ours::Ours;

pub(crate) struct PvQSpin;

impl Ours for PvQSpin {
    const NAME: &'static str = "pv-qspin";
    const ABOUT: &'static str = "paravirtual queued lock: steals, queues, sleeps; the default";
    type Silent = stanchion::lock::PvQSpinLock;
    type Counted = stanchion::lock::counted::PvQSpinLock;
}
