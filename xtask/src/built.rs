//! What this workspace builds, for the commands that use it.
use crate::foreign::Foreign;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

/// The profile of what is packaged.
const DIST: &str = "dist";

/// Builds `libstanchion_preload.so`, with all locks, as it is packaged, for this machine or another one, and says where it is.
pub(crate) fn interposer(root: &Path, foreign: Option<&Foreign>) -> io::Result<PathBuf> {
    let family = &["--features", "family"];
    build(root, DIST, ("stanchion-preload", family), "libstanchion_preload.so", foreign)
}

/// Builds the `stanchion` command, as it is packaged, and says where it is.
pub(crate) fn laboratory(root: &Path) -> io::Result<PathBuf> {
    build(root, DIST, ("stanchion-lab", &[]), "stanchion", None)
}

/// Builds the model checker's program and says where it is.
pub(crate) fn model(root: &Path) -> io::Result<PathBuf> {
    build(root, "release", ("stanchion-model", &[]), "stanchion-model", None)
}

fn build(
    root: &Path,
    profile: &str,
    (package, features): (&str, &[&str]),
    file: &str,
    foreign: Option<&Foreign>,
) -> io::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--profile", profile, "-p", package]).args(features).current_dir(root);
    let mut directory = target(root);
    if let Some(foreign) = foreign {
        foreign.for_cargo(&mut cargo);
        cargo.args(["--target", foreign.triple]);
        directory.push(foreign.triple);
    }
    if cargo.status()?.success() {
        Ok(directory.join(profile).join(file))
    } else {
        Err(io::Error::other(format!("{package} does not build")))
    }
}
