//! Everything that can make a number worth less than it looks. Each text ends with what to do about it.
use super::report::{Cell, Report, State, Warning};
use core::fmt;
use lab_kit::stats::Summary;
use lab_kit::units::percent;

/// A share of the CPUs that cannot be background noise any more.
const BUSY: f64 = 0.05;
/// The hypervisor always takes a little.
const STOLEN: f64 = 0.01;
/// Ten waits beyond the 99.9th percentile.
const ENOUGH_SAMPLES: u64 = 10_000;
/// A wait that was cut off and is this part of the window says that the window was too short.
const CUT_OFF: f64 = 0.5;

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::DebugBuild => {
                "this is a debug build, its figures mean nothing; build with 'cargo build --release'".to_owned()
            }
            Self::OneCpu => {
                "only one CPU may be used, so no two threads ever contend; give the run two or more".to_owned()
            }
            Self::CpuQuota { cpus, quota } => format!(
                "a quota allows the CPU time of {quota} of {cpus} CPUs, so threads are throttled; raise the quota, \
                 or keep to --cpus with {quota} of them"
            ),
            Self::BusyBefore { share, runnable } => format!(
                "other programs used {} of the CPUs before the start ({runnable} ready to run); stop them and run again",
                percent(*share)
            ),
            Self::BusyDuring { share } => format!(
                "other programs took up to {} of the CPUs during a group; stop them and run again, or use more --rounds",
                percent(*share)
            ),
            Self::Stolen { share } => format!(
                "the hypervisor withheld up to {} of the CPU time (steal) during a group; run on a less loaded host, or \
                 compare only within this run",
                percent(*share)
            ),
            Self::Governor { governor } => format!(
                "the frequency governor is '{governor}', so clock rates follow the load; set it to 'performance'"
            ),
            Self::UnstableClock => {
                "the time stamp counter changes its rate on this CPU; trust throughput, and latency only in its order \
                 of magnitude".to_owned()
            }
            Self::Outliers { cells, of, example } => format!(
                "{cells} of {of} cells have rounds far from their median, for example {example}; use more --rounds or a \
                 longer --time on a quieter machine"
            ),
            Self::FewSamples { cells, example, samples } => format!(
                "p99.9 of {cells} cells rests on fewer than {ENOUGH_SAMPLES} waits, for example {samples} in {example}; use \
                 a longer --latency-time"
            ),
            Self::CutOff { cells, example } => format!(
                "in {cells} cells a wait of at least half the window was cut off by its end, for example {example}; use a \
                 longer --latency-time to see how long it gets"
            ),
            Self::NoCpuLimit { reason } => {
                format!("no cell runs under a CPU limit: {reason}; run it where cgroups may be created")
            }
            Self::Failed { what, reason } => format!("{what} failed: {reason}; run it alone to see more"),
        };
        f.write_str(&text)
    }
}

/// What may be seen before anything is measured.
pub(crate) struct Beforehand {
    pub debug_build: bool,
    pub cpus: usize,
    pub quota: usize,
    pub busy: f64,
    pub runnable: usize,
    pub governor: Option<String>,
    pub stable_clock: bool,
}

