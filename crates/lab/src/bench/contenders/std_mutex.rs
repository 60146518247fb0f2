//! `std::sync::Mutex`: on Linux a three-state futex word with a short spin, and a poison flag.
use crate::bench::contender::{Contender, Kind};
use std::sync::{Mutex, PoisonError};

pub(crate) struct Std(Mutex<()>);

impl Contender for Std {
    const NAME: &'static str = "std";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "std::sync::Mutex: futex word, 100 polls, then sleep";
    const BYTES: usize = size_of::<Mutex<()>>();

    fn new() -> Self {
        Self(Mutex::new(()))
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        // No critical section of the benchmark panics, so poison means nothing here.
        let _guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        critical()
    }
}
