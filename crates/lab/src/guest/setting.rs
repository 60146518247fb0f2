//! What a run is to do: typed, completed by [`Setting::resolve`], told to the guest, and kept in the report.
use super::accel::Accel;
use super::workload::{self, Workload};
use crate::bench::available_cpus;
use core::time::Duration;
use lab_kit::names::LockNames;
use lab_kit::seed;
use lab_kit::units::{plural, within};
use serde::{Deserialize, Serialize};

/// The most vCPUs that an APIC number of eight bits can tell apart.
const VCPUS_MOST: u16 = 255;
/// CPUs of a host that has as many, unless told otherwise.
const CPUS_DEFAULT: usize = 2;
/// The most runs of each lock that anybody can mean.
const RUNS_MOST: usize = 10_000;
/// The longest time, in seconds: a day, as in the guest.
const SECONDS_MOST: f64 = 86_400.0;
/// How long work may take unless told otherwise, beyond the time that was asked for.
const LIMIT: f64 = 120.0;
/// What the guest takes for a stall by itself, in seconds, is right up to so many vCPUs to a CPU; a
/// conformance test may take longer.
const STALL_S: u64 = 10;
const TEST_STALL_S: u64 = 60;
const CROWD: u64 = 4;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Args)]
pub(crate) struct Setting {
    /// What the guest does
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub workload: Workload,

    /// Locks, each in a boot of its own: names, 'all', and 'variants' for those that are there to be compared
    /// with each other
    #[arg(long = "lock", value_name = "LIST", value_delimiter = ',', default_value = "all", value_parser = LockNames::ALL, hide_possible_values = true)]
    pub locks: Vec<String>,

    /// Boots for each lock, in rounds of all locks; medians are shown, with half the range from least to most
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = within(1, RUNS_MOST))]
    pub runs: usize,

    /// vCPUs of the guest
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = within(1, VCPUS_MOST))]
    pub vcpus: u16,

    /// NUMA nodes that the guest is told of, with equal shares of vCPUs and memory
    #[arg(long = "numa", value_name = "N", default_value_t = 1)]
    pub nodes: u16,

    /// The host's CPUs that the guest may use.
    #[arg(skip)]
    pub cpus: Vec<usize>,

    /// Memory of the guest
    #[arg(long = "memory", value_name = "MIB", default_value_t = 256, value_parser = within(64_u32, 65_536))]
    pub memory_mib: u32,

    /// The seed of every random decision of the guest; each round adds one [default: a new one, printed]
    #[arg(long, value_name = "N", default_value_t = seed::fresh(), hide_default_value = true)]
    pub seed: u64,

    /// How long torture, counter and rw are at work [default: 10]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,

    /// Seconds after which a guest that has not finished is given up. It gets a little longer before it is
    /// killed.
    #[arg(skip)]
    pub limit_s: f64,

    /// Give a guest up that has not come up after so long
    #[arg(long = "boot-limit", value_name = "S", default_value_t = 60.0, value_parser = seconds)]
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

    /// What the emulator says that it is.
    #[arg(skip)]
    pub qemu: String,

    #[arg(skip)]
    pub image: String,
}

/// Takes a time, for clap.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let given = text.parse().ok().filter(|&given| given > 0.0 && given <= SECONDS_MOST);
    given.ok_or_else(|| format!("must be above 0 and at most {SECONDS_MOST} seconds"))
}

/// One boot to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Its place in the list of locks.
    pub lock: usize,
    pub round: usize,
}

