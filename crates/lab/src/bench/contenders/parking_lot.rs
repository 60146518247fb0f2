//! `parking_lot::Mutex`: one byte, spins with exponential back-off, then parks in a global hash table.
use crate::bench::contender::{Contender, Kind, Memory};

pub(crate) struct ParkingLot(::parking_lot::Mutex<()>);

impl Contender for ParkingLot {
    const NAME: &'static str = "parking_lot";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "parking_lot::Mutex: one byte, backs off, parks in a global table";
    const BYTES: usize = size_of::<::parking_lot::Mutex<()>>();
    const MEMORY: Memory = Memory { per_thread: 192, ..Memory::NONE };

    fn new() -> Self {
        Self(<::parking_lot::Mutex<()>>::new(()))
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.0.lock();
        critical()
    }
}
