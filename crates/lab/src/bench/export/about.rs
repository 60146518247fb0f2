//! What stands above the results in every file of them.
use crate::bench::cell::Calibration;
use crate::bench::report::Report;
use lab_kit::experiment::About;
use lab_kit::units::plural;

pub(super) fn about(report: &Report) -> About<'_> {
    let Report { schema, complete, provenance, setting, warnings, .. } = report;
    let (used, cpus, model) = (setting.cpus.len(), provenance.cpus, &provenance.cpu_model);
    let rounds = format!(
        "{} of {} ms for throughput, {} of {} ms for latency, interleaved across locks; drain limit {} ms",
        setting.rounds, setting.time_ms, setting.latency_rounds, setting.latency_time_ms, setting.drain_ms
    );
    let Calibration { ns_per_step, ticks_per_ns, clock_read_ns, clock_step_ns } = report.calibration;
    let calibration = format!(
        "{ns_per_step:.4} ns a step of work, {ticks_per_ns:.4} ticks a nanosecond, \
         {clock_read_ns:.1} ns a clock reading, {clock_step_ns:.1} ns a step of the clock"
    );
    let facts = vec![
        ("schema", schema.to_string()),
        ("rounds", rounds),
        ("CPUs used", setting.cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
        ("calibration", calibration),
    ];
    let set_up = format!("{} on {used} of {cpus} CPUs ({model})", plural(report.locks.len(), "lock"));
    let doubts = warnings.iter().map(ToString::to_string).collect();
    About { command: "bench", complete: *complete, provenance, set_up, facts, doubts }
}
