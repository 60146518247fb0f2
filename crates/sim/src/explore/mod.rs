//! A stepping machine: the same locks under random and priority schedules, with faults.
//!
//! Contexts are coroutines on one host thread. Each memory operation of a lock is a *step*; before each step
//! a strategy decides who goes next, so every interleaving of steps can come up, and a seed brings it up
//! again. What is checked: mutual exclusion, that somebody can always go on, each visible change of the
//! lock's word against its transition table, the lock's stated bound on overtaking. A limited wait ends no
//! earlier than its deadline and sleeps no longer. In the end nothing is left of the waiting: words are as
//! they were at first, nodes, parking slots and places are given back. A failure is cut down to
//! a short interleaving that can be read.
//!
//! A context that waits for a cell sleeps until the cell changes; spinning takes no steps. Between
//! [`Fault::StoreBuffers`] and sequential consistency lies all that this world knows of weak memory: total
//! store order. Reordering beyond that is the model checker's part.
//!
//! - What is explored, and with which options: `subjects` (`family` and `rw_subjects`), `plan`,
//!   `machine`, `fault`; what is broken on purpose: `busted`.
//! - The machine: `engine` (steps, turns, halts), `cells`, `domain` and `platform` (what a lock sees),
//!   `buffers` (total store order), `chooser` (who goes next), `watch` (what must hold).
//! - Running: `run` (one schedule), `limits` (waits that end), `campaign` (many), `script`, `minimise` and
//!   `trace` (a failure made readable).
mod buffers;
mod busted;
mod campaign;
mod cells;
mod chooser;
mod contexts;
mod domain;
mod engine;
mod failure;
mod fair;
mod family;
mod fault;
mod limits;
mod machine;
mod minimise;
mod names;
mod plan;
mod platform;
mod policies;
mod run;
mod rw_program;
mod rw_subjects;
mod script;
mod sharing;
#[cfg(test)]
mod stopped;
mod subjects;
mod trace;
mod watch;

use crate::arena::LINE_BYTES;
pub use campaign::{Tally, explore};
pub use cells::{CellU8, CellU16, CellU32};
pub use contexts::{run_contexts, wait_until};
pub use domain::{Cells, SteppedDomain};
pub use failure::{Failure, Kind};
pub use fault::{Fault, Faults};
pub use minimise::{Finding, Replay, investigate, replay};
pub use plan::{Options, Strategy};
pub use platform::Stepped;
pub use stanchion_family::catalogue::Overtaking;
pub use subjects::{Broken, Subject, busted, locks};

/// How many contexts there can be at most.
pub const CONTEXTS: usize = 8;

/// The places of locks are so far from each other: room for the largest one.
const LOCK_BYTES: usize = 16 * LINE_BYTES;

/// The number of a context.
type Ctx = usize;
