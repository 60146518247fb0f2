//! Where a result comes from: machine, kernel, compiler, commit, arguments, seed. Part of every file written.
#![expect(unsafe_code, reason = "the version of the C library is asked from the C library")]
use crate::units::plural;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

/// Everything needed to judge whether two results can be compared. Unknown things are `unknown`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Start of the run, UTC, ISO 8601.
    pub date: String,
    pub cpu_model: String,
    /// CPUs that are online, whether this process may use them or not.
    pub cpus: usize,
    pub numa_nodes: usize,
    /// The hypervisor's name, or `none`.
    pub hypervisor: String,
    pub memory_mib: u64,
    pub kernel: String,
    pub libc: String,
    pub rustc: String,
    /// `release` or `debug`.
    pub build: String,
    pub stanchion: String,
    pub commit: String,
    /// `clean`, `dirty` or `unknown`.
    pub tree: String,
    pub arguments: Vec<String>,
    pub seed: u64,
    /// Digests of the files that arguments name, by what results call that which is in them.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl Provenance {
    pub fn collect(seed: u64) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let nodes = fs::read_dir("/sys/devices/system/node").into_iter().flatten();
        let nodes = nodes.filter_map(|node| Some(node.ok()?.file_name()));
        let uname = rustix::system::uname();
        let text = |part: &core::ffi::CStr| part.to_string_lossy().into_owned();
        Self {
            date: utc(SystemTime::now()),
            cpu_model: field(&cpuinfo, "model name").map_or_else(|| text(uname.machine()), str::to_owned),
            cpus: cpuinfo.lines().filter(|line| line.starts_with("processor")).count().max(1),
            numa_nodes: nodes.filter(|name| name.to_string_lossy().starts_with("node")).count().max(1),
            hypervisor: hypervisor(&cpuinfo),
            memory_mib: rustix::system::sysinfo().totalram as u64 / (1 << 20),
            kernel: format!("{} {}", text(uname.sysname()), text(uname.release())),
            libc: libc_version(),
            rustc: env!("STANCHION_RUSTC").to_owned(),
            build: env!("STANCHION_BUILD").to_owned(),
            stanchion: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("STANCHION_COMMIT").to_owned(),
            tree: env!("STANCHION_DIRTY").to_owned(),
            arguments: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            seed,
            files: BTreeMap::new(),
        }
    }

    /// Name and value of each part, for people and for comment lines.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let (cpus, nodes) = (plural(self.cpus, "CPU"), plural(self.numa_nodes, "NUMA node"));
        vec![
            ("date", self.date.clone()),
            ("machine", format!("{}, {cpus}, {nodes}, {} MiB", self.cpu_model, self.memory_mib)),
            ("hypervisor", self.hypervisor.clone()),
            ("kernel", self.kernel.clone()),
            ("libc", self.libc.clone()),
            ("rustc", format!("{} ({} build)", self.rustc, self.build)),
            ("stanchion", format!("{}, commit {}, tree {}", self.stanchion, self.commit, self.tree)),
            ("arguments", self.arguments.join(" ")),
            ("seed", self.seed.to_string()),
        ]
    }
}

fn utc(moment: SystemTime) -> String {
    DateTime::<Utc>::from(moment).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// What the kernel says under this name of the first CPU.
fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

/// What the processor says about who runs it.
fn hypervisor(cpuinfo: &str) -> String {
    let mut flags = field(cpuinfo, "flags").unwrap_or_default().split(' ');
    match fs::read_to_string("/sys/hypervisor/type").unwrap_or_default().trim() {
        "" if flags.any(|flag| flag == "hypervisor") => signature(),
        "" => "none".to_owned(),
        xen => xen.to_owned(),
    }
}

/// The twelve letters a hypervisor leaves in the processor's identification.
#[cfg(target_arch = "x86_64")]
fn signature() -> String {
    const HYPERVISOR_LEAF: u32 = 0x4000_0000;
    let leaf = core::arch::x86_64::__cpuid(HYPERVISOR_LEAF);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    let name = String::from_utf8_lossy(&bytes).trim_matches(|c: char| c == '\0' || c == ' ').to_owned();
    let known = match name.as_str() {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU TCG",
        other if !other.is_empty() && other.is_ascii() => other,
        _ => "unknown",
    };
    known.to_owned()
}

#[cfg(not(target_arch = "x86_64"))]
fn signature() -> String {
    "unknown".to_owned()
}

#[cfg(target_env = "gnu")]
fn libc_version() -> String {
    // SAFETY: the call returns a string with static lifetime and has no preconditions.
    let version = unsafe { core::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn libc_version() -> String {
    if cfg!(target_env = "musl") { "musl".to_owned() } else { "unknown".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds| utc(SystemTime::UNIX_EPOCH + core::time::Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(at(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn as_many_cpus_and_nodes_are_counted_as_the_kernel_lists() {
        let listed = |path: &str| {
            let list = fs::read_to_string(path).unwrap_or_else(|_| "0".to_owned());
            let part = |part: &str| {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                last.parse::<usize>().expect("a number") - first.parse::<usize>().expect("a number") + 1
            };
            list.trim().split(',').map(part).sum::<usize>()
        };
        let provenance = Provenance::collect(7);
        assert_eq!(provenance.cpus, listed("/sys/devices/system/cpu/online"));
        assert_eq!(provenance.numa_nodes, listed("/sys/devices/system/node/online"));
    }

    #[test]
    fn nothing_about_this_run_is_empty_and_the_date_is_utc() {
        let provenance = Provenance::collect(7);
        let rows = provenance.rows();
        assert!(rows.iter().filter(|(name, _)| *name != "arguments").all(|(_, value)| !value.is_empty()));
        assert!(provenance.date.ends_with('Z') && provenance.date.len() == 20, "{}", provenance.date);
        assert_eq!(provenance.seed, 7);
        assert!(provenance.cpus >= 1 && provenance.numa_nodes >= 1);
    }

    #[test]
    fn a_hypervisor_is_looked_for_only_where_there_is_one() {
        assert_eq!(
            hypervisor("flags\t: fpu vme"),
            if fs::exists("/sys/hypervisor/type").is_ok_and(|there| there) { "xen" } else { "none" }
        );
        assert_eq!(field("model name\t: AMD EPYC\n", "model name"), Some("AMD EPYC"));
    }
}
