//! `cna`: the queued spin lock that prefers waiters of its own NUMA node.
use super::ours::Ours;

pub(crate) struct Cna;

impl Ours for Cna {
    const NAME: &'static str = "cna";
    const ABOUT: &'static str = "queued spin lock that prefers its own NUMA node; waiters spin";
    type Silent = stanchion::lock::CnaLock;
    type Counted = stanchion::lock::counted::CnaLock;
}
