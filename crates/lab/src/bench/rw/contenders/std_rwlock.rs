//! `std::sync::RwLock`: on Linux a futex word for the state, and one that writers sleep on; writers first.
use crate::bench::contender::Kind;
use crate::bench::rw::contender::RwContender;
use std::sync::{PoisonError, RwLock};

pub(crate) struct Std(RwLock<()>);

impl RwContender for Std {
    const NAME: &'static str = "std";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "std::sync::RwLock: two futex words, 100 polls, then sleep";
    const BYTES: usize = size_of::<RwLock<()>>();

    fn new() -> Self {
        Self(<RwLock<()>>::new(()))
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.0.read().unwrap_or_else(PoisonError::into_inner);
        critical()
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.0.write().unwrap_or_else(PoisonError::into_inner);
        critical()
    }
}
