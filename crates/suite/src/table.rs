//! The tests as a list, for worlds without a test harness.
use crate::{Case, Load, World};
use alloc::vec::Vec;

/// One test.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// What it is called: `lock::body`, with `_` for other signs.
    pub name: &'static str,
    /// What it is.
    pub case: Case,
    pub(crate) run_case: fn(&Case, fn(Load)),
    pub(crate) body: fn(Load),
}

impl Test {
    /// Runs it. A test that fails panics.
    pub fn run(&self) {
        (self.run_case)(&self.case, self.body);
    }

    /// Whether it is one of the lock that command lines call `name`, as `pv-qspin-hash`.
    pub fn is_of(&self, name: &str) -> bool {
        self.case.lock == name
    }

    /// What a function of [`mutex_tests!`](crate::mutex_tests) does.
    #[doc(hidden)]
    pub fn check<W: World>(case: &Case, body: fn(Load)) {
        W::run_case(case, body);
    }
}

/// Every test of every lock, in the world `W`.
pub fn tests<W: World>() -> Vec<Test> {
    let mut tests = Vec::new();
    stanchion_family::for_each_mutex! { W::Platform; crate::mutex_rows; tests W }
    stanchion_family::for_each_rwlock! { W::Platform; crate::rw_rows; tests W }
    tests
}
