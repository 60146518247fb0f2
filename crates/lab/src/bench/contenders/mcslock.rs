//! The MCS queue lock of the `mcslock` crate: FIFO, each waiter spins on its own node on its own stack.
use crate::bench::contender::{Contender, Kind};
use ::mcslock::raw::spins::Mutex;

pub(crate) struct Mcs(Mutex<()>);

impl Contender for Mcs {
    const NAME: &'static str = "mcslock";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "mcslock::raw::spins::Mutex: MCS queue lock, FIFO, never sleeps";
    const BYTES: usize = size_of::<Mutex<()>>();

    fn new() -> Self {
        Self(Mutex::new(()))
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.0.lock_then(|()| critical())
    }
}
