//! What may be typed after `stanchion reproduce` and `stanchion fit`.
use clap::ArgAction;
use lab_kit::export::{FLAGS, Files};
use lab_kit::units::within;
use std::path::PathBuf;

/// The contract of the exit codes, as `--help` tells it.
const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 a run failed, or a check did not hold; \
2 bad input, nothing was run; 130 interrupted, what was finished is kept.";

#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ReproduceArgs {
    /// Tables to run, by name; several are separated by commas [default: every table]
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set)]
    pub table: Vec<String>,

    /// Cells to run: LOCK, @ROW or LOCK@ROW, as in qspin@72; several are separated by commas [default: every
    /// cell]
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set)]
    pub cell: Vec<String>,

    /// Runs of each cell with seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = within(1_u64, 1000))]
    pub seeds: u64,

    /// A first impression: one seed, a quarter of the virtual time
    #[arg(long, conflicts_with = "seeds")]
    pub quick: bool,

    /// List all tables, and stop
    #[arg(long, conflicts_with_all = FLAGS)]
    pub list: bool,

    /// Register every cell that is run, in DIR/published/predictions.toml, in place of what stands there of
    /// these tables
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        default_missing_value = ".",
        conflicts_with_all = ["quick", "cell", "list"]
    )]
    pub register: Option<PathBuf>,

    #[command(flatten)]
    pub files: Files,
}

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct FitArgs {
    /// Tables whose columns are fitted, by name; several of one machine are fitted together, separated by
    /// commas [with --check and --record: each by itself; default: every one]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        action = ArgAction::Set,
        required_unless_present_any = ["check", "record"]
    )]
    pub table: Vec<String>,

    /// The column to fit; only the one with the role fit is allowed [default: that one]
    #[arg(long, value_name = "LOCK")]
    pub lock: Option<String>,

    /// Parameters to fit, of those that have a [prior] in the files [default: all of them]; several are
    /// separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set)]
    pub parameters: Vec<String>,

    /// Steps of the optimiser
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub steps: u32,

    /// Runs of each cell with seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = within(1_u64, 100))]
    pub seeds: u64,

    /// Only evaluate the files as they are; fails when a fit is stale: made with other numbers or other code
    #[arg(long)]
    pub check: bool,

    /// Move nothing; record the files as they are as the fit
    #[arg(long, conflicts_with = "check")]
    pub record: bool,

    /// Where machines/, workloads/ and published/fits.toml are; what is fitted is written there
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,

    /// Fit and tell, but change nothing in --dir
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub files: Files,
}
