//! The `spin` crate's mutex: test-and-test-and-set on one byte, never sleeps.
use crate::bench::contender::{Contender, Kind};

pub(crate) struct Spin(::spin::Mutex<()>);

impl Contender for Spin {
    const NAME: &'static str = "spin";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "spin::Mutex: test-and-test-and-set, never sleeps";
    const BYTES: usize = size_of::<::spin::Mutex<()>>();

    fn new() -> Self {
        Self(<::spin::Mutex<()>>::new(()))
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.0.lock();
        critical()
    }
}
