//! No lock at all. With one thread it is the harness's own overhead; with more it must be caught.
use crate::bench::contender::{Contender, Kind};

pub(crate) struct BustedNone;

impl Contender for BustedNone {
    const NAME: &'static str = "busted-none";
    const KIND: Kind = Kind::Hidden;
    const ABOUT: &'static str = "no exclusion: the overhead of the harness, and a canary of its check";
    const BYTES: usize = 0;

    fn new() -> Self {
        Self
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }
}
