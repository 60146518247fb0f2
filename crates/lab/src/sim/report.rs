//! What came of a simulation, as the files tell it.
use super::timeline::Caption;
use lab_kit::provenance::Provenance;
use serde::{Deserialize, Serialize};
use stanchion_cells::cell::{Cell, SceneInfo, Setting, State};
use stanchion_cells::stats::Ratio;
use stanchion_sim::Recording;

/// Raised whenever a reader of older files would misunderstand newer ones.
pub(super) const SCHEMA: u32 = 1;

/// What the simulation itself took; the only part besides the provenance that differs between equal runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Effort {
    pub seconds: f64,
    pub jobs: usize,
    pub memory_events_per_second: f64,
}

/// The whole of it.
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
    /// What was seen of a run that was watched.
    #[serde(skip, default = "nothing")]
    pub recording: Recording,
}

/// What is seen of a run that is not watched.
pub(super) fn nothing() -> Recording {
    let (ran, spells, handovers, kicks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    Recording { from: 0, to: 0, contexts: 0, ran, spells, handovers, kicks }
}

impl Report {
    pub(super) fn cell(&self, scene: &SceneInfo, lock: &str, vcpus: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.is_of(scene) && cell.lock == lock && cell.vcpus == vcpus)
    }

    /// What the recording is of: the first cell, which then is the only one.
    pub(super) fn caption(&self) -> Caption<'_> {
        let figures = self.cells.first().and_then(|cell| cell.figures.as_ref());
        Caption {
            context: "vCPU",
            lock: &self.setting.locks[0],
            machine: &self.scenes[0].machine,
            workload: &self.scenes[0].workload,
            cpus: self.scenes[0].cpus,
            seed: self.setting.seeds[0],
            ops_per_second: figures.map_or(0.0, |figures| figures.throughput.mean),
        }
    }

    /// Whether a lock broke or a run failed.
    pub(super) fn failed(&self) -> bool {
        self.cells.iter().any(|cell| matches!(cell.state, State::Broken { .. } | State::Failed { .. }))
    }

    /// Memory events of all cells.
    pub(super) fn memory_events(&self) -> u64 {
        self.cells.iter().filter_map(|cell| cell.figures.as_ref()).map(|figures| figures.memory_events).sum()
    }

    /// Sets every lock in relation to the first, where both were measured.
    pub(super) fn compare(&mut self) {
        let score = |cell: &Cell| cell.figures.as_ref()?.score.clone();
        let is_first = |cell: &Cell| self.setting.locks.first() == Some(&cell.lock);
        let firsts: Vec<usize> = (0..self.cells.len()).filter(|&at| is_first(&self.cells[at])).collect();
        for index in 0..self.cells.len() {
            let cell = &self.cells[index];
            let inverted = self.scenes.iter().any(|scene| scene.lower_is_better && cell.is_of(scene));
            let is_same = |first: &&Cell| {
                (&first.machine, &first.workload, first.vcpus) == (&cell.machine, &cell.workload, cell.vcpus)
            };
            let first = firsts.iter().map(|&at| &self.cells[at]).find(is_same);
            let ratio = match (score(cell), first.and_then(score)) {
                (Some(own), Some(first)) if inverted => Ratio::of(&first, &own),
                (Some(own), Some(first)) => Ratio::of(&own, &first),
                _ => None,
            };
            if let Some(figures) = &mut self.cells[index].figures {
                figures.speed_up = ratio;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::testing;

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
