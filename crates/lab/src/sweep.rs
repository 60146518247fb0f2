//! `stanchion sweep`: a grid of simulated cells, on this computer or on a cluster. The package for Python has
//! the whole of it, and this command starts it in its own place: `python3 -m stanchion sweep`.
use lab_kit::output::no_stream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// The contract of the exit codes, as `--help` tells it.
const EXIT_CODES: &str = "Exit codes: 0 every cell has its result; 1 some cells killed their workers each time; \
2 bad input, or the Python package is missing; 130 interrupted: the same command goes on.";

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// A TOML file with the axes of the grid: machine, workload, lock, vcpus, seeds, set
    grid: PathBuf,

    /// Where results go, as Parquet files; a sweep of the same grid goes on there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Worker processes [default: the CPUs this process may use]
    #[arg(long, value_name = "N", conflicts_with_all = ["dask", "ray"])]
    jobs: Option<u32>,

    /// Send the cells to the Dask cluster of this scheduler, such as tcp://host:8786
    #[arg(long, value_name = "ADDRESS", conflicts_with = "ray")]
    dask: Option<String>,

    /// Send the cells to this Ray cluster; 'auto' finds one
    #[arg(long, value_name = "ADDRESS")]
    ray: Option<String>,

    /// The Python that has the package
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,

    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// Becomes the package's program; returns why it could not.
pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    no_stream(&args.out)?;
    let python = args.python.display();
    let mut probe = Command::new(&args.python);
    probe.args(["-c", "import stanchion._native, pyarrow"]).stdout(Stdio::null()).stderr(Stdio::null());
    let error = match probe.status() {
        Ok(status) if status.success() => command(args).exec(),
        Ok(_) => return Err(format!("{python} has no package for sweeps: pip install 'stanchion[sweep]'")),
        Err(error) => error,
    };
    Err(format!("{python} can not be started: {error}"))
}

fn command(args: &Args) -> Command {
    let mut command = Command::new(&args.python);
    command.args(["-m", "stanchion", "sweep", "--out"]).arg(&args.out);
    let jobs = args.jobs.map(|jobs| jobs.to_string());
    for (flag, value) in [("--jobs", &jobs), ("--dask", &args.dask), ("--ray", &args.ray)] {
        command.args(value.iter().flat_map(|value| [flag, value]));
    }
    command.args(args.quiet.then_some("--quiet")).arg("--").arg(&args.grid);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn what_is_typed_is_what_the_package_gets() {
        let words = ["x", "-g.toml", "--out", "results", "--jobs", "3", "--quiet"];
        assert!(Cli::try_parse_from(words).is_err(), "a file that looks like a flag");
        let words = ["x", "--out", "results", "--dask", "tcp://a:1", "--quiet", "--", "-g.toml"];
        let args = Cli::try_parse_from(words).expect("valid").args;
        let command = command(&args);
        let given: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(given.join(" "), "-m stanchion sweep --out results --dask tcp://a:1 --quiet -- -g.toml");
    }

    #[test]
    fn a_python_that_is_none_is_refused() {
        let words = ["x", "grid.toml", "--out", "results", "--python", "/no/such/python"];
        let args = Cli::try_parse_from(words).expect("valid").args;
        let why = run(&args).expect_err("there is none");
        assert!(why.starts_with("/no/such/python can not be started: "), "{why}");
    }
}
