//! `cargo xtask guest`: builds the kernel image, and on request checks that it comes up, works and ends as it
//! should.
mod check;
mod qemu;

use crate::built;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What is wanted beside the image.
#[derive(Args)]
pub(crate) struct Request {
    /// Run clippy on the kernel as well
    #[arg(long)]
    lint: bool,
    /// Boot it in QEMU in all the ways that its checks know, and see that each ends as it should
    #[arg(long)]
    check: bool,
    /// With --check: only checks whose names contain this
    #[arg(long, value_name = "WORD", requires = "check")]
    only: Option<String>,
    /// With --check: QEMU's program
    #[arg(long, value_name = "PATH", default_value = "qemu-system-x86_64")]
    qemu: String,
}

pub(crate) fn run(root: &Path, request: &Request) -> io::Result<ExitCode> {
    if request.lint {
        lint(root)?;
    }
    let image = image(root)?;
    println!("{}", image.display());
    if request.check {
        return check::run(&image, &request.qemu, request.only.as_deref());
    }
    Ok(ExitCode::SUCCESS)
}

/// What makes of the host's standard library, the only one that there need be, a program for a machine
/// without an operating system.
const LINKED: &[&str] = &[
    "relocation-model=static",
    "relro-level=off",
    "link-arg=-nostartfiles",
    "link-arg=-nostdlib",
    "link-arg=-static",
    "link-arg=-no-pie",
    "link-arg=-Wl,--build-id=none,--no-eh-frame-hdr",
];

/// Builds the image and says where it is.
fn image(root: &Path) -> io::Result<PathBuf> {
    let mut cargo = cargo(root, "rustc");
    cargo.arg("--quiet").arg("--");
    for option in LINKED {
        cargo.args(["-C", option]);
    }
    let script = root.join("crates/guest/kernel.ld");
    cargo.arg("-C").arg(format!("link-arg=-Wl,-T,{}", script.display()));
    must_succeed(cargo, "the guest does not build")?;
    Ok(built::target(root).join("guest/stanchion-guest"))
}

fn lint(root: &Path) -> io::Result<()> {
    let mut cargo = cargo(root, "clippy");
    cargo.args(["--", "-D", "warnings"]);
    must_succeed(cargo, "clippy has something to say about the kernel")
}

/// A command of cargo for the kernel.
fn cargo(root: &Path, command: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args([command, "-p", "stanchion-guest", "--bin", "stanchion-guest"]);
    cargo.args(["--features", "kernel", "--profile", "guest"]);
    cargo
}

fn must_succeed(mut command: Command, otherwise: &str) -> io::Result<()> {
    if command.status()?.success() { Ok(()) } else { Err(io::Error::other(otherwise.to_owned())) }
}
