//! `stanchion-fenced`: `stanchion` on a system without `membarrier`. Not in the default set; select it by
//! name.
use crate::bench::contender::{Contender, Kind};
use lock_api::Mutex;
use stanchion::lock::StanchionLock;

pub(crate) struct StanchionFenced(Mutex<StanchionLock, ()>);

impl Contender for StanchionFenced {
    const NAME: &'static str = "stanchion-fenced";
    const KIND: Kind = Kind::Hidden;
    const ABOUT: &'static str = "stanchion whose release is a swap, as without membarrier";
    const BYTES: usize = size_of::<StanchionLock>();

    fn new() -> Self {
        Self(Mutex::new(()))
    }

    /// For the whole process, which is this cell's own.
    fn settle(&self) {
        stanchion::native::force_fenced_release();
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.0.lock();
        critical()
    }
}
