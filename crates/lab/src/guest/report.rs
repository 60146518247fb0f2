//! Everything that came of a run of the command; the one thing that all formats are written from.
use super::session::{Cost, Session};
use super::setting::{Setting, Trial};
use super::transcript::{State, Told};
use super::workload::Workload;
use lab_kit::provenance::Provenance;
use serde::{Deserialize, Serialize};

/// Version of the JSON.
pub(crate) const SCHEMA: u32 = 1;

/// One boot that was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub lock: String,
    pub round: usize,
    #[serde(flatten)]
    pub state: State,
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
    pub(crate) fn of(setting: &Setting, trial: Trial, session: Session) -> Self {
        let mut state = session.state();
        let transcript = session.transcript;
        if let (State::Finished | State::Unfinished, Some(lacks)) = (&state, lacks(setting, &transcript.told))
        {
            state = State::Failed { reason: format!("the guest ended well, but {lacks}") };
        }
        let sound = matches!(state, State::Finished | State::Unfinished);
        Self {
            lock: setting.locks[trial.lock].clone(),
            round: trial.round,
            state,
            caught: transcript.has_caught(),
            log: if sound { Vec::new() } else { transcript.log().map(str::to_owned).collect() },
            told: transcript.told,
            cost: session.cost,
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
}

/// What a guest that is content has not done.
fn lacks(setting: &Setting, told: &Told) -> Option<String> {
    let boot = told.boot.as_ref()?;
    if boot.vcpus != setting.vcpus {
        return Some(format!("{} of {} vCPUs came up", boot.vcpus, setting.vcpus));
    }
    if boot.nodes != setting.nodes {
        return Some(format!("it found {} of {} nodes", boot.nodes, setting.nodes));
    }
    match setting.workload {
        Workload::Conform => told.tests.is_empty().then(|| "it ran no test".to_owned()),
        Workload::Boot => None,
        _ => told.work.is_none().then(|| "it has no result".to_owned()),
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

    /// The boots that went wrong, and why.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&Run, &str)> {
        self.runs.iter().filter_map(|run| Some((run, run.reason()?)))
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
