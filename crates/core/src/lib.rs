//! The locks of Stanchion, written once and generic over the machine beneath.
//!
//! A lock asks the machine for very little: atomic cells, a way to halt and to kick, a number and some
//! storage for each execution context. [`Machine`] is that list, and a [`Platform`] is a machine with the
//! storage. The worlds that implement them (operating system threads, a simulated machine, a model checker,
//! bare-metal vCPUs) live in other crates; this one depends on nothing.
//!
//! The [`catalogue`] has a row for each lock.
#![no_std]
#![forbid(unsafe_code)]

pub mod catalogue;
#[macro_use]
#[doc(hidden)]
pub mod listed;
pub mod events;
pub mod lock;
pub mod machine;
pub mod nodes;
pub mod numbers;
pub mod order;
pub mod platform;
pub mod private;
pub mod readers;
pub mod rw;
pub mod transitions;
pub mod tunables;

pub use events::Event;
pub use lock::{ConstLock, ConstParavirtual, Paravirtual, RawLock};
pub use machine::{Atomic, ConstAtomic, Machine, Released};
pub use numbers::{CpuId, NodeId};
pub use platform::{Domain, Platform};
pub use private::Private;
pub use readers::{ReaderCell, ReaderClass};
pub use rw::{ConstRwLock, Downgrade, RawRwLock, TooManyReaders, Upgradable};
pub use tunables::Tunable;

// locks: modules of the product
pub mod percpu_rw;
pub mod qrw;
pub mod stanchion;

pub use percpu_rw::PerCpuRwLock;
pub use qrw::QueuedRwLock;
pub use stanchion::StanchionLock;
// end of locks
