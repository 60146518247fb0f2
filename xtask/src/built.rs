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
    let family = &["--features", "family"];
    release(root, "stanchion-preload", family, "libstanchion_preload.so", "the interposer", foreign)
}

/// Builds the `stanchion` command and says where it is.
pub(crate) fn laboratory(root: &Path) -> io::Result<PathBuf> {
    release(root, "stanchion-lab", &[], "stanchion", "the laboratory", None)
}

/// Builds the model checker's program and says where it is.
pub(crate) fn model(root: &Path) -> io::Result<PathBuf> {
    release(root, "stanchion-model", &[], "stanchion-model", "the model", None)
}

fn release(
    root: &Path,
    package: &str,
    features: &[&str],
    file: &str,
    what: &str,
    foreign: Option<&Foreign>,
) -> io::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "-p", package]).args(features).current_dir(root);
    let mut directory = target(root);
    if let Some(foreign) = foreign {
        foreign.for_cargo(&mut cargo);
        cargo.args(["--target", foreign.triple]);
        directory.push(foreign.triple);
    }
    if cargo.status()?.success() {
        Ok(directory.join("release").join(file))
    } else {
        Err(io::Error::other(format!("{what} does not build")))
    }
}
