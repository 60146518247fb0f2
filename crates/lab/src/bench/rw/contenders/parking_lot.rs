//! `parking_lot::RwLock`: one word, waiters in a global table by address; eventually fair.
use crate::bench::contender::{Kind, Memory};
use crate::bench::rw::contender::RwContender;

pub(crate) struct ParkingLot(::parking_lot::RwLock<()>);

impl RwContender for ParkingLot {
    const NAME: &'static str = "parking_lot";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "parking_lot::RwLock: one word, waiters in a global table";
    const BYTES: usize = size_of::<::parking_lot::RwLock<()>>();
    /// Three buckets of the global table, 64 bytes each.
    const MEMORY: Memory = Memory { per_thread: 192, ..Memory::NONE };

    fn new() -> Self {
        Self(<::parking_lot::RwLock<()>>::new(()))
    }

    by_guards!();
}
