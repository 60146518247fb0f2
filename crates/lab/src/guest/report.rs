//! Everything that came of a run of the command; the one thing that all formats are written from.
use super::clock::Given;
use super::record::{Hardware, Test, TestOutcome, Vcpu, Wake, Work};
use super::session::Session;
use super::transcript::State;
use super::workload::Workload;
use lab_kit::provenance::Provenance;
use serde::{Deserialize, Serialize};

/// Version of the JSON.
pub(crate) const SCHEMA: u32 = 1;

/// What the guest takes for a stall by itself, in seconds, is right up to so many vCPUs to a CPU; a
/// conformance test may take longer.
const STALL_S: u64 = 10;
const TEST_STALL_S: u64 = 60;
const CROWD: u64 = 4;

/// Who runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Accel {
    Kvm,
    Tcg,
}

impl Accel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kvm => "KVM",
            Self::Tcg => "TCG",
        }
    }
}

/// What was asked for, resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub workload: Workload,
    /// The guest boots for each, once a round.
    pub locks: Vec<String>,
    pub runs: usize,
    pub vcpus: u16,
    pub nodes: u16,
    /// The host's CPUs that the guest may use.
    pub cpus: Vec<usize>,
    pub memory_mib: u32,
    pub seed: u64,
    /// How long the workload is at work, where that is to be said.
    pub seconds: Option<f64>,
    /// Seconds after which a guest that has not finished is given up.
    pub limit_s: f64,
    pub boot_limit_s: f64,
    /// More words for the guest.
    pub words: Vec<String>,
    pub accel: Accel,
    /// Why it is not KVM, if that was tried.
    pub accel_reason: Option<String>,
    pub qemu: String,
    pub image: String,
}

impl Setting {
    /// The kernel command line of a boot. Runs of a round have the same seed, whatever the lock. `rate` is
    /// what a millisecond of work is, if that is known: else each boot measures it for itself, and has more
    /// or less to do than the others.
    pub(crate) fn words(&self, trial: &Trial, rate: Option<u64>) -> String {
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

    /// All boots in their order: rounds of all locks, each beginning one lock further.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let locks = self.locks.len();
        let round = |round| (0..locks).map(move |place| Trial { lock: (place + round) % locks, round });
        (0..self.runs).flat_map(round).collect()
    }

    /// `4 vCPUs on 2 CPUs, TCG`.
    pub(crate) fn told(&self) -> String {
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let nodes = if self.nodes > 1 { format!(" in {} NUMA nodes", self.nodes) } else { String::new() };
        let (vcpus, cpus) = (plural(self.vcpus.into(), "vCPU"), plural(self.cpus.len(), "CPU"));
        format!("{vcpus}{nodes} on {cpus}, {}", self.accel.name())
    }
}

/// One boot to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Its place in the list of locks.
    pub lock: usize,
    pub round: usize,
}

/// One boot that was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub lock: String,
    pub round: usize,
    #[serde(flatten)]
    pub state: State,
    /// The guest itself found that the lock is broken.
    pub caught: bool,
    pub boot: Option<Hardware>,
    pub work: Option<Work>,
    pub vcpus: Vec<Vcpu>,
    pub wake: Option<Wake>,
    pub tests: Vec<Test>,
    pub stats: Vec<String>,
    /// What each vCPU's thread got of the host while the guest was at work.
    pub given: Vec<Given>,
    /// Seconds of CPU time of QEMU as a whole, from its start to its end.
    pub qemu_cpu_s: f64,
    pub qemu_wall_s: f64,
    /// From QEMU's start to the guest's first record.
    pub boot_wall_s: Option<f64>,
    pub max_rss_kib: u64,
    /// The guest's last lines, if something went wrong.
    pub log: Vec<String>,
}

