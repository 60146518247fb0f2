//! What the commands of the laboratory have in common, so that each of them is only its own experiment: what
//! is typed ([`names`], [`units`], [`usage`], [`seed`]), how far a run is ([`progress`], [`interrupt`]), what
//! it says ([`stats`], [`compare`], [`sample`]), and what comes out ([`output`], [`export`], [`provenance`]),
//! all of which an [`experiment`] puts together; other programs as parts of it ([`child`], [`cgroup`]).
#![deny(unsafe_code)]
#![deny(clippy::print_stderr, reason = "it panics where nobody reads it")]
#![expect(missing_docs, reason = "fields and variants say what they are by their names")]

pub mod cgroup;
pub mod child;
pub mod compare;
pub mod experiment;
pub mod export;
pub mod interrupt;
pub mod names;
pub mod output;
pub mod progress;
pub mod provenance;
pub mod sample;
pub mod seed;
pub mod units;
pub mod usage;

pub use stanchion_cells::{column, stats};
