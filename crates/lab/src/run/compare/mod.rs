//! `stanchion run --compare`: one program under several locks, again and again in turn.
//!
//! [`setting`] is what was asked for and in which order the runs go, [`metric`] what is compared, [`executor`]
//! one run and what it printed, [`report`] what came of all and how sure that is, as [`table`] and [`export`]
//! tell it. [`drive`] is the whole from arguments to exit code.
mod drive;
mod executor;
mod export;
mod metric;
mod report;
mod setting;
mod table;
#[cfg(test)]
mod testing;

pub(crate) use drive::{Comparison, run};
pub(crate) use export::{CSV, JSON};
pub(crate) use metric::Metric;
pub(crate) use setting::{Order, Setting};
