//! What may be typed after `stanchion ablate`, and what that is to benchmark and simulator.
use crate::{bench, sim};
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent flag")]
// The last of several counts, so that a shell alias can be amended.
#[command(after_help = bench::EXIT_CODES, args_override_self = true)]
pub(crate) struct Args {
    /// Half and double of each constant, instead of each rule switched off
    #[arg(long)]
    pub constants: bool,

    /// On these simulated machines instead of this one, by name or as paths of files, separated by commas
    #[arg(long, value_name = "LIST")]
    pub machine: Option<String>,

    /// Thread counts, as `stanchion bench` and `stanchion sim` take them; one thread alone does not count
    /// [default: 1x,2x,4x,8x,16x, or what `stanchion sim` takes]
    #[arg(long, value_name = "LIST")]
    pub threads: Option<String>,

    /// Profiles, as `stanchion bench` takes them [default: all]
    #[arg(long, value_name = "LIST", conflicts_with = "machine")]
    pub profile: Vec<String>,

    /// Length of a throughput round, or virtual time that is measured [default: 200ms]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,

    /// Rounds, or seeds, of each cell [default: 5]
    #[arg(long, value_name = "N")]
    pub rounds: Option<String>,

    /// Length of a latency round, in which the worst wait is looked for [default: 10s]
    #[arg(long, value_name = "TIME", conflicts_with = "machine")]
    pub latency_time: Option<String>,

    /// Latency rounds of each cell; 0 leaves waits out [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "machine")]
    pub latency_rounds: Option<String>,

    /// Seed of think times and of the order of rounds [default: random], or the first of those of the
    /// simulator [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,

    /// CPUs to keep to, such as 0-3,8 [default: all this process may use]
    #[arg(long, value_name = "LIST", conflicts_with = "machine")]
    pub cpus: Option<String>,

    /// Tables in Markdown, as the documentation has them
    #[arg(long)]
    pub markdown: bool,

    /// Write the whole result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write one row per cell as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Replace existing output files
    #[arg(long)]
    pub force: bool,

    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

/// Contended, up to the worst overcommit of the benchmark.
const THREADS: &str = "1x,2x,4x,8x,16x";
/// Two hundred turns of the default lock: rounds agree within some per cent.
const TIME: &str = "200ms";
/// The rarest waits come once in some seconds.
const LATENCY_TIME: &str = "10s";
/// One long round finds more than several short ones.
const LATENCY_ROUNDS: &str = "1";

impl Args {
    /// What the benchmark is asked for.
    pub(super) fn measured(&self, lock: String) -> bench::Args {
        let or =
            |typed: &Option<String>, default: &str| Some(typed.clone().unwrap_or_else(|| default.to_owned()));
        bench::Args {
            lock: Some(lock),
            peers: Some("none".to_owned()),
            threads: or(&self.threads, THREADS),
            profile: self.profile.clone(),
            time: or(&self.time, TIME),
            rounds: self.rounds.clone(),
            latency_time: or(&self.latency_time, LATENCY_TIME),
            latency_rounds: or(&self.latency_rounds, LATENCY_ROUNDS),
            seed: self.seed.clone(),
            cpus: self.cpus.clone(),
            json: self.json.clone(),
            csv: self.csv.clone(),
            force: self.force,
            quiet: self.quiet,
            ..bench::Args::default()
        }
    }

    /// What the simulator is asked for.
    pub(super) fn simulated(&self, lock: String, machines: &str, workloads: &str) -> sim::Args {
        sim::Args {
            machine: Some(machines.to_owned()),
            workload: Some(workloads.to_owned()),
            lock,
            vcpus: self.threads.clone(),
            time: self.time.clone(),
            repeat: self.rounds.clone(),
            seed: self.seed.clone(),
            json: self.json.clone(),
            csv: self.csv.clone(),
            force: self.force,
            quiet: self.quiet,
            ..sim::Args::default()
        }
    }
}
