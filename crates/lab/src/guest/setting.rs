//! What a run is to do: typed, completed by [`Setting::resolve`], told to the guest, and kept in the report.
use super::workload::{self, Workload};
use crate::bench::{self, Cpus, available_cpus};
use clap::{ArgAction, ValueEnum};
use core::time::Duration;
use lab_kit::export::Files;
use lab_kit::names::LockNames;
use lab_kit::seed;
use lab_kit::units::{plural, seconds_within, within};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The longest time: a day, as in the guest.
const DAY: Duration = Duration::from_hours(24);

/// Who runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Accel {
    /// KVM if it works here, else TCG
    Auto,
    /// The processor's own virtualisation
    Kvm,
    /// QEMU's translator, a host thread for each vCPU
    Tcg,
}

/// Run the locks on real vCPUs: a small kernel under QEMU, with more vCPUs than CPUs
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Exit codes: 0 all went well, also if a build was unfinished at its limit; 1 a guest failed, died or \
had to be killed, a test failed (with --expect-failure: a lock survived), or a file could not be written; 2 bad input, no QEMU or no image, nothing was run; 130 interrupted, \
what was finished is kept."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub setting: Setting,

    /// CPUs of the host to keep to, such as 0-3,8 [default: the first 2 that this process may use]
    #[arg(long, value_name = "LIST", value_parser = bench::cpus)]
    pub cpus: Option<Cpus>,

    /// Give a guest up whose work takes longer: a build says so itself and is unfinished, any other guest is
    /// killed and has failed [default: 120s, for torture, counter and rw beside --time; ten times as long
    /// for conform]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub limit: Option<f64>,

    /// Succeed only if the guest finds each of these locks broken
    #[arg(long)]
    pub expect_failure: bool,

    /// The guest's image [default: what 'cargo xtask guest' has built, or stanchion-guest beside this command
    /// or in ../lib]
    #[arg(long, value_name = "PATH")]
    pub image: Option<PathBuf>,

    /// The emulator [default: qemu-system-x86_64 along PATH]
    #[arg(long, value_name = "PATH")]
    pub qemu: Option<PathBuf>,

    /// Keep all that guests write on their serial line
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    // Written after each boot, as guest.json, guest.csv and guest.html in a directory.
    #[command(flatten)]
    pub files: Files,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub(crate) struct Setting {
    /// What the guest does
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub workload: Workload,

    /// Locks, each in a boot of its own: names, 'all', and 'variants' for those that are there to be compared
    /// with each other
    #[arg(long = "lock", value_name = "LIST", value_delimiter = ',', action = ArgAction::Set, default_value = lab_kit::names::ALL, value_parser = LockNames::ALL, hide_possible_values = true)]
    pub locks: Vec<String>,

    /// Boots for each lock, in rounds of all locks; medians are shown, with half the range from least to most
    #[arg(long = "rounds", value_name = "N", default_value_t = 1, value_parser = within(1_usize, 10_000))]
    pub runs: usize,

    // As many as APIC numbers of eight bits can tell apart.
    /// vCPUs of the guest
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = within(1_u16, 255))]
    pub vcpus: u16,

    /// NUMA nodes that the guest is told of, with equal shares of vCPUs and memory
    #[arg(long = "numa", value_name = "N", default_value_t = 1)]
    pub nodes: u16,

    #[arg(skip)]
    pub cpus: Vec<usize>,

    /// Memory of the guest
    #[arg(long = "memory", value_name = "MIB", default_value_t = 256, value_parser = within(64_u32, 65_536))]
    pub memory_mib: u32,

    /// The seed of every random decision of the guest; each round adds one [default: a new one, printed]
    #[arg(long, value_name = "N", default_value_t = seed::fresh(), hide_default_value = true)]
    pub seed: u64,

    /// How long torture, counter and rw are at work [default: 10s]
    #[arg(long = "time", value_name = "TIME", value_parser = seconds)]
    pub seconds: Option<f64>,

    #[arg(skip)]
    pub limit_s: f64,

    /// Give a guest up that has not come up after so long
    #[arg(long = "boot-limit", value_name = "TIME", default_value = "60s", value_parser = seconds)]
    pub boot_limit_s: f64,

    /// Replace a word of the guest's command line, such as jobs=3 or inside=1us; may be repeated
    #[arg(long = "set", value_name = "WORD=VALUE")]
    pub words: Vec<String>,

    /// Who runs the guest's instructions
    #[arg(long, value_name = "NAME", value_enum, default_value = "auto")]
    pub accel: Accel,

    /// Why it is not KVM, if that was tried.
    #[arg(skip)]
    pub accel_reason: Option<String>,

    #[arg(skip)]
    pub qemu: String,

    #[arg(skip)]
    pub image: String,
}

fn seconds(text: &str) -> Result<f64, String> {
    seconds_within(Duration::from_nanos(1), DAY)(text)
}

