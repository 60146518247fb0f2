//! A limit of CPU time as a container has it: a cgroup beside that of this process, which children enter,
//! until the run ends.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What container runtimes use.
pub const PERIOD_MS: u64 = 100;
/// Our cgroups are called this and the number of the process.
const NAME: &str = "stanchion-bench-";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

#[derive(Debug)]
pub struct Cgroup {
    dir: PathBuf,
    version: Version,
}

impl Cgroup {
    /// Makes one for this process's children; the error says why there is none.
    pub fn create() -> Result<Self, String> {
        let read =
            |path: &str| fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"));
        let (beside, version) = place(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)?;
        remove_abandoned(&beside);
        let cgroup = Self::create_in(&beside, version)?;
        cgroup.try_to_enter()?;
        Ok(cgroup)
    }

    fn create_in(parent: &Path, version: Version) -> Result<Self, String> {
        let dir = parent.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
        let cgroup = Self { dir, version };
        // The whole machine, for now: whether the files are there, and can be written.
        cgroup.limit_to(1.0)?;
        Ok(cgroup)
    }

    /// Limits all processes in it together to the time of so many CPUs.
    pub fn limit_to(&self, cpus: f64) -> Result<(), String> {
        let period = PERIOD_MS * 1000;
        let quota = (cpus * period as f64).round() as u64;
        match self.version {
            Version::One => {
                self.write("cpu.cfs_period_us", &period.to_string())?;
                self.write("cpu.cfs_quota_us", &quota.to_string())
            }
            Version::Two => self.write("cpu.max", &format!("{quota} {period}")),
        }
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.dir.join(file);
        // Files of cgroups are there or not; a program does not make them.
        let open = fs::OpenOptions::new().write(true).open(&path);
        open.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// The words before those of a command that enters, and then becomes what they say.
    pub fn wrapper(&self) -> [String; 4] {
        let entrance = self.dir.join("cgroup.procs").display().to_string();
        ["sh".to_owned(), "-c".to_owned(), "echo $$ > \"$0\" && exec \"$@\"".to_owned(), entrance]
    }

    /// Whether a child gets in.
    fn try_to_enter(&self) -> Result<(), String> {
        let [shell, words @ ..] = self.wrapper();
        let trial = Command::new(shell).args(&words).arg("true").output();
        let trial = trial.map_err(|error| format!("cannot start a shell: {error}"))?;
        let said = String::from_utf8_lossy(&trial.stderr);
        let refused = || format!("cannot enter {}: {}", words[2], said.trim());
        trial.status.success().then_some(()).ok_or_else(refused)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // All children have been waited for, so nobody is in it.
        let _ = fs::remove_dir(&self.dir);
    }
}

/// Removes what runs that were killed have left here.
fn remove_abandoned(beside: &Path) {
    for entry in fs::read_dir(beside).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(NAME)?.parse::<u32>().ok());
        if number.is_some_and(|number| !Path::new(&format!("/proc/{number}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The directory of cgroups beside that of this process, in the hierarchy that has CPU limits.
fn place(cgroups: &str, mounts: &str) -> Result<(PathBuf, Version), String> {
    // `number:controllers:path`, with neither number nor controllers in version 2.
    let own = |of: &dyn Fn(&str) -> bool| {
        let mut lines = cgroups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        lines.find(|(controllers, _)| of(controllers)).map(|(_, path)| path)
    };
    let has_cpu = |list: &str| list.split(',').any(|word| word == "cpu");
    for mount in mounts.lines() {
        let Some((place, kind)) = mount.split_once(" - ") else { continue };
        let (place, kind): (Vec<&str>, Vec<&str>) = (place.split(' ').collect(), kind.split(' ').collect());
        let ([_, _, _, root, point, ..], [kind, _, options, ..]) = (&place[..], &kind[..]) else { continue };
        let (path, version) = match *kind {
            "cgroup" if has_cpu(options) => (own(&has_cpu), Version::One),
            "cgroup2" if own(&has_cpu).is_none() => (own(&str::is_empty), Version::Two),
            _ => continue,
        };
        let Some(path) = path else { continue };
        // In a container the path may be that of the host, below the root of the mount.
        let below = path.strip_prefix(root).unwrap_or(path).trim_matches('/');
        let beside = Path::new(below).parent().unwrap_or(Path::new(""));
        return Ok((Path::new(point).join(beside), version));
    }
    Err("no cgroup hierarchy with CPU limits is mounted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct";
    const TWO: &str = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate";

    fn placed(cgroups: &str, mounts: &[&str]) -> Option<(String, Version)> {
        let (path, version) = place(cgroups, &mounts.join("\n")).ok()?;
        Some((path.to_str()?.trim_end_matches('/').to_owned(), version))
    }

    #[test]
    fn the_place_is_beside_our_own_in_the_hierarchy_that_limits_cpus() {
        let two = placed("0::/user.slice/session-1.scope\n", &["1 1 0:1 / / rw - ext4 /dev/sda rw", TWO]);
        assert_eq!(two, Some(("/sys/fs/cgroup/user.slice".to_owned(), Version::Two)));
        let both = "2:cpuacct,cpu:/a/b\n1:cpuset:/x\n0::/y/z\n";
        let cpuset = ONE.replace("cpu,cpuacct", "cpuset").replace("/cpu ", "/cpuset ");
        let one = Some(("/sys/fs/cgroup/cpu/a".to_owned(), Version::One));
        assert_eq!(placed(both, &[TWO, &cpuset, ONE]), one);
    }

    #[test]
    fn the_root_has_no_neighbours_but_children_and_a_container_sees_the_hosts_paths() {
        assert_eq!(placed("0::/", &[TWO]), Some(("/sys/fs/cgroup".to_owned(), Version::Two)));
        let inside = ONE.replace(" / ", " /docker/abc ");
        let found = placed("4:cpu,cpuacct:/docker/abc/x/y", &[&inside]);
        assert_eq!(found, Some(("/sys/fs/cgroup/cpu/x".to_owned(), Version::One)));
        assert_eq!(
            placed("4:cpu:/docker/abc", &[&inside]),
            Some(("/sys/fs/cgroup/cpu".to_owned(), Version::One))
        );
    }

    #[test]
    fn without_a_hierarchy_the_reason_is_said() {
        for (cgroups, mounts) in [("", ""), ("0::/a", ONE), ("1:cpu:/a", TWO), ("nonsense", "nonsense")] {
            assert!(
                place(cgroups, mounts).is_err_and(|why| why.contains("no cgroup hierarchy")),
                "{cgroups}"
            );
        }
    }

    #[test]
    fn what_has_no_limits_is_removed_again_and_the_file_is_named() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        for (version, file) in [(Version::One, "cpu.cfs_period_us"), (Version::Two, "cpu.max")] {
            let error = Cgroup::create_in(parent.path(), version).expect_err("a plain directory");
            assert!(error.contains(file), "{error}");
            assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 0);
        }
    }

    #[test]
    fn a_limit_is_a_part_of_the_period() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        for name in ["cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.max"] {
            fs::write(parent.path().join(name), "").expect("written");
        }
        let read = |name: &str| fs::read_to_string(parent.path().join(name)).expect("readable");
        for version in [Version::One, Version::Two] {
            // Not dropped: the directory is not empty, and not its own.
            let cgroup = core::mem::ManuallyDrop::new(Cgroup { dir: parent.path().to_owned(), version });
            cgroup.limit_to(0.5).expect("written");
        }
        assert_eq!(
            (read("cpu.cfs_period_us").as_str(), read("cpu.cfs_quota_us").as_str()),
            ("100000", "50000")
        );
        assert_eq!(read("cpu.max"), "50000 100000");
    }

    #[test]
    fn a_wrapped_command_enters_and_then_runs() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let cgroup =
            core::mem::ManuallyDrop::new(Cgroup { dir: parent.path().to_owned(), version: Version::Two });
        let [shell, words @ ..] = cgroup.wrapper();
        let ran = Command::new(shell).args(words).args(["sh", "-c", "echo $$ \"$0\"", "a b"]).output();
        let said = String::from_utf8(ran.expect("a shell").stdout).expect("text");
        let entered = fs::read_to_string(parent.path().join("cgroup.procs")).expect("it was written");
        assert_eq!(said, format!("{} a b\n", entered.trim()));
        assert_eq!(cgroup.try_to_enter(), Ok(()));
        let nowhere = Cgroup { dir: parent.path().join("nowhere"), version: Version::Two };
        assert!(nowhere.try_to_enter().is_err_and(|why| why.contains("nowhere/cgroup.procs")));
    }

    #[test]
    fn what_a_dead_run_left_is_removed_and_what_lives_stays() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        // Greater than any process number of Linux.
        let (dead, alive) = (format!("{NAME}4194305"), format!("{NAME}{}", std::process::id()));
        for name in [&dead, &alive, "other-4194305"] {
            fs::create_dir(parent.path().join(name)).expect("created");
        }
        remove_abandoned(parent.path());
        assert!(!parent.path().join(dead).exists());
        assert!(parent.path().join(alive).exists() && parent.path().join("other-4194305").exists());
    }
}
