//! The lock family of virtualised and NUMA machines, written once and generic over the machine beneath.
//!
//! A lock asks the machine for very little: atomic cells, a way to halt and to kick, a number and some storage for each
//! execution context. [`Platform`] is that list. The worlds that implement it (operating system threads, a simulated
//! machine, a model checker, bare-metal vCPUs) live in other crates; this one depends on nothing.
//!
//! The [`catalogue`] has a row for each lock.
#![no_std]
#![forbid(unsafe_code)]

mod blocked;
pub mod catalogue;
pub mod events;
pub mod heads;
pub mod lock;
pub mod nodes;
pub mod order;
pub mod percpu;
pub mod platform;
pub mod rw;
mod slow_path;
pub mod spots;
pub mod tail;
pub mod transitions;
pub mod tunables;

pub use events::Event;
pub use lock::{ConstLock, ConstParavirtual, Paravirtual, RawLock};
pub use percpu_rw::{ReaderCell, ReaderClass};
pub use platform::{Atomic, ConstAtomic, CpuId, Platform, Released};
pub use rw::{ConstRwLock, Downgrade, RawRwLock, TooManyReaders, Upgradable};
pub use tunables::{BadSetting, Tunable, tuned};

// locks: modules
pub mod byte;
pub mod cna;
pub mod hmcs;
pub mod malthusian;
pub mod owner_queued;
pub mod owner_yield;
pub mod percpu_rw;
pub mod pv_qspin;
pub mod pv_ticket;
pub mod qrw;
pub mod qspin;
pub mod reciprocating;
pub mod rw_simple;
pub mod stanchion;
pub mod ticket;
pub mod twa;
pub mod unfair_q;
pub mod xen_pv;

pub use byte::ByteLock;
pub use cna::CnaLock;
pub use hmcs::HmcsLock;
pub use malthusian::MalthusianLock;
pub use owner_queued::OwnerQueuedLock;
pub use owner_yield::OwnerYieldLock;
pub use percpu_rw::PerCpuRwLock;
pub use pv_qspin::PvQSpinLock;
pub use pv_ticket::PvTicketLock;
pub use qrw::QueuedRwLock;
pub use qspin::QSpinLock;
pub use reciprocating::ReciprocatingLock;
pub use rw_simple::CountRwLock;
pub use stanchion::StanchionLock;
pub use ticket::TicketLock;
pub use twa::TwaLock;
pub use unfair_q::UnfairQueuedLock;
pub use xen_pv::XenPvLock;
// end of locks
