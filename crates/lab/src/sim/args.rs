//! What may be typed after `stanchion sim`. No meaning is given to it here; see `config.rs`.
use lab_kit::export::Files;
use lab_kit::names::LockNames;
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug, Default)]
// The last of several counts, so that a shell alias can be amended.
#[command(after_help = super::EXIT_CODES, args_override_self = true)]
pub(crate) struct Args {
    /// Machines, by name or as paths of files, separated by commas [default: small-vm]
    #[arg(long, value_name = "LIST")]
    pub machine: Option<String>,

    /// Workloads, by name or as paths of files, separated by commas [default: medium]
    #[arg(long, value_name = "LIST")]
    pub workload: Option<String>,

    /// Locks to simulate, separated by commas, or 'all'; the first is what others are compared with. With a +
    /// between them, one for each class of the workload's locks: percpu-rw+rw-simple. With other tunables:
    /// stanchion:turn_us=200:hand_over=0
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = LockNames::ALL, hide_possible_values = true)]
    pub lock: String,

    /// vCPU or thread counts: numbers, ranges and multiples of the CPUs, such as 1,2,4-8,16-64:16,2x
    /// [default: a few]
    #[arg(long, value_name = "LIST", visible_alias = "threads")]
    pub vcpus: Option<String>,

    /// More counts, as multiples of the machine's CPUs, such as 1,1.5,2
    #[arg(long, value_name = "LIST")]
    pub overcommit: Option<String>,

    /// Replace a field of machine or workload, or a tunable of a lock, such as host.fair-share.slice=3ms,
    /// workload.critical=200ns or tunable.kick_ahead=8; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Virtual time that is measured [default: 200ms]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,

    /// Virtual time that passes before [default: 20ms]
    #[arg(long, value_name = "TIME")]
    pub warm_up: Option<String>,

    /// Runs of each cell, each with a seed of its own; means come with 95 % confidence intervals [default: 5]
    #[arg(long, value_name = "N", visible_alias = "rounds")]
    pub repeat: Option<String>,

    /// The first of these seeds; the same seed gives the same result on every host [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,

    /// Events after which a run is cut short and marked [default: 1000000000]
    #[arg(long, value_name = "EVENTS")]
    pub limit: Option<String>,

    /// Runs at the same time [default: the CPUs this process may use]
    #[arg(long, value_name = "N")]
    pub jobs: Option<String>,

    /// Show lock events per acquisition as well
    #[arg(long)]
    pub events: bool,

    /// List machines, workloads and locks, and stop
    #[arg(long)]
    pub list: bool,

    // As sim.json, sim.csv and sim.html in a directory.
    #[command(flatten)]
    pub files: Files,

    /// Write what happened for ui.perfetto.dev: CPUs, vCPUs, handovers, kicks. Takes one cell and one seed
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Draw what happened as an SVG picture. Takes one cell and one seed
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,

    /// Length of the part that is traced, from the end of the warm-up [default: 20ms]
    #[arg(long, value_name = "TIME")]
    pub trace_time: Option<String>,

    /// Where that part begins, counted from the end of the warm-up [default: 0s]
    #[arg(long, value_name = "TIME")]
    pub trace_from: Option<String>,

    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}
