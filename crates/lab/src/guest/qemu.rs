//! The emulator: where it is, whether KVM works, which only trying can tell, and that it dies with us.
#![expect(unsafe_code, reason = "between fork and exec a child is told its CPUs")]
use super::record::shown;
use super::session;
use super::setting::{Accel, Setting};
use super::transcript::Ending;
use crate::bench::restrict_to;
use core::time::Duration;
use lab_kit::child::dies_with_us;
use lab_kit::interrupt;
use rustix::fs::{Access, access};
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = "qemu-system-x86_64";
/// The image as `cargo xtask guest` calls it.
const IMAGE: &str = "stanchion-guest";
/// What it is always told. Its threads' names say which vCPU they are.
const ALWAYS: &str = "-M q35 -nodefaults -no-user-config -display none -monitor none -serial stdio \
                      -device isa-debug-exit,iobase=0xf4,iosize=0x04 -no-reboot -name stanchion,debug-threads=on";
/// With KVM a guest is up in a fraction of a second.
const KVM: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub qemu: PathBuf,
    pub image: PathBuf,
}

impl Machine {
    /// Those that are named, or those that are there; the error is one line.
    pub(crate) fn find(qemu: Option<&Path>, named: Option<&Path>) -> Result<Self, String> {
        let qemu = find(qemu, std::env::var_os("PATH").as_deref())?;
        Ok(Self { qemu, image: image(named, std::env::current_exe().ok().as_deref())? })
    }

    pub(crate) fn version(&self) -> String {
        let output = Command::new(&self.qemu).arg("--version").output();
        let bytes = output.map(|output| output.stdout).unwrap_or_default();
        shown(String::from_utf8_lossy(&bytes).lines().next().unwrap_or("unknown"), 120)
    }

    /// Decides who runs the guest's instructions, and says why it is not KVM if that was tried.
    pub(crate) fn settle(&self, setting: &mut Setting) {
        if setting.accel == Accel::Auto {
            setting.accel = Accel::Kvm;
            if let Err(reason) = offered(Path::new("/dev/kvm")).and_then(|()| self.boots(setting)) {
                setting.accel = Accel::Tcg;
                setting.accel_reason = Some(reason);
            }
        }
    }

    fn boots(&self, setting: &Setting) -> Result<(), String> {
        let mut command = self.command(setting, "workload=boot");
        let run = session::run(&mut command, ("none", 0), [KVM; 2], None, &mut |_| interrupt::requested());
        let run = run.map_err(|error| error.to_string())?;
        if run.ending == Ending::NotUp {
            return Err(format!("the guest did not come up under KVM in {} s", KVM.as_secs()));
        }
        run.reason.map_or(Ok(()), |reason| Err(format!("under KVM {reason}")))
    }

    /// The command that boots it, with `words` on the kernel's command line.
    pub(crate) fn command(&self, setting: &Setting, words: &str) -> Command {
        let (accel, cpu) = match setting.accel {
            Accel::Kvm => ("kvm", "host"),
            Accel::Tcg | Accel::Auto => ("tcg,thread=multi", "max"),
        };
        let (memory, vcpus) = (setting.memory_mib.to_string(), setting.vcpus.to_string());
        let mut command = Command::new(&self.qemu);
        command.args(ALWAYS.split(' ')).args(["-accel", accel, "-cpu", cpu, "-m", &memory, "-smp", &vcpus]);
        command.args(numa(setting)).arg("-kernel").arg(&self.image).args(["-append", words]);
        // A group of its own: Ctrl-C is for us, and what it leaves behind is ended with it.
        command.stdin(Stdio::null());
        dies_with_us(&mut command);
        let cpus = setting.cpus.clone();
        let prepare = move || Ok(restrict_to(&cpus)?);
        // SAFETY: the closure runs in the forked child, where only async-signal-safe calls are allowed: it
        // makes one system call through a function that neither allocates nor locks, and touches nothing but
        // its own captured value.
        unsafe { command.pre_exec(prepare) };
        command
    }
}

