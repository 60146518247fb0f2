//! What may be typed after `stanchion ablate`, and what that is to benchmark and simulator.
use crate::{bench, sim};
use core::time::Duration;

/// Of simulated machines: bursts of a test, an open loop on one lock, and the benchmark's short sections.
const WORKLOADS: &str = "locktorture,open1,short";

#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_help = bench::EXIT_CODES)]
pub(crate) struct Args {
    /// Half and double of each constant, instead of each rule switched off
    #[arg(long)]
    pub constants: bool,

    /// On these simulated machines instead of this one, by name or as paths of files, separated by commas.
    /// Then --threads counts vCPUs, --time is virtual, and --rounds seeds are taken, the first of which is
    /// --seed; 'stanchion sim' has their defaults
    #[arg(long, value_name = "LIST", conflicts_with_all = ["profile", "latency_time", "latency_rounds", "cpus"])]
    pub machine: Option<String>,

    /// Tables in Markdown, as the documentation has them
    #[arg(long)]
    pub markdown: bool,

    #[command(flatten)]
    pub measure: bench::Measure,
}

impl Args {
    pub(crate) fn measured(&self, lock: String) -> bench::Args {
        let typed = self.measure.clone();
        let measure = bench::Measure {
            // Contended, up to the worst overcommit of the benchmark.
            threads: typed.threads.or_else(|| Some("1x,2x,4x,8x,16x".to_owned())),
            // Two hundred turns of the default lock: rounds agree within some per cent.
            time: typed.time.or(Some(Duration::from_millis(200))),
            // The rarest waits come once in some seconds: long rounds, and as many as an interval needs.
            latency_time: typed.latency_time.or(Some(Duration::from_secs(2))),
            latency_rounds: typed.latency_rounds.or(Some(5)),
            ..typed
        };
        bench::Args { lock: Some(lock), peers: Some("none".to_owned()), measure, ..bench::Args::default() }
    }

    pub(super) fn simulated(&self, lock: String, machines: String) -> sim::Args {
        let bench::Measure { threads, time, rounds, seed, files, .. } = self.measure.clone();
        sim::Args {
            machine: Some(machines),
            workload: Some(WORKLOADS.to_owned()),
            lock,
            threads,
            time,
            seeds: rounds,
            seed,
            files,
            ..sim::Args::default()
        }
    }
}
