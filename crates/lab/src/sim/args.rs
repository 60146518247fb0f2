//! What may be typed after `stanchion sim`. What it means together is told in `config.rs`.
use core::time::Duration;
use lab_kit::export::{FLAGS, Files};
use lab_kit::names::LockNames;
use lab_kit::units::{parse_time, within};
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug, Default)]
#[command(
    after_help = "Exit codes: 0 all went well; 1 a lock was broken, a run hung or a file could not be written; \
2 bad input, nothing was simulated; 130 interrupted, what was finished is kept."
)]
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
    #[arg(long, value_name = "LIST", default_value = lab_kit::names::ALL, value_parser = LockNames::ALL, hide_possible_values = true)]
    pub lock: String,

    /// Counts of vCPUs, or of threads where there is no hypervisor: numbers, ranges and multiples of the
    /// CPUs, such as 1,2,4-8,16-64:16,2x [default: a few]
    #[arg(long, value_name = "LIST")]
    pub threads: Option<String>,

    /// More counts, as multiples of the machine's CPUs, such as 1,1.5,2
    #[arg(long, value_name = "LIST")]
    pub overcommit: Option<String>,

    /// Replace a field of machine or workload, or a tunable of a lock, such as host.fair-share.slice=3ms,
    /// workload.critical=200ns or tunable.kick_ahead=8; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Virtual time that is measured [default: 200ms]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time: Option<Duration>,

    /// Virtual time that passes before [default: 20ms]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub warm_up: Option<Duration>,

    /// Runs of each cell, each with a seed of its own; means come with 95 % confidence intervals [default: 5]
    #[arg(long, value_name = "N", value_parser = within(1_usize, 1000))]
    pub seeds: Option<usize>,

    /// The first of these seeds; the same seed gives the same result on every host [default: 1]
    #[arg(long, value_name = "N", value_parser = within(0, u64::MAX - 1000))]
    pub seed: Option<u64>,

    /// Events after which a run is cut short and marked [default: 1000000000]
    #[arg(long, value_name = "EVENTS", value_parser = within(1, u64::MAX))]
    pub event_limit: Option<u64>,

    /// Runs at the same time [default: the CPUs this process may use]
    #[arg(long, value_name = "N", value_parser = within(1_usize, 1024))]
    pub jobs: Option<usize>,

    /// Show lock events per acquisition as well
    #[arg(long)]
    pub events: bool,

    /// List machines, workloads and locks, and stop
    #[arg(long, conflicts_with_all = FLAGS)]
    pub list: bool,

    // As sim.json, sim.csv and sim.html in a directory.
    #[command(flatten)]
    pub files: Files,

    /// Write what happened for ui.perfetto.dev: CPUs, vCPUs, handovers, kicks. Takes one cell and one seed
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub trace: Option<PathBuf>,

    /// Draw what happened as an SVG picture. Takes one cell and one seed
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub timeline: Option<PathBuf>,

    /// Length of the part that is traced, from the end of the warm-up [default: 20ms]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub trace_time: Option<Duration>,

    /// Where that part begins, counted from the end of the warm-up [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub trace_from: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    #[test]
    fn times_and_numbers_are_read_and_the_last_of_several_counts() {
        let words = "stanchion sim --time 2us --warm-up 0s --seeds 3 --seeds 4 --seed 18446744073709550615 --event-limit 9 \
                     --jobs 1024 --trace-time 1ms --trace-from 5ns";
        let cli = crate::Cli::try_parse_from(words.split_whitespace()).expect("valid");
        let crate::Command::Sim(args) = cli.command else { unreachable!("it is named") };
        assert_eq!(
            (args.seeds, args.seed, args.event_limit, args.jobs),
            (Some(4), Some(u64::MAX - 1000), Some(9), Some(1024))
        );
        let times = [args.time, args.warm_up, args.trace_time, args.trace_from];
        assert_eq!(
            times.map(|time| time.map(|time| time.as_nanos())),
            [Some(2000), Some(0), Some(1_000_000), Some(5)]
        );
    }
}
