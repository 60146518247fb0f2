//! `stanchion sim`: the same locks on machines that one does not own. Arguments become cells ([`config`]),
//! which a pool of threads runs once a seed. What comes back ([`report`]) is written out whenever a cell is
//! finished ([`export`], [`table`]). One run alone can be looked at instead: [`trace`], [`timeline`].
mod args;
mod config;
mod export;
mod report;
mod run;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod timeline;
mod trace;

pub(crate) use args::Args;
pub(crate) use run::{run, run_showing};
