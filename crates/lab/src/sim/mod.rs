//! `stanchion sim`: the same locks on machines that one does not own. Arguments ([`args`]) are resolved
//! ([`config`]) into cells. A pool of threads ([`stanchion_cells::pool`]) runs every cell once a seed; what comes
//! back is put together ([`report`]) and written out whenever a cell is finished ([`export`], [`table`]).
//! One run alone can be looked at instead: [`trace`], [`timeline`].
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
pub(crate) use export::named;
pub(crate) use run::{run, run_showing};

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 a lock was broken, a run hung or a file could not be written; \
2 bad input, nothing was simulated; 130 interrupted, what was finished is kept.";
