//! The tests as a list, for worlds without a test harness.
use crate::catalogue::{
    ByteLock, CnaLock, CountRwLock, On, Opportunistic, OwnerQueuedLock, OwnerYieldLock, PerCpuRwLock, Plain,
    PvQSpinLock, PvTicketLock, QSpinLock, QueuedRwLock, ReadersFirst, StanchionLock, Strict, TicketLock,
    UnfairQueuedLock, XenPvLock, pv,
};
use crate::{Case, Load, World};
use alloc::vec::Vec;

/// One test.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// What it is called: `lock::body`.
    pub name: &'static str,
    /// What it is.
    pub case: Case,
    pub(crate) conduct: fn(&Case, fn(Load)),
    pub(crate) body: fn(Load),
}

impl Test {
    /// Runs it. A test that fails panics.
    pub fn run(&self) {
        (self.conduct)(&self.case, self.body);
    }

    /// Whether it is one of the lock that command lines call `name`, as `pv-qspin-hash`.
    pub fn is_of(&self, name: &str) -> bool {
        let as_in_catalogue = name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' });
        self.case.lock.chars().eq(as_in_catalogue)
    }

    /// What a function of [`mutex_tests!`](crate::mutex_tests) does.
    #[doc(hidden)]
    pub fn check<W: World>(case: &Case, body: fn(Load)) {
        W::conduct(case, body);
    }
}

/// Every test of every lock, in the world `W`.
pub fn tests<W: World>() -> Vec<Test> {
    let mut tests = Vec::new();
    crate::mutexes! { crate::mutex_rows; tests }
    crate::rwlocks! { crate::rw_rows; tests }
    tests
}
