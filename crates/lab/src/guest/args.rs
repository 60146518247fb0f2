//! The command line of `stanchion guest`, and what it means.
//!
//! Two stages: [`Args`] is what was typed, [`Request`] what will be done. Everything that can be refused is
//! refused on the way from one to the other, before anything is started.
use super::export::FORMATS;
use super::qemu::{self, Machine};
use super::report::Report;
use super::session::Timeouts;
use super::workload::{self, Workload};
use crate::bench::available_cpus;
use core::time::Duration;
use lab_kit::export::{Exports, Wanted};
use lab_kit::names::LockNames;
use lab_kit::output::create;
use lab_kit::seed;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The most vCPUs that an APIC number of eight bits can tell apart.
const VCPUS_MOST: u16 = 255;
/// The most CPUs of a host that can be asked for.
const CPUS_DEFAULT: usize = 2;
/// The most runs of each lock that anybody can mean.
const RUNS_MOST: usize = 10_000;
/// The longest time, in seconds: a day, as in the guest.
const SECONDS_MOST: f64 = 86_400.0;
/// Memory that a guest may be given, in MiB.
const MEMORY: core::ops::RangeInclusive<u32> = 64..=65_536;
/// How long work may take unless told otherwise, beyond the time that was asked for.
const LIMIT: f64 = 120.0;

/// How instructions of the guest may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Wish {
    /// KVM if it works here, else TCG
    Auto,
    /// The processor's own virtualisation
    Kvm,
    /// QEMU's translator, a host thread for each vCPU
    Tcg,
}

/// Run the locks on real vCPUs: a small kernel under QEMU, with more vCPUs than CPUs
#[derive(clap::Args, Debug)]
#[command(after_help = super::EXIT_CODES)]
pub(crate) struct Args {
    /// vCPUs of the guest
    #[arg(long, value_name = "N", default_value_t = 4)]
    vcpus: u16,

    /// CPUs of the host that it may use [default: 2, or all if there are fewer]
    #[arg(long, value_name = "N")]
    cpus: Option<usize>,

    /// Locks, each in a boot of its own: names, 'all', and 'variants' for those that are there to be compared
    /// with each other
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "all", value_parser = LockNames::ALL, hide_possible_values = true)]
    lock: Vec<String>,

    /// What the guest does
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    workload: Workload,

    /// Who runs the guest's instructions
    #[arg(long, value_name = "NAME", value_enum, default_value = "auto")]
    accel: Wish,

    /// How long torture, counter and rw are at work [default: 10]
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,

    /// Boots for each lock, in rounds of all locks; medians are shown, with half the range from least to most
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,

    /// The seed of every random decision of the guest; each round adds one [default: a new one, printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// NUMA nodes that the guest is told of, with equal shares of vCPUs and memory
    #[arg(long, value_name = "N", default_value_t = 1)]
    numa: u16,

    /// Memory of the guest
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    memory: u32,

    /// Replace a word of the guest's command line, such as jobs=3 or inside=1us; may be repeated
    #[arg(long, value_name = "WORD=VALUE")]
    set: Vec<String>,

    /// Give a guest up whose work takes longer: a build says so itself and is unfinished, any other guest is
    /// killed and has failed [default: 120, for torture, counter and rw beside --seconds; ten times as long
    /// for conform]
    #[arg(long, value_name = "S")]
    limit: Option<f64>,

    /// Give a guest up that has not come up after so long
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    boot_limit: f64,

    /// Succeed only if the guest finds each of these locks broken
    #[arg(long)]
    expect_failure: bool,

    /// The guest's image [default: what 'cargo xtask guest' has built, or stanchion-guest beside this command
    /// or in ../lib]
    #[arg(long, value_name = "PATH")]
    image: Option<PathBuf>,

    /// The emulator [default: qemu-system-x86_64 along PATH]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,

    /// Keep all that guests write on their serial line
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Write the whole result as JSON, after each boot
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write one row per boot as CSV, after each boot
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Write a self-contained page, after each boot
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write guest.json, guest.csv and guest.html into a directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace existing output files
    #[arg(long)]
    force: bool,

    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// A run that can be started, once it is known who runs the guest.
pub(crate) struct Request {
    pub machine: Machine,
    pub workload: Workload,
    pub locks: Vec<String>,
    pub wish: Wish,
    pub seconds: Option<f64>,
    pub runs: usize,
    pub seed: u64,
    pub words: Vec<String>,
    /// What was asked for; the guest gets a little longer before it is killed.
    pub limit_s: f64,
    pub timeouts: Timeouts,
    pub log: Option<(PathBuf, File)>,
    pub exports: Exports<Report>,
    pub expect_failure: bool,
    pub quiet: bool,
}

