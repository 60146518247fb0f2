//! A container's limit of CPU time, for the commands under the lock.
use super::table::Words;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::{fs, process};

/// What container runtimes use.
const PERIOD_US: f64 = 100_000.0;

/// A control group, removed with this.
pub(super) struct Limit {
    dir: PathBuf,
    /// The file that takes the limit, and what stands behind its number there.
    file: PathBuf,
    period: &'static str,
}

impl Limit {
    /// Makes a group; the error says why there is none.
    pub(super) fn new() -> Result<Self> {
        let one = Path::new("/sys/fs/cgroup/cpu");
        let (parent, file, period) = if one.join("cpu.cfs_quota_us").exists() {
            (one, "cpu.cfs_quota_us", "")
        } else {
            (Path::new("/sys/fs/cgroup"), "cpu.max", " 100000")
        };
        let dir = parent.join(format!("stanchion-programs-{}", process::id()));
        fs::create_dir(&dir)?;
        let limit = Self { file: dir.join(file), dir, period };
        limit.wrapper(1.0)?;
        Ok(limit)
    }

    /// Limits everybody in the group to the time of so many CPUs. What a command is given to that enters it.
    pub(super) fn wrapper(&self, cpus: f64) -> Result<Words> {
        let quota = (cpus * PERIOD_US).round();
        fs::OpenOptions::new().write(true).open(&self.file)?;
        fs::write(&self.file, format!("{quota}{}", self.period))?;
        let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.dir.display());
        Ok(["sh", "-c", &enter, "sh"].map(str::to_owned).to_vec())
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // All commands have been waited for, so nobody is in it.
        let _ = fs::remove_dir(&self.dir);
    }
}
