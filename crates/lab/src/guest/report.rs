//! Everything that came of a run of the command; the one thing that all formats are written from.
use super::clock::Given;
use super::record::Hardware;
use super::setting::Setting;
use super::transcript::{Ending, State, Told};
use super::workload::Workload;
use lab_kit::provenance::Provenance;
use serde::{Deserialize, Serialize};

pub(crate) const SCHEMA: u32 = 1;

/// What a boot took of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// What each vCPU's thread got of the host while the guest was at work.
    pub given: Vec<Given>,
    /// Seconds of CPU time of QEMU as a whole, from its start to its end.
    pub qemu_cpu_s: f64,
    pub qemu_wall_s: f64,
    /// From QEMU's start to the guest's first record.
    pub boot_wall_s: Option<f64>,
    pub max_rss_kib: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub lock: String,
    pub round: usize,
    #[serde(skip)]
    pub ending: Ending,
    pub state: State,
    /// What went wrong that must not pass silently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The guest itself found that the lock is broken.
    pub caught: bool,
    #[serde(flatten)]
    pub told: Told,
    #[serde(flatten)]
    pub cost: Cost,
    /// The guest's last lines, if something went wrong.
    pub log: Vec<String>,
}

impl Run {
    /// It, a failure if the guest has not done all that was asked of it; a sound one keeps no last lines.
    pub(crate) fn checked(mut self, setting: &Setting) -> Self {
        if let (None, Some(lacks)) = (&self.reason, lacks(setting, &self.told)) {
            (self.state, self.reason) = (State::Failed, Some(format!("the guest ended well, but {lacks}")));
        }
        if self.reason.is_none() {
            self.log.clear();
        }
        self
    }

    /// It, unless it went wrong: then its figures are nobody's.
    pub(crate) fn sound(&self) -> Option<&Self> {
        self.reason.is_none().then_some(self)
    }
}

/// What a guest that is content has not done.
fn lacks(setting: &Setting, told: &Told) -> Option<String> {
    let &Hardware { vcpus, nodes, .. } = told.boot.as_ref()?;
    match setting.workload {
        _ if vcpus != setting.vcpus => Some(format!("{vcpus} of {} vCPUs came up", setting.vcpus)),
        _ if nodes != setting.nodes => Some(format!("it found {nodes} of {} nodes", setting.nodes)),
        Workload::Conform => told.tests.is_empty().then(|| "it ran no test".to_owned()),
        Workload::Boot => None,
        _ => told.work.is_none().then(|| "it has no result".to_owned()),
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub schema: u32,
    /// False while it runs, and for ever if it was interrupted.
    pub complete: bool,
    pub provenance: Provenance,
    pub setting: Setting,
    pub runs: Vec<Run>,
    pub warnings: Vec<String>,
}

impl Report {
    pub(crate) fn of<'a>(&'a self, lock: &'a str) -> impl Iterator<Item = &'a Run> {
        self.runs.iter().filter(move |run| run.lock == lock)
    }

    pub(crate) fn failures(&self) -> impl Iterator<Item = (&Run, &str)> {
        self.runs.iter().filter_map(|run| Some((run, run.reason.as_deref()?)))
    }

    /// What a millisecond of work was in the first boot that told.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.runs.iter().find_map(|run| run.told.work.as_ref()?.rate.filter(|&rate| rate > 0))
    }

    /// The locks under which a boot was not caught failing.
    pub(crate) fn survivors(&self) -> Vec<&str> {
        let survived = |lock: &&String| self.of(lock).any(|run| !run.caught);
        self.setting.locks.iter().filter(survived).map(String::as_str).collect()
    }
}
