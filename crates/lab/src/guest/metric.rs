//! The figures of a run, by name, and what several runs say together.
use super::report::{Report, Run};
use super::transcript::State;
use lab_kit::stats::Summary;

/// Nanoseconds in a second.
const S: f64 = 1e9;

/// One figure.
pub(crate) struct Metric {
    /// For columns of files: the name with its unit.
    pub name: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    of: fn(&Run) -> Option<f64>,
}

/// The sum over the vCPUs of a run that has told of them. No number is too large for it.
fn sum(run: &Run, of: impl Fn(&super::record::Vcpu) -> u64) -> Option<f64> {
    (!run.vcpus.is_empty()).then(|| run.vcpus.iter().map(|vcpu| of(vcpu) as f64).sum())
}

/// How long the work took. It has an end only if it was finished.
pub(crate) const ELAPSED: Metric = Metric {
    name: "elapsed_s",
    about: "from the start of the work to its end",
    of: |run| run.work.as_ref().map(|work| work.elapsed_ns as f64 / S),
};
/// Millions of sections a second.
pub(crate) const RATE: Metric = Metric {
    name: "mops",
    about: "million acquisitions a second",
    of: |run| {
        let work = run.work.as_ref().filter(|work| work.elapsed_ns > 0)?;
        Some(work.operations as f64 / work.elapsed_ns as f64 * 1e3)
    },
};
pub(crate) const USER: Metric = Metric {
    name: "user_s",
    about: "time of all vCPUs in the workload itself",
    // Torture does not measure it.
    of: |run| sum(run, |vcpu| vcpu.work_ns).filter(|&ns| ns > 0.0).map(|ns| ns / S),
};
pub(crate) const SYSTEM: Metric = Metric {
    name: "system_s",
    about: "time of all vCPUs in slow paths of locks",
    of: |run| sum(run, |vcpu| vcpu.slow_ns).map(|ns| ns / S),
};
pub(crate) const HALTS: Metric =
    Metric { name: "halts", about: "how often vCPUs halted", of: |run| sum(run, |vcpu| vcpu.halts) };
pub(crate) const KICKS: Metric = Metric {
    name: "kicks_sent",
    about: "interrupts that were to wake a vCPU",
    of: |run| sum(run, |vcpu| vcpu.kicks_sent),
};
pub(crate) const WAKE_P50: Metric = Metric {
    name: "wake_p50_ns",
    about: "from a kick to the halted vCPU running again, median",
    of: |run| run.wake.filter(|wake| wake.count > 0).map(|wake| wake.p50_ns as f64),
};
pub(crate) const WAKE_P99: Metric = Metric {
    name: "wake_p99_ns",
    about: "the same, 99th percentile",
    of: |run| run.wake.filter(|wake| wake.count > 0).map(|wake| wake.p99_ns as f64),
};
pub(crate) const WAIT_P99: Metric = Metric {
    name: "wait_p99_ns",
    about: "wait for the lock, 99th percentile",
    of: |run| run.work.as_ref()?.wait_p99_ns.map(|ns| ns as f64),
};
pub(crate) const CPU: Metric = Metric {
    name: "cpu_s",
    about: "host CPU seconds of the vCPU threads while the guest was at work",
    of: |run| {
        (!run.given.is_empty()).then(|| run.given.iter().map(|given| given.cpu_ns).sum::<u64>() as f64 / S)
    },
};
pub(crate) const STOLEN: Metric = Metric {
    name: "stolen_s",
    about: "time in which vCPU threads wanted to run and did not",
    of: |run| {
        (!run.given.is_empty()).then(|| run.given.iter().map(|given| given.stolen_ns).sum::<u64>() as f64 / S)
    },
};
pub(crate) const FAIRNESS: Metric = Metric {
    name: "fairness",
    about: "acquisitions of the vCPU with the fewest, over those of the one with the most",
    of: |run| {
        let fairness = run.work.as_ref()?.fairness.filter(|fairness| fairness.max > 0.0);
        let told = fairness.map(|fairness| fairness.min / fairness.max);
        told.or_else(|| {
            let counts = run.vcpus.iter().map(|vcpu| vcpu.acquisitions);
            let (least, most) = (counts.clone().min()?, counts.max().filter(|&most| most > 0)?);
            Some(least as f64 / most as f64)
        })
    },
};

/// All that files have.
pub(crate) const ALL: [&Metric; 12] = [
    &ELAPSED, &RATE, &USER, &SYSTEM, &HALTS, &KICKS, &WAKE_P50, &WAKE_P99, &WAIT_P99, &CPU, &STOLEN,
    &FAIRNESS,
];

impl Metric {
    /// The figure of one run; none if there is none, as it was not told or the run went wrong.
    pub(crate) fn of(&self, run: &Run) -> Option<f64> {
        if run.failed() { None } else { (self.of)(run) }
    }

    /// Over all sound runs under a lock.
    pub(crate) fn summary(&self, report: &Report, lock: &str) -> Option<Summary> {
        let values: Vec<f64> = report.of(lock).filter_map(|run| self.of(run)).collect();
        (!values.is_empty()).then(|| Summary::of(values))
    }
}

/// Whether all runs under a lock came to their end.
pub(crate) fn all_finished(report: &Report, lock: &str) -> bool {
    report.of(lock).all(|run| run.state == State::Finished)
}