impl Setting {
    /// Checks how what was typed goes together, and fills in what follows from it.
    pub(crate) fn resolve(&mut self, cpus: Option<usize>, limit: Option<f64>) -> Result<(), String> {
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
            return Err(format!("--seconds is for torture, counter and rw, not for --workload {workload}"));
        }
        self.limit_s = limit.unwrap_or(match workload {
            Workload::Conform => 10.0 * LIMIT,
            _ => LIMIT + self.seconds.unwrap_or(0.0),
        });
        for word in &self.words {
            let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
            if name.is_empty() || word.contains(|c: char| c.is_whitespace() || c.is_control()) {
                return Err(format!("--set {word:?}: write a word and its value, such as jobs=3"));
            }
            if ["workload", "lock", "seed", "seconds", "limit"].contains(&name) {
                return Err(format!("--set {word}: use --{name}"));
            }
        }
        self.cpus = available_cpus();
        let most = self.cpus.len();
        let wanted = cpus.unwrap_or(CPUS_DEFAULT.min(most));
        if !(1..=most).contains(&wanted) {
            return Err(format!(
                "--cpus {wanted}: must be from 1 to {most}, the CPUs that this process may use"
            ));
        }
        self.cpus.truncate(wanted);
        Ok(())
    }

    /// What gives reason to doubt the figures before there are any.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let alone = self.cpus.len() < 2 && self.vcpus > 1;
        let line = alone.then(|| "one CPU of the host: no two vCPUs ever run at the same time".to_owned());
        line.into_iter().collect()
    }

    /// The kernel command line of a boot. Runs of a round have the same seed, whatever the lock. `rate` is
    /// what a millisecond of work is, if that is known: else each boot measures it for itself, and has more
    /// or less to do than the others.
    pub(crate) fn words(&self, trial: Trial, rate: Option<u64>) -> String {
        let mut words = vec![format!("workload={}", self.workload)];
        if self.workload != Workload::Boot {
            words.push(format!("lock={}", self.locks[trial.lock]));
        }
        words.push(format!("seed={}", self.seed.wrapping_add(trial.round as u64)));
        // The guest knows no shorter time.
        let ms = |seconds: f64| ((seconds * 1e3).round() as u64).max(1);
        words.extend(self.seconds.map(|seconds| format!("seconds={}ms", ms(seconds))));
        if self.workload == Workload::Build {
            words.push(format!("limit={}ms", ms(self.limit_s)));
        }
        words.extend(self.stall().map(|seconds| format!("stall={seconds}")));
        words.extend(rate.map(|rate| format!("rate={rate}")));
        // What the user says comes last, and counts.
        words.extend(self.words.iter().cloned());
        words.join(" ")
    }

    /// After how many seconds a standstill is a stall, if that is to be said. A lock that hands over in order
    /// waits for vCPUs that do not run, each for the others' slices; the guest does not know how many of
    /// those there are to a CPU.
    fn stall(&self) -> Option<u64> {
        let crowd = u64::from(self.vcpus).div_ceil(self.cpus.len().max(1) as u64);
        let alone = if self.workload == Workload::Conform { TEST_STALL_S } else { STALL_S };
        (crowd > CROWD).then_some(alone * crowd / CROWD)
    }

    /// How long the guest has from its first record to its last. If it was told to end, it has to notice, and
    /// to write its records.
    pub(crate) fn work_limit(&self) -> Duration {
        Duration::from_secs_f64(self.limit_s + (self.limit_s / 4.0).clamp(1.0, 15.0))
    }

    /// All boots in their order: rounds of all locks, each beginning one lock further.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let locks = self.locks.len();
        let round = |round| (0..locks).map(move |place| Trial { lock: (place + round) % locks, round });
        (0..self.runs).flat_map(round).collect()
    }

    /// `4 vCPUs on 2 CPUs, TCG`.
    pub(crate) fn told(&self) -> String {
        let nodes = if self.nodes > 1 { format!(" in {} NUMA nodes", self.nodes) } else { String::new() };
        let (vcpus, cpus) = (plural(self.vcpus.into(), "vCPU"), plural(self.cpus.len(), "CPU"));
        format!("{vcpus}{nodes} on {cpus}, {}", self.accel.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::testing::setting;

    #[test]
    fn rounds_take_all_locks_and_begin_one_further_each_time() {
        let setting = Setting { runs: 2, ..setting(&["a", "b", "c"]) };
        let order: Vec<(usize, usize)> =
            setting.trials().iter().map(|trial| (trial.round, trial.lock)).collect();
        assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (1, 0)]);
    }

    #[test]
    fn many_vcpus_to_a_cpu_are_given_more_time_before_they_count_as_stuck() {
        let crowded = |vcpus| Setting { vcpus, ..setting(&["a"]) };
        let trial = Trial { lock: 0, round: 3 };
        assert_eq!(crowded(8).words(trial, None), "workload=build lock=a seed=45 limit=30000ms");
        assert!(crowded(64).words(trial, Some(5)).ends_with(" limit=30000ms stall=80 rate=5"));
        let hasty = Setting { seconds: Some(1e-4), limit_s: 1e-4, ..crowded(8) };
        assert!(hasty.words(trial, None).ends_with(" seconds=1ms limit=1ms"), "what the guest can read");
        let conform = Setting { workload: Workload::Conform, ..crowded(10) };
        assert!(conform.words(trial, None).ends_with(" stall=75"), "not less than without being told");
    }
}
