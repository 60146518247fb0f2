//! `owner-qspin`: queue that knows its owner.
use super::ours::Ours;

pub(crate) struct OwnerQSpin;

impl Ours for OwnerQSpin {
    const NAME: &'static str = "owner-qspin";
    const ABOUT: &'static str = "queue that knows its owner; waiters spin or yield";
    type Silent = stanchion::lock::OwnerQueuedLock;
    type Counted = stanchion::lock::counted::OwnerQueuedLock;
}
