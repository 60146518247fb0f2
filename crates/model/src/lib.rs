//! The locks of `stanchion-core` under the loom model checker.
//!
//! A lock is generic over its world, and [`Model`] is one in which loom decides which context goes on, and
//! which of the stores that the language allows a load reads. A *shape* ([`shapes`]) is a small program; all
//! its executions are explored, or all with a bounded number of preemptions. A check fails if two sections
//! are not ordered by the lock (loom sees accesses of data that nothing separates), if nobody goes on (a lost
//! wake-up), if a word is not free at the end, if a node or a parking slot was not given back, or, in debug
//! builds, if a write is in no row of the word's table.
//!
//! `cargo run --release -p stanchion-model -- --help` prints a table with the executions of each check.
//!
//! # What the model does not say
//!
//! - **Mixed sizes**: loom has none. The locks have none either (invariant A2).
//! - **Load buffering**: a load never reads a store that comes later in the execution. Hardware may do so
//!   where both are relaxed and independent; no lock here relies on the opposite, but loom would not notice
//!   one that did.
//! - **A `SeqCst` access is a release or an acquire**, no more; only fences are sequentially consistent. That
//!   is weaker than the language, so nothing is missed; a lock that relied on it would fail wrongly.
//! - **A `SeqCst` fence synchronises with all earlier ones**, which is stronger than the language. What is
//!   ordered by nothing but the fences of a store-buffering pair is not noticed.
//! - **The light side of an asymmetric pair is a fence**, so what is stored after it releases, relaxed or
//!   not: more than the light side promises.
//! - **Compilers**: a handler comes between any two accesses of its context in their order in the source.
//! - **An acquire fence** synchronises with stores that an earlier context read, too, if that comes before.
//!   Stronger, again.
//! - **Stores by two contexts that know nothing of each other** are ordered as they were explored where the
//!   cell is also exchanged; the language may order them the other way.
//! - **A read-modify-write reads the newest store explored so far**, even if nothing orders the two; the
//!   language lets it come before. Where a lock states that writes to a cell are ordered
//!   ([`InOrder`](stanchion_family::catalogue::InOrder)) the model checks both itself: they must be ordered
//!   by more than chance.
//! - **Two waiters at a time**: the second one is parked, and loom orders it after whoever wakes it.
//!   Orderings that only it would miss are not noticed.
//! - **Preemptions**: with three contexts and more, a row of the table is a search with a bound. Loom's
//!   pruning is made for programs that do not spin; that it leaves nothing out under a bound is not proven.
//! - **At most four contexts**, and seven stores of a cell that loads choose from.
//! - **Mixed polls**: bounded waits poll once or twice, so every bound that a lock states in polls is out of
//!   view. That is for the explorer in `stanchion-sim`.
//! - **Kicks and halts order nothing** and a kick that finds its target awake ends the next halt, whichever
//!   that is: weaker than any system. Late kicks are among the executions, since whoever is kicked may go on
//!   late.
#![forbid(unsafe_code)]

mod cells;
pub mod check;
pub mod contexts;
mod guard;
mod interrupts;
pub mod locks;
mod platform;
mod policies;
mod program;
mod run;
mod rw_shapes;
mod settings;
pub mod shapes;
mod subject;
mod weaken;
mod world;

pub use check::{Limits, Report};
pub use platform::Model;
pub use run::{Site, note_sites, take_sites, weaken};
pub use weaken::Weakening;