/// Nodes with as many vCPUs and as much memory each as can be; none are told of if there is one.
fn numa(setting: &Setting) -> Vec<String> {
    let (nodes, vcpus) = (u32::from(setting.nodes), u32::from(setting.vcpus));
    let mut arguments = Vec::new();
    for node in (0..nodes).filter(|_| nodes > 1) {
        let share = |of: u32, node: u32| of * node / nodes;
        let (first, next) = (share(vcpus, node), share(vcpus, node + 1));
        let mib = share(setting.memory_mib, node + 1) - share(setting.memory_mib, node);
        let memory = format!("memory-backend-ram,id=m{node},size={mib}M");
        let cpus = format!("node,nodeid={node},memdev=m{node},cpus={first}-{}", next - 1);
        arguments.extend(["-object".to_owned(), memory, "-numa".to_owned(), cpus]);
    }
    arguments
}

fn find(named: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf, String> {
    if let Some(named) = named {
        let shown = named.display();
        if !is_program(named) {
            return Err(format!("--qemu {shown}: is no program; give the path of {PROGRAM}"));
        }
        // A path that has no slash would be looked for along PATH.
        return named.canonicalize().map_err(|error| format!("--qemu {shown}: {error}"));
    }
    let mut files = path.into_iter().flat_map(std::env::split_paths).map(|dir| dir.join(PROGRAM));
    let how = "apt-get install --no-install-recommends qemu-system-x86";
    files.find(|file| is_program(file)).ok_or_else(|| {
        format!("{PROGRAM} not found: install it (Debian and Ubuntu: {how}), or say where it is by --qemu")
    })
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

/// The image: named, or where `cargo xtask guest` puts it, or beside the command.
fn image(named: Option<&Path>, executable: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(named) = named {
        let (file, shown) = (named.canonicalize().ok().filter(|file| file.is_file()), named.display());
        let missing = "there is no such file; build one with 'cargo xtask guest'";
        return file.ok_or_else(|| format!("--image {shown}: {missing}"));
    }
    let dir = executable.and_then(Path::parent).unwrap_or(Path::new(""));
    let over = dir.parent().unwrap_or(dir);
    let places = [over.join("guest"), dir.to_owned(), over.join("lib"), over.join("lib/stanchion")];
    places.into_iter().map(|place| place.join(IMAGE)).find(|file| file.is_file()).ok_or_else(|| {
        format!("{IMAGE} not found; build it with 'cargo xtask guest', or say where it is by --image")
    })
}

fn offered(device: &Path) -> Result<(), String> {
    if !device.exists() {
        return Err(format!("there is no {}", device.display()));
    }
    access(device, Access::READ_OK | Access::WRITE_OK)
        .map_err(|error| format!("{} cannot be used ({error})", device.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn setting(vcpus: u16, nodes: u16) -> Setting {
        Setting { vcpus, nodes, ..crate::guest::tests::setting(&["byte"]) }
    }

    #[test]
    fn nodes_share_vcpus_and_memory_and_leave_none_out() {
        assert!(numa(&setting(4, 1)).is_empty());
        let numa = numa(&setting(5, 3));
        let after = |key: &'static str| numa.iter().filter_map(move |word| Some(word.split_once(key)?.1));
        assert!(after("cpus=").eq(["0-0", "1-2", "3-4"]), "{numa:?}");
        let sizes = after("size=").map(|size| size.trim_end_matches('M').parse::<u32>().expect("MiB"));
        assert_eq!(sizes.sum::<u32>(), 256);
    }

    #[test]
    fn the_words_are_one_argument_and_the_last() {
        let machine = Machine { qemu: "/q".into(), image: "/i".into() };
        let arguments = |setting: &Setting, words: &str| -> Vec<OsString> {
            machine.command(setting, words).get_args().map(OsStr::to_owned).collect()
        };
        let tcg = arguments(&setting(4, 1), "workload=build lock=byte");
        assert_eq!(tcg.last().and_then(|word| word.to_str()), Some("workload=build lock=byte"));
        assert!(tcg.contains(&"tcg,thread=multi".into()) && !tcg.contains(&"host".into()));
        let kvm = Setting { accel: Accel::Kvm, ..setting(4, 1) };
        assert!(arguments(&kvm, "").contains(&"host".into()));
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

    #[test]
    fn a_device_that_is_not_there_is_not_tried() {
        let error = offered(Path::new("/dev/no-kvm")).expect_err("missing");
        assert_eq!(error, "there is no /dev/no-kvm");
        assert!(offered(Path::new("/dev/null")).is_ok());
    }
}
