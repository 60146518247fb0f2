//! How a program is started with the library in front: the flags of every command that does so.
use std::path::PathBuf;

// No doc comment: it would become the description of the commands that have these flags.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Launch {
    /// The most that the program may write of a trace, in MiB; what comes later is dropped and counted
    /// [default: 256]
    // The group is what is recorded: each command says which of its arguments that is.
    #[arg(long, value_name = "MIB", requires = "recorded")]
    pub record_limit: Option<u64>,

    /// End the program after this many seconds, with all that it started; it cannot read from a terminal then
    /// [default: none; in comparisons 600]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,

    /// The interposer [default: STANCHION_PRELOAD, or libstanchion_preload.so beside this command, in ../lib,
    /// or in its target/release or target/debug]
    #[arg(long, value_name = "PATH")]
    pub library: Option<PathBuf>,
}
