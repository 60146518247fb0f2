//! What this workspace builds, for the commands that use it.
use crate::foreign::Foreign;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

/// Builds `libstanchion_preload.so`, with all locks, for this machine or another one, and says where it is.
pub(crate) fn interposer(root: &Path, foreign: Option<&Foreign>) -> io::Result<PathBuf> {
    release(root, &["stanchion-preload", "--features", "family"], "libstanchion_preload.so", foreign)
}

/// The same with the `stanchion` command.
pub(crate) fn laboratory(root: &Path) -> io::Result<PathBuf> {
    release(root, &["stanchion-lab"], "stanchion", None)
}

/// The same with the model checker's program.
pub(crate) fn model(root: &Path) -> io::Result<PathBuf> {
    release(root, &["stanchion-model"], "stanchion-model", None)
}

fn release(root: &Path, package: &[&str], file: &str, foreign: Option<&Foreign>) -> io::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "-p"]).args(package).current_dir(root);
    let mut directory = target(root);
    if let Some(foreign) = foreign {
        cargo.args(["--target", foreign.triple]).envs(foreign.for_cargo());
        directory.push(foreign.triple);
    }
    if !cargo.status()?.success() {
        return Err(io::Error::other(format!("{} does not build", package[0])));
    }
    Ok(directory.join("release").join(file))
}
