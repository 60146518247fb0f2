//! The emulator: where it is, how it is called, and that it dies with us.
#![expect(unsafe_code, reason = "between fork and exec a child is told its CPUs and its end")]
use super::report::Accel;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What it is called unless `--qemu` says otherwise.
const PROGRAM: &str = "qemu-system-x86_64";
/// The image as `cargo xtask guest` calls it.
pub(crate) const IMAGE: &str = "stanchion-guest";

/// The machine that the guest gets.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub qemu: PathBuf,
    pub image: PathBuf,
    pub vcpus: u16,
    pub nodes: u16,
    pub memory_mib: u32,
    /// The host's CPUs that it may use.
    pub cpus: Vec<usize>,
}

impl Machine {
    /// The command that boots it, with `words` on the kernel's command line.
    pub(crate) fn command(&self, accel: Accel, words: &str) -> Command {
        let mut command = Command::new(&self.qemu);
        command.args(self.arguments(accel, words));
        // A group of its own: Ctrl-C is for us, and what it leaves behind is ended with it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let (us, mut set) = (getpid(), CpuSet::new());
        for &cpu in &self.cpus {
            set.set(cpu);
        }
        let prepare = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(us) {
                // We died before that could work.
                return Err(rustix::io::Errno::CHILD.into());
            }
            sched_setaffinity(None, &set)?;
            Ok(())
        };
        // SAFETY: the closure runs in the forked child, where only async-signal-safe calls are allowed: it
        // makes three system calls through wrappers that neither allocate nor lock, and touches nothing but
        // its own captured values.
        unsafe { command.pre_exec(prepare) };
        command
    }

    fn arguments(&self, accel: Accel, words: &str) -> Vec<OsString> {
        let (accelerator, cpu) = match accel {
            Accel::Kvm => ("kvm", "host"),
            Accel::Tcg => ("tcg,thread=multi", "max"),
        };
        let (memory, vcpus) = (self.memory_mib.to_string(), self.vcpus.to_string());
        let plain = [
            "-M",
            "q35",
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            "stdio",
            "-device",
            "isa-debug-exit,iobase=0xf4,iosize=0x04",
            "-no-reboot",
            "-name",
            // So that threads say which vCPU they are.
            "stanchion,debug-threads=on",
            "-accel",
            accelerator,
            "-cpu",
            cpu,
            "-m",
            &memory,
            "-smp",
            &vcpus,
        ];
        let mut arguments: Vec<OsString> = plain.iter().map(OsString::from).collect();
        arguments.extend(self.numa().iter().map(OsString::from));
        arguments.extend(["-kernel".into(), self.image.clone().into(), "-append".into(), words.into()]);
        arguments
    }

    /// Nodes with as many vCPUs and as much memory each as can be; none are told of if there is one.
    fn numa(&self) -> Vec<String> {
        let (nodes, vcpus) = (u32::from(self.nodes), u32::from(self.vcpus));
        let mut arguments = Vec::new();
        for node in (0..nodes).filter(|_| nodes > 1) {
            let share = |of: u32, node: u32| of * node / nodes;
            let (first, next) = (share(vcpus, node), share(vcpus, node + 1));
            let mib = share(self.memory_mib, node + 1) - share(self.memory_mib, node);
            arguments.extend(["-object".to_owned(), format!("memory-backend-ram,id=m{node},size={mib}M")]);
            let cpus = format!("cpus={first}-{}", next - 1);
            arguments.extend(["-numa".to_owned(), format!("node,nodeid={node},memdev=m{node},{cpus}")]);
        }
        arguments
    }
}

