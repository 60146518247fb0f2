//! `usync::RwLock`: one word that is both the lock and the head of a lock-free queue of threads.
use crate::bench::contender::Kind;
use crate::bench::rw::contender::RwContender;

pub(crate) struct Usync(::usync::RwLock<()>);

impl RwContender for Usync {
    const NAME: &'static str = "usync";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "usync::RwLock: one word, lock-free queue of parked threads";
    const BYTES: usize = size_of::<::usync::RwLock<()>>();

    fn new() -> Self {
        Self(<::usync::RwLock<()>>::new(()))
    }

    by_guards!();
}