impl Args {
    /// Checks everything; the error is the one line to print.
    pub(crate) fn resolve(&self) -> Result<Request, String> {
        self.within_bounds()?;
        let workload = self.workload;
        let locks = workload::locks(workload, &self.lock)?;
        let seconds = self.seconds()?;
        let limit_s = match self.limit {
            Some(limit) => above_zero("--limit", limit)?,
            None if workload == Workload::Conform => 10.0 * LIMIT,
            None => LIMIT + seconds.unwrap_or(0.0),
        };
        let boot = above_zero("--boot-limit", self.boot_limit)?;
        let words = self.words()?;
        let cpus = self.host_cpus()?;
        let qemu = qemu::find(self.qemu.as_deref(), std::env::var_os("PATH").as_deref())?;
        let image = qemu::image(self.image.as_deref(), std::env::current_exe().ok().as_deref())?;
        // Files come last, because a refusal leaves none behind.
        let wanted = Wanted {
            json: self.json.as_deref(),
            csv: self.csv.as_deref(),
            html: self.html.as_deref(),
            dir: self.out.as_deref(),
            force: self.force,
        };
        let mut exports = Exports::open(&wanted, &FORMATS)?;
        let log = self.log.as_deref().map(|path| open_log(path, self.force)).transpose();
        let log = log.inspect_err(|_| exports.abandon())?;
        Ok(Request {
            machine: Machine {
                qemu,
                image,
                vcpus: self.vcpus,
                nodes: self.numa,
                memory_mib: self.memory,
                cpus,
            },
            workload,
            locks,
            wish: self.accel,
            seconds,
            runs: self.runs,
            seed: self.seed.unwrap_or_else(seed::fresh),
            words,
            limit_s,
            timeouts: Timeouts { boot: Duration::from_secs_f64(boot), work: with_grace(limit_s) },
            log,
            exports,
            expect_failure: self.expect_failure,
            quiet: self.quiet,
        })
    }

    fn within_bounds(&self) -> Result<(), String> {
        if !(1..=VCPUS_MOST).contains(&self.vcpus) {
            return Err(format!("--vcpus {}: must be from 1 to {VCPUS_MOST}", self.vcpus));
        }
        if self.workload == Workload::Conform && self.vcpus < 2 {
            return Err("--vcpus 1: the conformance tests need two at least".to_owned());
        }
        if !(1..=self.vcpus).contains(&self.numa) {
            return Err(format!("--numa {}: must be from 1 to --vcpus, which is {}", self.numa, self.vcpus));
        }
        if !MEMORY.contains(&self.memory) {
            let (least, most) = (MEMORY.start(), MEMORY.end());
            return Err(format!("--memory {}: must be from {least} to {most} MiB", self.memory));
        }
        if !(1..=RUNS_MOST).contains(&self.runs) {
            return Err(format!("--runs {}: must be from 1 to {RUNS_MOST}", self.runs));
        }
        Ok(())
    }

    /// None where the workload decides itself when it is over.
    fn seconds(&self) -> Result<Option<f64>, String> {
        match self.seconds {
            Some(seconds) if self.workload.lasts() => above_zero("--seconds", seconds).map(Some),
            Some(_) => {
                Err(format!("--seconds is for torture, counter and rw, not for --workload {}", self.workload))
            }
            None => Ok(self.workload.lasts().then_some(10.0)),
        }
    }

    fn words(&self) -> Result<Vec<String>, String> {
        for word in &self.set {
            let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
            if name.is_empty() || word.contains(|c: char| c.is_whitespace() || c.is_control()) {
                return Err(format!("--set {word:?}: write a word and its value, such as jobs=3"));
            }
            if ["workload", "lock", "seed", "seconds", "limit"].contains(&name) {
                return Err(format!("--set {word}: use --{name}"));
            }
        }
        Ok(self.set.clone())
    }

    fn host_cpus(&self) -> Result<Vec<usize>, String> {
        let mut here = available_cpus();
        let wanted = self.cpus.unwrap_or(CPUS_DEFAULT.min(here.len()));
        if !(1..=here.len()).contains(&wanted) {
            return Err(format!(
                "--cpus {wanted}: must be from 1 to {}, the CPUs that this process may use",
                here.len()
            ));
        }
        here.truncate(wanted);
        Ok(here)
    }
}

/// How long a guest has that was told to end after `limit`: it has to notice, and to write its records.
fn with_grace(limit: f64) -> Duration {
    Duration::from_secs_f64(limit + (limit / 4.0).clamp(1.0, 15.0))
}

fn above_zero(flag: &str, given: f64) -> Result<f64, String> {
    if given > 0.0 && given <= SECONDS_MOST {
        Ok(given)
    } else {
        Err(format!("{flag} {given}: must be above 0 and at most {SECONDS_MOST} seconds"))
    }
}

fn open_log(path: &Path, force: bool) -> Result<(PathBuf, File), String> {
    match create(path, force) {
        Ok(file) => Ok((path.to_owned(), file)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(format!("--log {}: exists already; use --force to replace it", path.display()))
        }
        Err(error) => Err(format!("--log {}: {error}", path.display())),
    }
}
