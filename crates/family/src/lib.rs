//! The locks of virtualised and NUMA machines that Stanchion came from, and those that it is compared with,
//! on the same [`Platform`](stanchion_core::Platform).
//!
//! They wait with queue nodes of their own, and find sleepers in tables of their own: a world has room for
//! both if its storage is a [`FamilyDomain`], and is a [`FamilyPlatform`] by that.
//!
//! The [`catalogue`] has a row for each lock, those of the product first.
#![no_std]
#![forbid(unsafe_code)]

mod blocked;
pub mod catalogue;
pub mod events;
pub mod heads;
pub mod parking;
pub mod percpu;
pub mod platform;
pub mod qrw_spin;
mod slow_path;
pub mod tail;
pub mod tunables;
pub mod tuned;

pub use platform::{FamilyDomain, FamilyPlatform};
pub use stanchion_core;

// locks: modules of the family
pub mod byte;
pub mod cna;
pub mod hmcs;
pub mod malthusian;
pub mod owner_queued;
pub mod owner_yield;
pub mod pv_qspin;
pub mod pv_ticket;
pub mod qspin;
pub mod reciprocating;
pub mod rw_simple;
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
pub use pv_qspin::PvQSpinLock;
pub use pv_ticket::PvTicketLock;
pub use qspin::QSpinLock;
pub use reciprocating::ReciprocatingLock;
pub use rw_simple::CountRwLock;
pub use ticket::TicketLock;
pub use twa::TwaLock;
pub use unfair_q::UnfairQueuedLock;
pub use xen_pv::XenPvLock;
// end of locks
