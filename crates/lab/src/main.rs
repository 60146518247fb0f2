//! The `stanchion` command: the laboratory on the machine at hand.
#![deny(unsafe_code)]
#![deny(clippy::print_stderr, reason = "it panics where nobody reads it")]

mod ablate;
mod advise;
mod bench;
mod calibrate;
mod explore;
mod guest;
mod one_by_one;
mod report;
mod reproduce;
mod run;
mod sim;
mod sweep;
mod torture;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use lab_kit::export::stream_failed;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, REFUSED, add, ended, written};
use lab_kit::usage;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
// The last of several counts, so that a shell alias can be amended.
#[command(name = "stanchion", version, about, max_term_width = 100, args_override_self = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Benchmark mutexes or reader-writer locks beside what people use today, from one thread to 16x
    /// overcommit
    Bench(Box<bench::Args>),
    /// Measure what each rule of the default lock is worth, here or on simulated machines
    Ablate(Box<ablate::Args>),
    /// Simulate locks on machines that you do not own: sockets, hypervisors, overcommit
    Sim(Box<sim::Args>),
    /// Simulate a grid of thousands of cells, here or on a cluster, by the package for Python
    Sweep(sweep::Args),
    /// Run published tables in the simulator and tell, cell by cell, how far it is off
    Reproduce(Box<reproduce::ReproduceArgs>),
    /// Fit a machine or a workload to the column of a published table that is there for it
    Fit(Box<reproduce::FitArgs>),
    /// Torture locks the way the kernel's locktorture does
    Torture(torture::Args),
    /// Explore schedules of every lock, with faults, one step at a time
    Explore(Box<explore::Args>),
    /// Measure this machine for the simulator, or compare the simulator with it
    Calibrate(Box<calibrate::Args>),
    /// Run a program with its pthread locks replaced, or compare it under several locks
    Run(Box<run::Args>),
    /// Record a program, and predict with which lock it runs best, here or on another machine
    Advise(Box<advise::Args>),
    /// Run the locks on real vCPUs: a small kernel under QEMU, with more vCPUs than CPUs
    Guest(Box<guest::Args>),
    /// Put results of several files side by side, with an interval for each ratio
    Report(report::Args),
    /// Print shell completions
    Completions {
        /// The shell to print them for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a directory
    Man {
        /// The directory, which is made if it is not there
        directory: PathBuf,
    },
}

fn main() -> ExitCode {
    let refused = || if interrupt::requested() { INTERRUPTED } else { REFUSED };
    let code = command().unwrap_or_else(|why| ended(refused(), why));
    if code == ExitCode::SUCCESS && stream_failed() { ExitCode::from(FAILED) } else { code }
}

