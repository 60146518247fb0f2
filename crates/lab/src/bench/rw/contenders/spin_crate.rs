//! `spin::RwLock`: one word of readers and flags; never sleeps, readers may starve writers.
use crate::bench::contender::Kind;
use crate::bench::rw::contender::RwContender;

pub(crate) struct Spin(::spin::RwLock<()>);

impl RwContender for Spin {
    const NAME: &'static str = "spin";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "spin::RwLock: one word; never sleeps";
    const BYTES: usize = size_of::<::spin::RwLock<()>>();

    fn new() -> Self {
        Self(<::spin::RwLock<()>>::new(()))
    }

    by_guards!();
}
