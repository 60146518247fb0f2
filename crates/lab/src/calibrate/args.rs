//! What may be typed after `stanchion calibrate`.
use super::outcome::DEFAULTS;
use core::time::Duration;
use lab_kit::export::ResultFile;
use lab_kit::units::{parse_time, within};
use stanchion_sim::machine::{self, file};
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Exit codes: 0 all went well; 1 nothing came of it; \
2 bad input, nothing was measured; 130 interrupted, what was finished is kept.")]
pub(crate) struct Args {
    /// Write the machine file here [default: printed only]
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    pub toml: Option<PathBuf>,

    /// Name of the machine
    #[arg(long, value_name = "NAME", default_value = "this-machine", value_parser = named)]
    pub name: String,

    /// CPUs to measure, such as 0-3,8 [default: all this process may use]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,

    /// Fewer rounds: under ten seconds
    #[arg(long)]
    pub quick: bool,

    #[command(flatten)]
    pub results: ResultFile,

    /// Compare instead: run benchmark cells here and simulate the same cells, side by side
    #[arg(long)]
    pub compare: bool,

    /// The machine to simulate: a name or a file [default: measured just now]
    #[arg(long, requires = "compare", conflicts_with_all = ["name", "quick"], value_name = "FILE")]
    pub machine: Option<String>,

    /// Replace a field of the machine, such as memory.upgrade=30; may be given several times
    #[arg(long, requires = "compare", value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Locks to compare, separated by commas
    #[arg(long, requires = "compare", value_name = "LIST", default_value = "byte,ticket,qspin,pv-qspin")]
    pub lock: String,

    /// Thread counts, as for `stanchion bench` [default: those of the benchmark]
    #[arg(long, requires = "compare", value_name = "LIST")]
    pub threads: Option<String>,

    /// Profiles, as for `stanchion bench`, but for `yield` [default: empty,short,medium,long]
    #[arg(long, requires = "compare", value_name = "LIST")]
    pub profile: Option<String>,

    /// Also compare all cells with the time of so many CPUs, as for `stanchion bench`
    #[arg(long, requires = "compare", value_name = "LIST")]
    pub cpu_limit: Option<String>,

    /// Take the native side from the JSON of an earlier benchmark on this machine
    #[arg(long, requires = "compare", conflicts_with_all = ["time", "rounds", "cpu_limit"], value_name = "FILE")]
    pub bench_json: Option<PathBuf>,

    /// Length of a native round [default: 300ms]
    #[arg(long, requires = "compare", value_name = "TIME")]
    pub time: Option<String>,

    /// Native rounds of each cell [default: 5]
    #[arg(long, requires = "compare", value_name = "N")]
    pub rounds: Option<u32>,

    /// Virtual time of a simulated run
    #[arg(long, requires = "compare", value_name = "TIME", default_value = "1s", value_parser = virtual_time)]
    pub sim_time: Duration,

    /// Simulated runs of each cell, with seeds of their own; the median counts
    #[arg(long, requires = "compare", value_name = "N", default_value_t = 3, value_parser = within(1_u64, 100))]
    pub seeds: u64,

    /// Write one row per cell as CSV
    #[arg(long, requires = "compare", value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

fn virtual_time(text: &str) -> Result<Duration, String> {
    let time = parse_time(text)?;
    if time < Duration::from_millis(1) { Err("the least is 1 ms".to_owned()) } else { Ok(time) }
}

#[cfg(test)]
impl Args {
    /// Of the words behind `stanchion calibrate --compare`.
    pub(super) fn of(words: &[&str]) -> Self {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            args: Args,
        }
        <Line as clap::Parser>::parse_from(["calibrate", "--compare"].iter().chain(words)).args
    }
}

/// A name that a machine file may have.
fn named(name: &str) -> Result<String, String> {
    let machine = machine::load(DEFAULTS)?;
    match file::apply_set(&machine, &format!("name=\"{name}\"")) {
        Ok(_) => Ok(name.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
