//! What came of a simulation, as the files tell it.
use lab_kit::provenance::Provenance;
use serde::{Deserialize, Serialize};
use stanchion_cells::cell::{Cell, SceneInfo, Setting, State};
use stanchion_cells::stats::{Estimate, Ratio};

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    pub schema: u32,
    /// False while the run goes on, and for ever if it was interrupted.
    pub complete: bool,
    pub provenance: Provenance,
    pub effort: Effort,
    pub setting: Setting,
    pub scenes: Vec<SceneInfo>,
    pub cells: Vec<Cell>,
}

impl Report {
    pub(super) fn cell(&self, scene: &SceneInfo, lock: &str, vcpus: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.is_of(scene) && cell.lock == lock && cell.vcpus == vcpus)
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
        let Some(first) = self.setting.locks.first() else { return };
        let scores: Vec<(String, String, usize, Estimate)> = self
            .cells
            .iter()
            .filter(|cell| cell.lock == *first)
            .filter_map(|cell| {
                let figures = cell.figures.as_ref()?;
                Some((cell.machine.clone(), cell.workload.clone(), cell.vcpus, figures.score.clone()?))
            })
            .collect();
        let less: Vec<SceneInfo> =
            self.scenes.iter().filter(|scene| scene.lower_is_better).cloned().collect();
        for cell in &mut self.cells {
            let inverted = less.iter().any(|scene| cell.is_of(scene));
            let same = |(machine, workload, vcpus, _): &&(String, String, usize, Estimate)| {
                (machine, workload, *vcpus) == (&cell.machine, &cell.workload, cell.vcpus)
            };
            let base = scores.iter().find(same).map(|(.., score)| score);
            let Some(figures) = &mut cell.figures else { continue };
            figures.speed_up = match (&figures.score, base) {
                (Some(score), Some(base)) if inverted => Ratio::of(base, score),
                (Some(score), Some(base)) => Ratio::of(score, base),
                _ => None,
            };
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
