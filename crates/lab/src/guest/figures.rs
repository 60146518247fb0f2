//! The figures of a run, each a column: of files, of tables, and over several runs.
use super::clock::Given;
use super::record::{Vcpu, Wake};
use super::report::{Report, Run};
use super::workload::Workload;
use lab_kit::column::Column;
use lab_kit::stats::Summary;
use lab_kit::units::{format_ns, three_figures};

/// In nanoseconds.
const S: f64 = 1e9;

/// All that files have, in their order, which is that of tables.
pub(crate) fn figures() -> [Column<Run>; 12] {
    [
        // From the start of the work to its end. It has one only if it was finished.
        figure("elapsed_s", "elapsed", three_figures, |run| {
            Some(run.told.work.as_ref()?.elapsed_ns as f64 / S)
        }),
        figure("mops", "M/s", three_figures, |run| {
            let work = run.told.work.as_ref().filter(|work| work.elapsed_ns > 0)?;
            Some(work.operations as f64 / work.elapsed_ns as f64 * 1e3)
        }),
        // Torture does not measure it.
        figure("user_s", "user", three_figures, |run| {
            sum(run, |vcpu| vcpu.work_ns).filter(|&ns| ns > 0.0).map(|ns| ns / S)
        }),
        figure("system_s", "system", three_figures, |run| sum(run, |vcpu| vcpu.slow_ns).map(|ns| ns / S)),
        figure("halts", "halts", count, |run| sum(run, |vcpu| vcpu.halts)),
        figure("kicks_sent", "kicks", count, |run| sum(run, |vcpu| vcpu.kicks_sent)),
        figure("wake_p50_ns", "wake", format_ns, |run| wake(run, |wake| wake.p50_ns)),
        figure("wake_p99_ns", "", format_ns, |run| wake(run, |wake| wake.p99_ns)),
        figure("wait_p99_ns", "", format_ns, |run| Some(run.told.work.as_ref()?.wait_p99_ns? as f64)),
        // Of the host, while the guest was at work.
        figure("cpu_s", "CPU", three_figures, |run| given(run, |given| given.cpu_ns)),
        figure("stolen_s", "", three_figures, |run| given(run, |given| given.stolen_ns)),
        figure("fairness", "fair", |value| format!("{value:.2}"), fairness),
    ]
}

/// Of a run that went well.
fn figure(
    name: &str,
    title: &'static str,
    form: fn(f64) -> String,
    of: fn(&Run) -> Option<f64>,
) -> Column<Run> {
    Column::new(name, move |run: &Run| run.sound().and_then(of)).titled(title).shown(form)
}

/// The sum over the vCPUs of a run that has told of them. No number is too large for it.
fn sum(run: &Run, of: fn(&Vcpu) -> u64) -> Option<f64> {
    let vcpus = &run.told.vcpus;
    (!vcpus.is_empty()).then(|| vcpus.iter().map(|vcpu| of(vcpu) as f64).sum())
}

/// From a kick to the halted vCPU running again; none if no kick woke any.
fn wake(run: &Run, of: fn(&Wake) -> u64) -> Option<f64> {
    run.told.wake.as_ref().filter(|wake| wake.count > 0).map(|wake| of(wake) as f64)
}

/// The sum in seconds over the threads of the vCPUs, if the host told of them.
pub(crate) fn given(run: &Run, of: fn(&Given) -> u64) -> Option<f64> {
    let given = &run.cost.given;
    (!given.is_empty()).then(|| given.iter().map(of).sum::<u64>() as f64 / S)
}

pub(crate) fn vcpu_cpu_s(run: &Run, vcpu: u16) -> Option<f64> {
    run.cost.given.get(usize::from(vcpu)).map(|given| given.cpu_ns as f64 / S)
}

/// Acquisitions of the vCPU with the fewest, over those of the one with the most.
fn fairness(run: &Run) -> Option<f64> {
    let told = run.told.work.as_ref()?.fairness.map(|fairness| (fairness.min as f64, fairness.max as f64));
    let (least, most) = told.filter(|&(_, most)| most > 0.0).or_else(|| {
        let counts = run.told.vcpus.iter().map(|vcpu| vcpu.acquisitions as f64);
        Some((counts.clone().reduce(f64::min)?, counts.reduce(f64::max)?))
    })?;
    (most > 0.0).then(|| least / most)
}

/// Whole numbers, the large ones in thousands or millions.
pub(crate) fn count(value: f64) -> String {
    match value {
        value if value < 10_000.0 => format!("{value:.0}"),
        value if value < 10_000_000.0 => format!("{}k", three_figures(value / 1e3)),
        value => format!("{}M", three_figures(value / 1e6)),
    }
}

/// Of one thing, over all sound runs under a lock.
pub(crate) fn summary(report: &Report, lock: &str, of: impl Fn(&Run) -> Option<f64>) -> Option<Summary> {
    let values: Vec<f64> = report.of(lock).filter_map(Run::sound).filter_map(of).collect();
    (!values.is_empty()).then(|| Summary::of(values))
}

/// Those that tables have. The first is what the workload is about: how long it took, or how much was done.
pub(crate) fn shown(workload: Workload) -> Vec<Column<Run>> {
    let other = if workload.lasts() { "elapsed_s" } else { "mops" };
    figures().into_iter().filter(|figure| !figure.title.is_empty() && figure.name != other).collect()
}
