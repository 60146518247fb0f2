//! What this workspace builds, for the commands that use it.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

/// Builds `libstanchion_preload.so` and says where it is.
pub(crate) fn interposer(root: &Path) -> io::Result<PathBuf> {
    release(root, "stanchion-preload", "libstanchion_preload.so", "the interposer")
}

/// Builds the model checker's program and says where it is.
pub(crate) fn model(root: &Path) -> io::Result<PathBuf> {
    release(root, "stanchion-model", "stanchion-model", "the model")
}

fn release(root: &Path, package: &str, file: &str, what: &str) -> io::Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "-p", package])
        .current_dir(root)
        .status()?;
    if status.success() {
        Ok(target(root).join("release").join(file))
    } else {
        Err(io::Error::other(format!("{what} does not build")))
    }
}
