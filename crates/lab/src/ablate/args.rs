//! What may be typed after `stanchion ablate`, and what that is to benchmark and simulator.
use crate::{bench, sim};
use lab_kit::export::Files;
use lab_kit::units::{parse_time, within};

#[derive(clap::Args, Clone, Debug, Default)]
// The last of several counts, so that a shell alias can be amended.
#[command(after_help = bench::EXIT_CODES, args_override_self = true)]
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
    /// What the benchmark is asked for.
    pub(super) fn measured(&self, lock: String) -> bench::Args {
        let mut measure = self.measure.clone();
        for (typed, default) in [
            // Contended, up to the worst overcommit of the benchmark.
            (&mut measure.threads, "1x,2x,4x,8x,16x"),
            // Two hundred turns of the default lock: rounds agree within some per cent.
            (&mut measure.time, "200ms"),
            // The rarest waits come once in some seconds.
            (&mut measure.latency_time, "10s"),
            // One long round finds more than several short ones.
            (&mut measure.latency_rounds, "1"),
        ] {
            typed.get_or_insert_with(|| default.to_owned());
        }
        bench::Args { lock: Some(lock), peers: Some("none".to_owned()), measure, ..bench::Args::default() }
    }

    /// What the simulator is asked for.
    pub(super) fn simulated(
        &self,
        lock: String,
        machines: &str,
        workloads: &str,
    ) -> Result<sim::Args, String> {
        let bench::Measure { threads, time, rounds, seed, json, csv, force, quiet, .. } =
            self.measure.clone();
        let time = time.map(|time| parse_time(&time)).transpose();
        let repeat = rounds.map(|rounds| within(1, 1000)(&rounds)).transpose();
        let seed = seed.map(|seed| within(0, u64::MAX)(&seed)).transpose();
        Ok(sim::Args {
            machine: Some(machines.to_owned()),
            workload: Some(workloads.to_owned()),
            lock,
            vcpus: threads,
            time: time.map_err(|error| format!("--time: {error}"))?,
            repeat: repeat.map_err(|error| format!("--rounds: {error}"))?,
            seed: seed.map_err(|error| format!("--seed: {error}"))?,
            files: Files { json, csv, force, ..Files::default() },
            quiet,
            ..sim::Args::default()
        })
    }
}
