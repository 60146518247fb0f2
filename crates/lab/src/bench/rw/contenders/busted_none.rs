//! No lock at all. With one thread it is the harness's own overhead; with more it must be caught.
use crate::bench::contender::Kind;
use crate::bench::rw::contender::RwContender;

pub(crate) struct BustedNone;

impl RwContender for BustedNone {
    const NAME: &'static str = crate::bench::plan::NO_LOCK;
    const KIND: Kind = Kind::Hidden;
    const ABOUT: &'static str = "no exclusion: the overhead of the harness, and a canary of its check";
    const BYTES: usize = 0;

    fn new() -> Self {
        Self
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }
}
