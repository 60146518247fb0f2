//! What may be typed after `stanchion calibrate`.
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent flag")]
#[command(after_help = super::EXIT_CODES, args_override_self = true)]
pub(crate) struct Args {
    /// Write the machine file here [default: printed only]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Name of the machine [default: this-machine]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// CPUs to measure, such as 0-3,8 [default: all this process may use]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,

    /// Fewer rounds: under ten seconds
    #[arg(long)]
    pub quick: bool,

    /// Print the figures as JSON instead of a table
    #[arg(long)]
    pub json: bool,

    /// Replace an existing output file
    #[arg(long)]
    pub force: bool,

    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,

    /// Compare instead: run benchmark cells here and simulate the same cells, side by side
    #[arg(long)]
    pub compare: bool,

    /// The machine to simulate: a name or a file [default: measured just now]
    #[arg(long, value_name = "FILE")]
    pub machine: Option<String>,

    /// Replace a field of the machine, such as memory.upgrade=30; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Locks to compare, separated by commas [default: byte,ticket,qspin,pv-qspin]
    #[arg(long, value_name = "LIST")]
    pub locks: Option<String>,

    /// Thread counts, as for `stanchion bench` [default: those of the benchmark]
    #[arg(long, value_name = "LIST")]
    pub threads: Option<String>,

    /// Profiles, as for `stanchion bench` [default: empty,short,medium,long]
    #[arg(long, value_name = "LIST")]
    pub profile: Option<String>,

    /// Take the native side from the JSON or CSV of an earlier benchmark on this machine
    #[arg(long, value_name = "FILE")]
    pub bench_json: Option<PathBuf>,

    /// Length of a native round [default: 300ms]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,

    /// Native rounds of each cell [default: 5]
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,

    /// Virtual time of a simulated run [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub sim_time: Option<String>,

    /// Simulated runs of each cell, with seeds of their own; the median counts [default: 3]
    #[arg(long, value_name = "N")]
    pub seeds: Option<u64>,

    /// Write one row per cell as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

impl Args {
    /// The first flag that says something about a comparison, if one was given.
    pub(super) fn about_comparison(&self) -> Option<&'static str> {
        [
            ("--machine", self.machine.is_some()),
            ("--set", !self.set.is_empty()),
            ("--locks", self.locks.is_some()),
            ("--threads", self.threads.is_some()),
            ("--profile", self.profile.is_some()),
            ("--bench-json", self.bench_json.is_some()),
            ("--time", self.time.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--sim-time", self.sim_time.is_some()),
            ("--seeds", self.seeds.is_some()),
            ("--csv", self.csv.is_some()),
        ]
        .into_iter()
        .find_map(|(flag, given)| given.then_some(flag))
    }
}
