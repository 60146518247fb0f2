//! The command as it is called: what it refuses, prints and writes. What needs the machine's time for figures
//! or for locks to be caught is in the other binaries, so that nothing else of ours runs beside it.
mod advise;
mod bench_input;
mod calibrate_input;
mod closed_pipe;
#[path = "../common/mod.rs"]
mod common;
mod explore;
mod fits;
mod guest;
#[path = "../common/interrupted.rs"]
mod interrupted;
mod report;
mod sim_input;
mod sim_run;