/// The emulator that is meant; the error is one line.
pub(crate) fn find(named: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf, String> {
    let Some(named) = named else {
        let dirs = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
        let found = dirs.into_iter().map(|dir| dir.join(PROGRAM)).find(|file| is_program(file));
        return found.ok_or_else(|| {
            format!(
                "{PROGRAM} not found: install it (Debian and Ubuntu: apt-get install --no-install-recommends qemu-system-x86), or say \
                 where it is by --qemu"
            )
        });
    };
    if is_program(named) {
        // A path that has no slash would be looked for along PATH.
        return named.canonicalize().map_err(|error| format!("--qemu {}: {error}", named.display()));
    }
    Err(format!("--qemu {}: is no program; give the path of {PROGRAM}", named.display()))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The image that is meant: named, or where `cargo xtask guest` puts it, or beside the command; the error is
/// one line.
pub(crate) fn image(named: Option<&Path>, executable: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(named) = named {
        return if named.is_file() {
            named.canonicalize().map_err(|error| format!("--image {}: {error}", named.display()))
        } else {
            Err(format!(
                "--image {}: there is no such file; build one with 'cargo xtask guest'",
                named.display()
            ))
        };
    }
    let dir = executable.and_then(Path::parent).unwrap_or(Path::new(""));
    let over = dir.parent().unwrap_or(dir);
    let places = [over.join("guest"), dir.to_owned(), over.join("lib"), over.join("lib/stanchion")];
    places.into_iter().map(|place| place.join(IMAGE)).find(|file| file.is_file()).ok_or_else(|| {
        format!("{IMAGE} not found; build it with 'cargo xtask guest', or say where it is by --image")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn machine(vcpus: u16, nodes: u16) -> Machine {
        let (qemu, image) = ("/q".into(), "/i".into());
        Machine { qemu, image, vcpus, nodes, memory_mib: 256, cpus: vec![0] }
    }

    #[test]
    fn nodes_share_vcpus_and_memory_and_leave_none_out() {
        assert!(machine(4, 1).numa().is_empty());
        let numa = machine(5, 3).numa();
        let cpus: Vec<&str> =
            numa.iter().filter_map(|word| word.split_once("cpus=")).map(|(_, cpus)| cpus).collect();
        assert_eq!(cpus, ["0-0", "1-2", "3-4"]);
        let sizes: u32 = numa
            .iter()
            .filter_map(|word| word.split_once("size=")?.1.trim_end_matches('M').parse::<u32>().ok())
            .sum();
        assert_eq!(sizes, 256);
    }

    #[test]
    fn the_words_are_one_argument_and_the_last() {
        let arguments = machine(4, 1).arguments(Accel::Tcg, "workload=build lock=byte");
        assert_eq!(arguments.last().and_then(|word| word.to_str()), Some("workload=build lock=byte"));
        assert!(arguments.contains(&"tcg,thread=multi".into()) && !arguments.contains(&"host".into()));
        assert!(machine(4, 1).arguments(Accel::Kvm, "").contains(&"host".into()));
    }

    #[test]
    fn what_is_missing_is_told_with_what_to_do() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().as_os_str();
        assert!(find(None, Some(path)).expect_err("missing").contains("qemu-system-x86)"));
        let file = dir.path().join(PROGRAM);
        fs::write(&file, "#!/bin/sh\n").expect("written");
        assert!(find(Some(&file), None).expect_err("not executable").contains("is no program"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("changed");
        assert_eq!(find(None, Some(path)), Ok(file.clone()));
        assert!(find(Some(&file), None).is_ok());
        let error = image(Some(&dir.path().join("none")), None).expect_err("missing");
        assert!(error.contains("cargo xtask guest"), "{error}");
    }

    #[test]
    fn the_image_is_found_where_it_is_built() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let executable = dir.path().join("release/stanchion");
        assert!(image(None, Some(&executable)).expect_err("missing").contains("cargo xtask guest"));
        fs::create_dir(dir.path().join("guest")).expect("created");
        let file = dir.path().join("guest").join(IMAGE);
        fs::write(&file, "").expect("written");
        assert_eq!(image(None, Some(&executable)), Ok(file));
    }
}
