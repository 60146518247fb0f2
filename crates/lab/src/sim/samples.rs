//! Simulated cells as the ablation compares them.
use super::report::Report;
use super::table::SPENT;
use crate::ablate::Sample;
use stanchion_cells::cell::{Cell, SceneInfo, State};

pub(super) fn of(report: &Report) -> Vec<Sample> {
    let cells = report.scenes.iter().flat_map(|scene| report.cells.iter().map(move |cell| (scene, cell)));
    cells.filter(|(scene, cell)| cell.is_of(scene)).map(|(scene, cell)| sample(scene, cell)).collect()
}

fn sample(scene: &SceneInfo, cell: &Cell) -> Sample {
    let figures = cell.figures.as_ref().filter(|_| cell.state == State::Measured);
    let waits = figures.map(|figures| figures.latency);
    let score = figures.and_then(|figures| figures.score.as_ref());
    let rate = |&score: &f64| if scene.lower_is_better { 1.0 / score } else { score };
    // Of the time of vCPUs, what they had a CPU in.
    let idle = ["stolen", "halted", "asleep"];
    let busy = SPENT.iter().filter(|(name, _)| !idle.contains(name));
    Sample {
        lock: cell.lock.clone(),
        load: format!("{} {}", scene.machine, scene.workload),
        threads: cell.vcpus,
        rates: score.map(|score| score.values.iter().map(rate).collect()).unwrap_or_default(),
        worst_ns: waits.filter(|waits| waits.samples > 0).map(|waits| waits.max_ns as f64),
        cpu: figures.filter(|figures| figures.acquisitions > 0).map(|figures| {
            let share: f64 = busy.map(|(_, causes)| figures.share_of(causes)).sum();
            share / figures.acquisitions as f64
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests as testing;

    #[test]
    fn a_cell_becomes_rates_by_seed_the_longest_wait_and_cpu_time() {
        let mut report = testing::report(&["byte", "ticket"], &[4]);
        let samples = of(&report);
        assert_eq!(
            (samples.len(), samples[1].lock.as_str(), samples[1].load.as_str()),
            (2, "ticket", "two medium")
        );
        // Of a histogram of two digits.
        let worst = samples[1].worst_ns.expect("waits");
        assert!(samples[1].rates.len() == 2 && (9_900.0..=10_100.0).contains(&worst), "{samples:?}");
        let cpu = |index: usize| samples[index].cpu.expect("acquisitions");
        assert!((cpu(0) / cpu(1) - 2.0).abs() < 1e-9, "as busy, and half as many acquisitions");
        report.cells[0].state = State::Broken { seed: 42, message: "two holders".into() };
        assert!(of(&report)[0].rates.is_empty());
    }
}
