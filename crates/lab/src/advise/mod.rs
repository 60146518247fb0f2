//! `stanchion advise`: from a recorded program to the machine that it will run on.
//!
//! A recording ([`load`], [`causes`], [`telling`], [`recorder`]) becomes what the simulator replays. It is
//! run on the machines that were asked for ([`place`]) with each lock ([`predict`]); the [`report`] decides,
//! and the [`answer`] says so first. [`usl`] is the law that a prediction has to beat; [`html`] the page.
mod answer;
mod args;
mod causes;
mod html;
mod load;
mod place;
mod predict;
mod recorder;
mod report;
mod run;
mod telling;
mod usl;

pub(crate) use args::Args;
pub(crate) use run::run;

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 there is an answer; 1 a run failed or a file could not be written; \
2 bad input, nothing was simulated; 130 interrupted, what was finished is kept.";
