//! A deterministic machine that runs the very same locks.
//!
//! Two machines, in fact. The *timed* one ([`run`]) has caches, sockets, hypervisors and a clock, and answers
//! how fast a lock is on hardware that one does not own. The *stepping* one ([`explore`]) has no clock but an
//! adversary, and answers whether a lock is correct under the worst of schedules. Both run lock code of
//! `stanchion-core` unchanged, in coroutines on one host thread, and both repeat exactly from a seed.
mod arena;
mod coherence;
pub mod contexts;
mod coroutine;
mod datafile;
mod domain;
mod engine;
pub mod explore;
mod here;
mod libcs;
mod locks;
pub mod machine;
mod platform;
mod random;
pub mod replay;
mod run;
mod rw_locks;
mod sched;
mod test_and_set;
#[cfg(test)]
mod testing;
mod time;
mod widen;
pub mod workload;

pub use datafile::{nearest, text_of, time as parse_time, unknown};
pub use engine::{ByCause, Cause, Effort, Handover, Kick, Ran, Recording, Spell};
pub use here::Handovers;
pub use platform::Sim;
pub use run::{
    Failure, Outcome, Spec, check, lock_names, names_locks, run, rw_lock_names, rw_variant_names,
    variant_names,
};
pub use time::{MS, NS, Time, US};
