//! How locks of other libraries are taken, those below `lock_api` among them, and none at all.
use crate::bench::contender::Contender;
use core::convert::identity;
use crossbeam_utils::sync::ShardedLock;
use lock_api::{RawMutex, RawRwLock};
use std::sync::{LockResult, Mutex, PoisonError, RwLock};

/// Locks whose guards are what a section needs, once `$guard` has been made of what the two methods return
/// by which they are read and written: one method, if they are mutexes.
macro_rules! by_guards {
    ($guard:ident, RW = $rw:literal, $read:ident, $write:ident: $([$($raw:tt)*] $lock:ty;)*) => {
        $(impl<$($raw)*> Contender for $lock {
            const RW: bool = $rw;

            fn new() -> Self {
                Self::new(())
            }

            #[inline]
            fn read<T>(&self, critical: impl FnOnce() -> T) -> T {
                let _guard = $guard(self.$read());
                critical()
            }

            #[inline]
            fn write<T>(&self, critical: impl FnOnce() -> T) -> T {
                let _guard = $guard(self.$write());
                critical()
            }
        })*
    };
}

by_guards! { identity, RW = false, lock, lock:
    [R: RawMutex + Send + Sync + 'static] lock_api::Mutex<R, ()>;
    [] spin::Mutex<()>;
    [] usync::Mutex<()>;
}
by_guards! { identity, RW = true, read, write:
    [R: RawRwLock + Send + Sync + 'static] lock_api::RwLock<R, ()>;
    [] spin::RwLock<()>;
    [] usync::RwLock<()>;
}
by_guards! { unpoisoned, RW = false, lock, lock: [] Mutex<()>; }
by_guards! { unpoisoned, RW = true, read, write: [] RwLock<()>; [] ShardedLock<()>; }

/// No critical section of the benchmark panics, so poison means nothing here.
#[inline]
fn unpoisoned<G>(guard: LockResult<G>) -> G {
    guard.unwrap_or_else(PoisonError::into_inner)
}

/// Each waiter spins on its own node on its own stack.
impl Contender for mcslock::raw::spins::Mutex<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.lock_then(|()| critical())
    }
}

pub(crate) struct None<const RW: bool>;

impl<const RW: bool> Contender for None<RW> {
    const RW: bool = RW;

    fn new() -> Self {
        Self
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }
}
