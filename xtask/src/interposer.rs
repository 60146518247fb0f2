//! The interposer of this workspace, built before it is used.
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds `libstanchion_preload.so` and says where it is.
pub(crate) fn build(root: &Path) -> io::Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "-p", "stanchion-preload"])
        .current_dir(root)
        .status()?;
    if !status.success() {
        return Err(io::Error::other("the interposer does not build"));
    }
    Ok(target(root).join("release/libstanchion_preload.so"))
}

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}
