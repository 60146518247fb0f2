//! What came of a simulation, as the files tell it.
use super::timeline::Caption;
use lab_kit::provenance::Provenance;
use lab_kit::stats::Ratio;
use serde::{Deserialize, Serialize};
use stanchion_cells::cell::{Cell, SceneInfo, Setting, State};
use stanchion_sim::Recording;
use std::collections::BTreeMap;

/// Raised whenever a reader of older files would misunderstand newer ones.
pub(super) const SCHEMA: u32 = 1;

/// What the simulation itself took: with the provenance all that differs between equal runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Effort {
    pub seconds: f64,
    pub jobs: usize,
    pub memory_events_per_second: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub schema: u32,
    /// False while the run goes on, and for ever if it was interrupted.
    pub complete: bool,
    pub provenance: Provenance,
    pub effort: Effort,
    pub setting: Setting,
    pub scenes: Vec<SceneInfo>,
    pub cells: Vec<Cell>,
    /// The locks that were named: for the page.
    #[serde(skip)]
    pub chosen: Vec<String>,
    /// What was seen of a run that was watched.
    #[serde(skip)]
    pub recording: Option<Recording>,
}

impl Report {
    /// The scenes that have cells by now.
    pub(super) fn begun(&self) -> impl Iterator<Item = &SceneInfo> {
        self.scenes.iter().filter(|scene| self.cells.iter().any(|cell| cell.is_of(scene)))
    }

    pub(super) fn cell(&self, scene: &SceneInfo, lock: &str, vcpus: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.is_of(scene) && cell.lock == lock && cell.vcpus == vcpus)
    }

    /// What `look` makes of the recording and of what it is of: the first cell, which then is the only one.
    pub(super) fn looked_at<R>(&self, look: &dyn Fn(&Recording, &Caption) -> R) -> Option<R> {
        let figures = self.cells.first().and_then(|cell| cell.figures.as_ref());
        let caption = Caption {
            context: "vCPU",
            lock: &self.setting.locks[0],
            machine: &self.scenes[0].machine,
            workload: &self.scenes[0].workload,
            cpus: self.scenes[0].cpus,
            seed: self.setting.seeds[0],
            ops_per_second: figures.map_or(0.0, |figures| figures.throughput.mean),
        };
        self.recording.as_ref().map(|recording| look(recording, &caption))
    }

    pub(super) fn failed(&self) -> bool {
        self.cells.iter().any(|cell| matches!(cell.state, State::Broken { .. } | State::Failed { .. }))
    }

    pub(super) fn memory_events(&self) -> u64 {
        self.cells.iter().filter_map(|cell| cell.figures.as_ref()).map(|figures| figures.memory_events).sum()
    }

    /// Sets every lock in relation to the first, where both were measured.
    pub(super) fn compare(&mut self) {
        let load = |cell: &Cell| (cell.machine.clone(), cell.workload.clone(), cell.vcpus);
        let score = |cell: &Cell| cell.figures.as_ref()?.score.clone();
        let firsts = self.cells.iter().filter(|cell| Some(&cell.lock) == self.setting.locks.first());
        let scores: BTreeMap<_, _> = firsts.map(|cell| (load(cell), score(cell))).collect();
        for cell in &mut self.cells {
            let inverted = self.scenes.iter().any(|scene| scene.lower_is_better && cell.is_of(scene));
            let first = scores.get(&load(cell)).and_then(Option::as_ref);
            let Some(figures) = &mut cell.figures else { continue };
            figures.speed_up = None;
            if let Some((own, first)) = figures.score.as_ref().zip(first) {
                let sides = (&own.values[..], &first.values[..]);
                figures.speed_up = Ratio::of(&[if inverted { (sides.1, sides.0) } else { sides }]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::tests as testing;

    #[test]
    fn locks_are_set_in_relation_to_the_first() {
        let mut report = testing::report(&["byte", "ticket"], &[2]);
        report.compare();
        let ratio = |lock: &str| {
            let cell = report.cell(&report.scenes[0], lock, 2).expect("a cell");
            cell.figures.as_ref().and_then(|figures| figures.speed_up).expect("compared").ratio
        };
        assert!((ratio("byte") - 1.0).abs() < 1e-12 && (ratio("ticket") - 2.0).abs() < 1e-12);
        report.scenes[0].lower_is_better = true;
        report.compare();
        let cell = report.cell(&report.scenes[0], "ticket", 2).expect("a cell");
        let ratio = cell.figures.as_ref().and_then(|figures| figures.speed_up).expect("compared").ratio;
        assert!((ratio - 0.5).abs() < 1e-12, "twice the time is half the speed");
    }
}