impl Run {
    pub(crate) fn of(setting: &Setting, trial: &Trial, session: Session) -> Self {
        let (lock, round) = (&setting.locks[trial.lock], trial.round);
        let mut state = session.transcript.state(session.ending, &session.exit);
        if let (State::Finished | State::Unfinished, Some(lacks)) = (&state, lacks(setting, &session)) {
            state = State::Failed { reason: format!("the guest ended well, but {lacks}") };
        }
        let sound = matches!(state, State::Finished | State::Unfinished);
        let log = if sound { Vec::new() } else { session.transcript.log().map(str::to_owned).collect() };
        let caught = session.transcript.has_caught();
        let transcript = session.transcript;
        Self {
            lock: lock.to_owned(),
            round,
            state,
            caught,
            boot: transcript.boot,
            work: transcript.work,
            vcpus: transcript.vcpus,
            wake: transcript.wake,
            tests: transcript.tests,
            stats: transcript.stats,
            given: session.given,
            qemu_cpu_s: session.cpu.as_secs_f64(),
            qemu_wall_s: session.wall.as_secs_f64(),
            boot_wall_s: session.boot_wall.map(|wall| wall.as_secs_f64()),
            max_rss_kib: session.max_rss_kib,
            log,
        }
    }

    /// Whether something went wrong that must not pass silently.
    pub(crate) fn failed(&self) -> bool {
        self.reason().is_some()
    }

    /// What went wrong.
    pub(crate) fn reason(&self) -> Option<&str> {
        match &self.state {
            State::Failed { reason } | State::Killed { reason } => Some(reason),
            State::Finished | State::Unfinished => None,
        }
    }

    /// Tests that ended so.
    pub(crate) fn tests(&self, outcome: TestOutcome) -> impl Iterator<Item = &Test> {
        self.tests.iter().filter(move |test| test.outcome == outcome)
    }
}

/// What a guest that is content has not done.
fn lacks(setting: &Setting, session: &Session) -> Option<String> {
    let transcript = &session.transcript;
    let boot = transcript.boot.as_ref()?;
    if boot.vcpus != setting.vcpus {
        return Some(format!("{} of {} vCPUs came up", boot.vcpus, setting.vcpus));
    }
    if boot.nodes != setting.nodes {
        return Some(format!("it found {} of {} nodes", boot.nodes, setting.nodes));
    }
    match setting.workload {
        Workload::Conform => transcript.tests.is_empty().then(|| "it ran no test".to_owned()),
        Workload::Boot => None,
        _ => transcript.work.is_none().then(|| "it has no result".to_owned()),
    }
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub schema: u32,
    /// False while it runs, and for ever if it was interrupted.
    pub complete: bool,
    pub provenance: Provenance,
    pub setting: Setting,
    /// In the order they were made.
    pub runs: Vec<Run>,
    pub warnings: Vec<String>,
}

impl Report {
    /// The boots under a lock.
    pub(crate) fn of<'a>(&'a self, lock: &'a str) -> impl Iterator<Item = &'a Run> {
        self.runs.iter().filter(move |run| run.lock == lock)
    }

    pub(crate) fn failed(&self) -> bool {
        self.runs.iter().any(Run::failed)
    }

    /// What a millisecond of work was in the first boot that told.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.runs.iter().find_map(|run| run.work.as_ref()?.rate.filter(|&rate| rate > 0))
    }

    /// The locks under which a boot was not caught failing.
    pub(crate) fn survivors(&self) -> Vec<&str> {
        let survived = |lock: &&String| self.of(lock).any(|run| !run.caught);
        self.setting.locks.iter().filter(survived).map(String::as_str).collect()
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
        assert_eq!(crowded(8).words(&trial, None), "workload=build lock=a seed=45 limit=30000ms");
        assert!(crowded(64).words(&trial, Some(5)).ends_with(" limit=30000ms stall=80 rate=5"));
        let hasty = Setting { seconds: Some(1e-4), limit_s: 1e-4, ..crowded(8) };
        assert!(hasty.words(&trial, None).ends_with(" seconds=1ms limit=1ms"), "what the guest can read");
        let conform = Setting { workload: Workload::Conform, ..crowded(10) };
        assert!(conform.words(&trial, None).ends_with(" stall=75"), "not less than without being told");
    }
}
