//! `xen-pv`: unfair byte; waiters sleep; a full fence at each release.
use super::ours::Ours;

pub(crate) struct XenPv;

impl Ours for XenPv {
    const NAME: &'static str = "xen-pv";
    const ABOUT: &'static str = "unfair byte; waiters sleep; a full fence at each release";
    type Silent = stanchion::lock::XenPvLock;
    type Counted = stanchion::lock::counted::XenPvLock;
}
