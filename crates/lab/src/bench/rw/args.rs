//! What may be typed after `stanchion bench rw`. No meaning is given to it here; see `config.rs`.

#[derive(clap::Args, Clone, Debug, Default)]
#[command(args_override_self = true)]
pub(crate) struct RwArgs {
    #[command(flatten)]
    pub common: crate::bench::Args,

    /// Shares of reads in per cent: each thread draws for every operation whether it reads [default:
    /// 100,99.9,99,90,50]
    #[arg(long, value_name = "LIST")]
    pub reads: Option<String>,

    /// Instead: threads that only read, counted as --threads; needs --writers
    #[arg(long, value_name = "LIST", requires = "writers", conflicts_with_all = ["reads", "threads"])]
    pub readers: Option<String>,

    /// Threads that only write beside them; 0 is none; needs --readers
    #[arg(long, value_name = "LIST", requires = "readers", conflicts_with_all = ["reads", "threads"])]
    pub writers: Option<String>,
}
