//! How locks of other libraries are taken, and none at all.
use crate::bench::contender::Contender;
use core::convert::identity;
use crossbeam_utils::sync::ShardedLock;
use std::sync::{LockResult, Mutex, PoisonError, RwLock};

/// Locks whose guards are what a section needs, once `$guard` has been made of what they return.
macro_rules! by_guards {
    ($guard:ident: $($mutex:ty),*; $($rwlock:ty),*) => {
        $(impl Contender for $mutex {
            fn new() -> Self {
                Self::new(())
            }

            #[inline]
            fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
                let _guard = $guard(self.lock());
                critical()
            }
        })*
        $(impl Contender for $rwlock {
            fn new() -> Self {
                Self::new(())
            }

            #[inline]
            fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
                let _guard = $guard(self.read());
                critical()
            }

            #[inline]
            fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
                let _guard = $guard(self.write());
                critical()
            }
        })*
    };
}

by_guards! { identity: spin::Mutex<()>, usync::Mutex<()>; spin::RwLock<()>, usync::RwLock<()> }
by_guards! { unpoisoned: Mutex<()>; RwLock<()>, ShardedLock<()> }

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

/// No lock at all. With one thread it is the harness's own overhead; with more it must be caught.
pub(crate) struct None;

impl Contender for None {
    fn new() -> Self {
        Self
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }
}
