//! What the commands of the laboratory have in common, so that each of them is only its own experiment.
//!
//! - What is typed: [`names`] refuses unknown ones, [`units`] reads times, [`usage`] puts what clap says into
//!   one line, [`seed`] makes seeds.
//! - What it says: [`stats`], medians and ratios with their intervals.
//! - While it runs: [`progress`], and [`interrupt`], which asks a run to stop.
//! - What comes out: [`output`] has exit codes and standard output, [`export`] the files, plots and tables,
//!   [`provenance`] where a result comes from.
#![deny(unsafe_code)]
#![expect(missing_docs, reason = "fields and variants say what they are by their names")]

pub mod export;
pub mod interrupt;
pub mod names;
pub mod output;
pub mod progress;
pub mod provenance;
pub mod seed;
pub mod stats;
pub mod units;
pub mod usage;
