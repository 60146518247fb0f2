//! `usync::Mutex`: one word that is both the lock and the head of a lock-free queue of threads.
use crate::bench::contender::{Contender, Kind};

pub(crate) struct Usync(::usync::Mutex<()>);

impl Contender for Usync {
    const NAME: &'static str = "usync";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "usync::Mutex: one word, lock-free queue of parked threads";
    const BYTES: usize = size_of::<::usync::Mutex<()>>();

    fn new() -> Self {
        Self(<::usync::Mutex<()>>::new(()))
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.0.lock();
        critical()
    }
}
