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
