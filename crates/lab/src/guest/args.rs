//! The command line of `stanchion guest`. Everything that can be refused is refused on the way to a
//! [`Request`], before anything is started.
use super::export::FORMATS;
use super::qemu::Machine;
use super::report::{Report, SCHEMA};
use super::setting::{Setting, seconds};
use lab_kit::export::{Exports, Files};
use lab_kit::output::create_for;
use lab_kit::provenance::Provenance;
use std::fs::File;
use std::path::PathBuf;

/// Run the locks on real vCPUs: a small kernel under QEMU, with more vCPUs than CPUs
#[derive(clap::Args, Debug)]
#[command(after_help = super::EXIT_CODES)]
pub(crate) struct Args {
    #[command(flatten)]
    setting: Setting,

    /// CPUs of the host that it may use [default: 2, or all if there are fewer]
    #[arg(long, value_name = "N")]
    cpus: Option<usize>,

    /// Give a guest up whose work takes longer: a build says so itself and is unfinished, any other guest is
    /// killed and has failed [default: 120, for torture, counter and rw beside --seconds; ten times as long
    /// for conform]
    #[arg(long, value_name = "S", value_parser = seconds)]
    limit: Option<f64>,

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

    // Written after each boot, as guest.json, guest.csv and guest.html in a directory.
    #[command(flatten)]
    files: Files,

    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// A run that can be started, once it is known who runs the guest.
pub(crate) struct Request {
    pub machine: Machine,
    /// Without runs so far.
    pub report: Report,
    pub log: Option<File>,
    pub exports: Exports<Report>,
    pub expect_failure: bool,
    pub quiet: bool,
}

impl Args {
    /// Checks everything; the error is the one line to print.
    pub(crate) fn resolve(&self) -> Result<Request, String> {
        let mut setting = self.setting.clone();
        setting.resolve(self.cpus, self.limit)?;
        let machine = Machine::find(self.qemu.as_deref(), self.image.as_deref())?;
        setting.image = machine.image.display().to_string();
        // Files come last, because a refusal leaves none behind.
        let mut exports = self.files.open(&FORMATS)?;
        let log = self.log.as_deref().map(|path| create_for("--log", path, self.files.force)).transpose();
        let log = log.inspect_err(|_| exports.abandon())?;
        let report = Report {
            schema: SCHEMA,
            complete: false,
            provenance: Provenance::collect(setting.seed),
            warnings: setting.warnings(),
            setting,
            runs: Vec::new(),
        };
        let Self { expect_failure, quiet, .. } = *self;
        Ok(Request { machine, report, log, exports, expect_failure, quiet })
    }
}
