//! The names of parking_lot's deadlock detector, for those who ask it now and then. These locks keep no
//! record of their owners, so it finds nothing.
use std::thread::ThreadId;

/// A thread that is part of a deadlock. There is none of this type.
#[derive(Debug)]
pub struct DeadlockedThread(core::convert::Infallible);

impl DeadlockedThread {
    /// The thread's identity.
    pub fn thread_id(&self) -> ThreadId {
        match self.0 {}
    }

    /// Where it waits.
    pub fn backtrace(&self) -> &backtrace::Backtrace {
        match self.0 {}
    }
}

/// The deadlocks among these locks since the last call: none is ever found.
pub fn check_deadlock() -> Vec<Vec<DeadlockedThread>> {
    Vec::new()
}
