//! `crossbeam_utils::sync::ShardedLock`: eight locks; a reader takes its own, a writer takes all.
use crate::bench::contender::{Kind, Memory};
use crate::bench::rw::contender::RwContender;
use crossbeam_utils::sync::ShardedLock;
use std::sync::PoisonError;

pub(crate) struct Sharded(ShardedLock<()>);

impl RwContender for Sharded {
    const NAME: &'static str = "crossbeam-sharded";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "ShardedLock: eight locks, a reader takes one, a writer all";
    const BYTES: usize = size_of::<ShardedLock<()>>();
    /// Eight shards on two lines each; a thread has an entry in a table of all threads.
    const MEMORY: Memory = Memory { heap_per_lock: 8 * 128, per_thread: 32, ..Memory::NONE };

    fn new() -> Self {
        Self(<ShardedLock<()>>::new(()))
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
