//! `unfair-q`: queue whose waiters may steal.
use super::ours::Ours;

pub(crate) struct UnfairQ;

impl Ours for UnfairQ {
    const NAME: &'static str = "unfair-q";
    const ABOUT: &'static str = "queue whose waiters may steal; waiters spin";
    type Silent = stanchion::lock::UnfairQueuedLock;
    type Counted = stanchion::lock::counted::UnfairQueuedLock;
}