/// Warnings about the machine and the build.
pub(crate) fn before(seen: &Beforehand) -> Vec<Warning> {
    let governor = seen.governor.clone().filter(|governor| governor != "performance");
    [
        seen.debug_build.then_some(Warning::DebugBuild),
        (seen.cpus < 2).then_some(Warning::OneCpu),
        (seen.quota < seen.cpus).then_some(Warning::CpuQuota { cpus: seen.cpus, quota: seen.quota }),
        (seen.busy > BUSY).then_some(Warning::BusyBefore { share: seen.busy, runnable: seen.runnable }),
        governor.map(|governor| Warning::Governor { governor }),
        (!seen.stable_clock).then_some(Warning::UnstableClock),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Warnings about what else ran, from the worst shares of any group.
pub(crate) fn during(foreign: f64, stolen: f64) -> Vec<Warning> {
    let busy = (foreign > BUSY).then_some(Warning::BusyDuring { share: foreign });
    let stolen = (stolen > STOLEN).then_some(Warning::Stolen { share: stolen });
    busy.into_iter().chain(stolen).collect()
}

/// How many waits the percentiles of a cell rest on; or those of its sides, since rare writes have few.
fn samples(cell: &Cell) -> Vec<(String, u64)> {
    let sides = cell.sides().map(|(what, side)| (format!("{what} of {}", cell.name()), &side.latency));
    let whole = cell.mix.is_none().then(|| (cell.name(), &cell.latency));
    let all = whole.into_iter().chain(sides);
    all.filter_map(|(name, latency)| Some((name, latency.as_ref()?.samples))).collect()
}

/// Warnings about the figures themselves: of each kind one, with the first that gives it.
pub(crate) fn about_cells(report: &Report) -> Vec<Warning> {
    let sound = || report.cells.iter().filter(|cell| cell.state == State::Measured);
    let limit = report.setting.latency_time_ms as f64 * 1e6 * CUT_OFF;
    let outlier = |cell: &&Cell| cell.throughput.as_ref().is_some_and(Summary::has_outlier);
    let cut = |cell: &&Cell| cell.latency.as_ref().is_some_and(|waits| waits.unfinished_ns as f64 > limit);
    let outliers: Vec<String> = sound().filter(outlier).map(Cell::name).collect();
    let cut: Vec<String> = sound().filter(cut).map(Cell::name).collect();
    let few = sound().flat_map(samples).filter(|(_, samples)| *samples < ENOUGH_SAMPLES);
    let few: Vec<(String, u64)> = few.collect();
    let (of, rare) = (report.cells.len(), few.first().cloned());
    [
        outliers.first().cloned().map(|example| Warning::Outliers { cells: outliers.len(), of, example }),
        rare.map(|(example, samples)| Warning::FewSamples { cells: few.len(), example, samples }),
        cut.first().cloned().map(|example| Warning::CutOff { cells: cut.len(), example }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Beforehand {
        Beforehand {
            debug_build: false,
            cpus: 2,
            quota: 2,
            busy: 0.0,
            runnable: 0,
            governor: Some("performance".into()),
            stable_clock: true,
        }
    }

    #[test]
    fn a_quiet_machine_gives_no_warning() {
        assert_eq!(before(&quiet()), []);
        assert_eq!(during(0.01, 0.001), []);
    }

    #[test]
    fn each_disturbance_gives_its_own() {
        let seen = Beforehand {
            debug_build: true,
            cpus: 1,
            quota: 0,
            busy: 0.4,
            runnable: 3,
            governor: Some("powersave".into()),
            stable_clock: false,
        };
        assert_eq!(before(&seen).len(), 6);
        assert_eq!(during(0.2, 0.05), [Warning::BusyDuring { share: 0.2 }, Warning::Stolen { share: 0.05 }]);
    }

    #[test]
    fn every_text_is_one_line_that_says_what_to_do() {
        let all = [
            before(&Beforehand {
                debug_build: true,
                cpus: 1,
                quota: 0,
                busy: 1.0,
                stable_clock: false,
                ..quiet()
            }),
            during(1.0, 1.0),
            vec![
                Warning::Governor { governor: "powersave".into() },
                Warning::Outliers { cells: 1, of: 2, example: "a".into() },
                Warning::FewSamples { cells: 1, example: "a".into(), samples: 3 },
                Warning::CutOff { cells: 1, example: "a".into() },
            ],
        ];
        for text in all.iter().flatten().map(ToString::to_string) {
            assert!(text.contains(';') && !text.contains('\n') && !text.contains("  "), "{text}");
        }
    }

    #[test]
    fn few_waits_of_a_side_are_told() {
        let texts: Vec<String> =
            about_cells(&crate::bench::tests::full_rw()).iter().map(ToString::to_string).collect();
        assert!(
            texts.iter().any(|text| text.contains("reads of a with 1 thread, empty, 99 % reads")),
            "{texts:?}"
        );
    }
}
