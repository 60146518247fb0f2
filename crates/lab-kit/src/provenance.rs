//! Where a result comes from: machine, kernel, compiler, commit, arguments, seed. Part of every file written.
#![expect(unsafe_code, reason = "the version of the C library is asked from the C library")]
use crate::units::plural;
use serde::{Deserialize, Serialize};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// Everything needed to judge whether two results can be compared. Unknown things are `unknown`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Provenance {
    /// Looks around. `seed` is the one that the run uses.
    pub fn collect(seed: u64) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let uname = rustix::system::uname();
        let text = |part: &core::ffi::CStr| part.to_string_lossy().into_owned();
        Self {
            date: utc(SystemTime::now()),
            cpu_model: cpu_model(&cpuinfo).unwrap_or_else(|| text(uname.machine())),
            cpus: count_listed(&read("/sys/devices/system/cpu/online")).unwrap_or(1),
            numa_nodes: count_listed(&read("/sys/devices/system/node/online")).unwrap_or(1),
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

/// A moment as ISO 8601 has it. Years begin in March here, so that the day that not all of them have is the
/// last one (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn utc(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hours, minutes, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let day = day - (153 * from_march + 2) / 5 + 1;
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{second:02}Z")
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// How many numbers a kernel list such as `0-3,8` has.
fn count_listed(list: &str) -> Option<usize> {
    list.trim()
        .split(',')
        .map(|part| match part.split_once('-') {
            Some((first, last)) => Some(last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)? + 1),
            None => part.parse::<usize>().ok().map(|_| 1),
        })
        .sum()
}

/// What the processor says about who runs it.
fn hypervisor(cpuinfo: &str) -> String {
    let virtualised = cpuinfo
        .lines()
        .find(|line| line.starts_with("flags"))
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    let xen = read("/sys/hypervisor/type").trim().to_owned();
    match (xen.is_empty(), virtualised) {
        (false, _) => xen,
        (true, true) => signature().unwrap_or_else(|| "unknown".to_owned()),
        (true, false) => "none".to_owned(),
    }
}

/// The twelve letters a hypervisor leaves in the processor's identification.
#[cfg(target_arch = "x86_64")]
fn signature() -> Option<String> {
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
        other => other,
    };
    (!known.is_empty() && known.is_ascii()).then(|| known.to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn signature() -> Option<String> {
    None
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
        let at = |seconds| utc(UNIX_EPOCH + core::time::Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(at(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn kernel_lists_are_counted() {
        assert_eq!(count_listed("0-1\n"), Some(2));
        assert_eq!(count_listed("0,2-4,9"), Some(5));
        assert_eq!(count_listed(""), None);
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
            if read("/sys/hypervisor/type").is_empty() { "none" } else { "xen" }
        );
        assert_eq!(cpu_model("model name\t: AMD EPYC\n"), Some("AMD EPYC".to_owned()));
    }
}
