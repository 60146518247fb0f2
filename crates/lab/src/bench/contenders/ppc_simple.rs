//! `ppc-simple`: unfair word that knows its owner.
use super::ours::Ours;

pub(crate) struct PpcSimple;

impl Ours for PpcSimple {
    const NAME: &'static str = "ppc-simple";
    const ABOUT: &'static str = "unfair word that knows its owner; waiters spin or yield";
    type Silent = stanchion::lock::OwnerYieldLock;
    type Counted = stanchion::lock::counted::OwnerYieldLock;
}
