//! What this workspace builds, for the commands that use it.
use crate::aarch64::{self, TRIPLE};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

/// The interposer, with all locks, for this machine or the emulated one.
pub(crate) fn interposer(root: &Path, emulated: bool) -> io::Result<PathBuf> {
    release(root, &["stanchion-preload", "--features", "family"], "libstanchion_preload.so", emulated)
}

/// The `stanchion` command.
pub(crate) fn laboratory(root: &Path) -> io::Result<PathBuf> {
    release(root, &["stanchion-lab"], "stanchion", false)
}

/// Builds a program or a library of this package, which is named first, and says where it is.
pub(crate) fn release(root: &Path, package: &[&str], file: &str, emulated: bool) -> io::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "-p"]).args(package).current_dir(root);
    let mut directory = target(root);
    if emulated {
        cargo.args(["--target", TRIPLE]).envs(aarch64::for_cargo());
        directory.push(TRIPLE);
    }
    if !cargo.status()?.success() {
        return Err(io::Error::other(format!("{} does not build", package[0])));
    }
    Ok(directory.join("release").join(file))
}