/// What the command came to; or why it refused its input.
fn command() -> Result<ExitCode, String> {
    // Not a command of the parser's, so that neither help nor completions offer it.
    let words = || std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    bench::work(words());
    run::work(words());
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    match cli.command {
        Command::Bench(args) => bench::run(&args),
        Command::Ablate(args) => ablate::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::Fit(args) => reproduce::fit(&args),
        Command::Torture(args) => torture::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Advise(args) => advise::run(&args),
        Command::Guest(args) => guest::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "stanchion", &mut script);
            add(format_args!("{}", String::from_utf8_lossy(&script)));
            Ok(ExitCode::SUCCESS)
        }
        Command::Man { directory } => {
            let pages = fs::create_dir_all(&directory).and_then(|()| {
                clap_mangen::generate_to(Cli::command().disable_help_subcommand(true), &directory)
            });
            pages.map_err(|error| format!("{}: {error}", directory.display()))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Help and version are answers; everything else is one line and exit code 2.
fn refuse(error: &clap::Error) -> Result<ExitCode, String> {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    if matches!(error.kind(), DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand) {
        let printed = error.print().and_then(|()| io::stdout().flush());
        return Ok(written(&printed, ExitCode::from(error.exit_code() as u8)));
    }
    Err(usage::one_line(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ArgAction;

    /// The files that fuzzing a target begins with. If they are not read, it begins with nothing.
    pub(crate) fn corpus(target: &str) -> Vec<PathBuf> {
        let directory = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let files = fs::read_dir(directory).expect("it is there");
        files.map(|file| file.expect("it can be listed").path()).collect()
    }

    /// All commands, and those under them.
    fn every(command: clap::Command) -> Vec<clap::Command> {
        let below = command.get_subcommands().cloned().flat_map(every).collect();
        [vec![command], below].concat()
    }

    #[test]
    fn a_flag_is_the_same_in_every_command() {
        let common = [
            ("lock", "LIST"),
            ("threads", "LIST"),
            ("time", "TIME"),
            ("rounds", "N"),
            ("seeds", "N"),
            ("seed", "N"),
            ("json", "FILE"),
            ("csv", "FILE"),
            ("html", "FILE"),
            ("out", "DIR"),
            ("timeout", "TIME"),
            ("limit", "TIME"),
            ("warm-up", "TIME"),
            ("jobs", "N"),
            ("cpus", "LIST"),
            ("cpu-limit", "LIST"),
            ("machine", "LIST"),
        ];
        // Each takes one: a fit opens one column, a comparison needs one machine, and a container is told as
        // its engine tells it.
        let of_one = [("fit", "lock"), ("calibrate", "machine"), ("advise", "cpus"), ("advise", "cpu-limit")];
        for command in every(Cli::command()) {
            let name = command.get_name();
            for arg in command.get_arguments() {
                let flag = arg.get_long().unwrap_or_default();
                let takes = arg.get_value_names().unwrap_or_default().join(" ");
                let other = common.iter().find(|(common, what)| *common == flag && *what != takes);
                assert!(other.is_none() || of_one.contains(&(name, flag)), "{name} --{flag} {takes}");
                // Times have their units, and one name is enough.
                assert!(!["S", "MS", "SECONDS"].contains(&takes.as_str()), "{name} --{flag} {takes}");
                assert!(arg.get_visible_aliases().unwrap_or_default().is_empty(), "{name} --{flag}");
                assert_eq!(arg.get_short() == Some('q'), flag == "quiet", "{name} --{flag}");
            }
            let has = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
            assert!(!has("json") || has("force") && has("quiet"), "{name}");
        }
    }

    #[test]
    fn the_last_of_a_flag_counts_but_of_those_that_add_up() {
        let add_up = ["profile", "set", "machine-file"];
        let mut root = Cli::command();
        root.build();
        let every = every(root);
        let args = || every.iter().flat_map(|command| command.get_arguments().map(move |arg| (command, arg)));
        for (command, arg) in args() {
            let (name, flag) = (command.get_name(), arg.get_long().unwrap_or_default());
            if matches!(arg.get_action(), ArgAction::Append) && !arg.is_positional() {
                assert!(add_up.contains(&flag), "{name} --{flag} adds up");
            }
        }
        assert!(add_up.iter().all(|flag| args().any(|(_, arg)| arg.get_long() == Some(*flag))));
        let words = |command| match command {
            "run" => ["stanchion", "run", "--lock", "libc", "--lock", "byte", "x"],
            _ => ["stanchion", command, "--lock", "byte", "--lock", "ticket", "-q"],
        };
        for command in ["bench", "sim", "torture", "explore", "guest", "run"] {
            assert!(Cli::try_parse_from(words(command)).is_ok(), "{command} takes a flag once");
        }
    }

    #[test]
    fn what_is_only_listed_is_not_written() {
        for command in every(Cli::command()) {
            let flags = command.get_arguments().filter(|arg| {
                arg.get_value_names().is_some_and(|names| names == ["FILE"] || names == ["DIR"])
            });
            let flags: Vec<String> = flags.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
            let name = command.get_name();
            if command.get_arguments().any(|arg| arg.get_long() == Some("list")) {
                assert!(!flags.is_empty(), "{name}");
                // What is shown is read.
                for flag in flags.iter().filter(|flag| *flag != "--show") {
                    let refused = Cli::try_parse_from(["stanchion", name, "--list", flag, "x"]).err();
                    assert!(refused.is_some(), "{name} {flag}");
                }
            }
        }
    }

    #[test]
    fn completions_offer_the_locks_of_the_catalogue() {
        let mut script = Vec::new();
        clap_complete::generate(clap_complete::Shell::Bash, &mut Cli::command(), "stanchion", &mut script);
        let script = String::from_utf8(script).expect("a script");
        for name in ["owner-qspin", "qrw-readers-first", "twa"] {
            assert!(script.contains(&format!(" {name} ")), "{name}");
        }
    }
}