impl Setting {
    /// Checks how what was typed goes together, and fills in what follows from it.
    pub(crate) fn resolve(&mut self, cpus: Option<Cpus>, limit: Option<f64>) -> Result<(), String> {
        let workload = self.workload;
        if workload == Workload::Conform && self.vcpus < 2 {
            return Err("--vcpus 1: the conformance tests need two at least".to_owned());
        }
        if !(1..=self.vcpus).contains(&self.nodes) {
            return Err(format!("--numa {}: must be from 1 to --vcpus, which is {}", self.nodes, self.vcpus));
        }
        self.locks = workload::locks(workload, &self.locks)?;
        if workload.lasts() {
            self.seconds.get_or_insert(10.0);
        } else if self.seconds.is_some() {
            return Err(format!("--time is for torture, counter and rw, not for --workload {workload}"));
        }
        for word in &self.words {
            let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
            if name.is_empty() || word.contains(|c: char| c.is_whitespace() || c.is_control()) {
                return Err(format!("--set {word:?}: write a word and its value, such as jobs=3"));
            }
            if ["workload", "lock", "seed", "seconds", "limit"].contains(&name) {
                let flag = if name == "seconds" { "time" } else { name };
                return Err(format!("--set {word}: use --{flag}"));
            }
        }
        self.cpus = cpus.unwrap_or_else(|| available_cpus().into_iter().take(2).collect());
        // The guest's torture takes so many times its limit of a stall for one, which it has to live to see.
        let groups = u64::from(self.vcpus).div_ceil(4).div_ceil(4);
        let stall = self.stall().filter(|_| workload == Workload::Torture).unwrap_or(0) * groups;
        let work = 120.0 + self.seconds.unwrap_or(0.0) + stall as f64;
        self.limit_s = limit.unwrap_or(if workload == Workload::Conform { 1200.0 } else { work });
        Ok(())
    }

    /// What is a stall, in seconds, where the guest cannot tell. A lock that hands over in order waits for
    /// vCPUs that do not run, each for the others' slices. The guest does not know how many of those there
    /// are to a CPU: what it takes for a stall by itself is right up to four.
    fn stall(&self) -> Option<u64> {
        let crowd = u64::from(self.vcpus).div_ceil(self.cpus.len().max(1) as u64);
        let by_itself = if self.workload == Workload::Conform { 60 } else { 10 };
        (crowd > 4).then(|| by_itself * crowd / 4)
    }

    /// The kernel command line of a boot. Runs of a round have the same seed, whatever the lock. `rate` is
    /// what a millisecond of work is: if it is not known each boot measures it, and has other work to do.
    pub(crate) fn words(&self, lock: &str, round: usize, rate: Option<u64>) -> String {
        // The guest knows no shorter time.
        let ms = |seconds: f64| ((seconds * 1e3).round() as u64).max(1);
        let words = [
            Some(format!("workload={}", self.workload)),
            (self.workload != Workload::Boot).then(|| format!("lock={lock}")),
            Some(format!("seed={}", self.seed.wrapping_add(round as u64))),
            self.seconds.map(|seconds| format!("seconds={}ms", ms(seconds))),
            (self.workload == Workload::Build).then(|| format!("limit={}ms", ms(self.limit_s))),
            self.stall().map(|stall| format!("stall={stall}")),
            rate.map(|rate| format!("rate={rate}")),
        ];
        // What the user says comes last, and counts.
        words.into_iter().flatten().chain(self.words.iter().cloned()).collect::<Vec<_>>().join(" ")
    }

    /// All boots in their order, by lock and round: rounds of all locks, each beginning one lock further.
    pub(crate) fn trials(&self) -> Vec<(&str, usize)> {
        let lock = |place: usize| self.locks[place % self.locks.len()].as_str();
        let round = |round| (0..self.locks.len()).map(move |place| (lock(place + round), round));
        (0..self.runs).flat_map(round).collect()
    }

    /// `4 vCPUs on 2 CPUs, TCG`.
    pub(crate) fn told(&self) -> String {
        let nodes = if self.nodes > 1 { format!(" in {} NUMA nodes", self.nodes) } else { String::new() };
        let (vcpus, cpus) = (plural(self.vcpus.into(), "vCPU"), plural(self.cpus.len(), "CPU"));
        let accel = if self.accel == Accel::Kvm { "KVM" } else { "TCG" };
        format!("{vcpus}{nodes} on {cpus}, {accel}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::tests::setting;

    #[test]
    fn rounds_take_all_locks_and_begin_one_further_each_time() {
        let setting = Setting { runs: 2, ..setting(&["a", "b", "c"]) };
        assert_eq!(setting.trials(), [("a", 0), ("b", 0), ("c", 0), ("b", 1), ("c", 1), ("a", 1)]);
    }

    #[test]
    fn many_vcpus_to_a_cpu_are_given_more_time_before_they_count_as_stuck() {
        let crowded = |vcpus| Setting { vcpus, ..setting(&["a"]) };
        assert_eq!(crowded(8).words("a", 3, None), "workload=build lock=a seed=45 limit=30000ms");
        assert!(crowded(64).words("a", 3, Some(5)).ends_with(" limit=30000ms stall=80 rate=5"));
        let hasty = Setting { seconds: Some(1e-4), limit_s: 1e-4, ..crowded(8) };
        assert!(hasty.words("a", 3, None).ends_with(" seconds=1ms limit=1ms"), "what the guest can read");
        let conform = Setting { workload: Workload::Conform, ..crowded(10) };
        assert!(conform.words("a", 3, None).ends_with(" stall=75"), "not less than without being told");
    }
}
