//! `cargo xtask guest`: builds the kernel image, and on request checks that it comes up, works and ends as it
//! should.
mod check;

use crate::built;
use crate::process::shell;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use xshell::{Shell, cmd};

/// What is wanted beside the image.
#[derive(clap::Args)]
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

pub(crate) fn run(root: &Path, request: &Request) -> Result<ExitCode> {
    let sh = shell(root)?;
    if request.lint {
        let kernel = KERNEL.split(' ');
        cmd!(sh, "cargo clippy {kernel...} -- -D warnings").run()?;
    }
    let image = image(root, &sh)?;
    println!("{}", image.display());
    if request.check {
        return check::run(root, &image, &request.qemu, request.only.as_deref());
    }
    Ok(ExitCode::SUCCESS)
}

/// The kernel, for a command of cargo.
const KERNEL: &str = "-p stanchion-guest --bin stanchion-guest --features kernel --profile guest";

/// What makes of the host's standard library, the only one that there need be, a program for a machine
/// without an operating system.
const LINKED: [&str; 7] = [
    "relocation-model=static",
    "relro-level=off",
    "link-arg=-nostartfiles",
    "link-arg=-nostdlib",
    "link-arg=-static",
    "link-arg=-no-pie",
    "link-arg=-Wl,--build-id=none,--no-eh-frame-hdr",
];

/// Builds the image and says where it is.
fn image(root: &Path, sh: &Shell) -> Result<PathBuf> {
    let kernel = KERNEL.split(' ');
    let options = LINKED.iter().flat_map(|option| ["-C", option]);
    let script = root.join("crates/guest/kernel.ld");
    cmd!(sh, "cargo rustc {kernel...} --quiet -- {options...} -C link-arg=-Wl,-T,{script}").run()?;
    Ok(built::target(root).join("guest/stanchion-guest"))
}
