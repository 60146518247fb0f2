//! What a simulation's files say about all of it.
use crate::sim::report::Report;
use crate::sim::table::simulated;
use lab_kit::experiment::About;
use lab_kit::units::{plural, round_ns};
use stanchion_cells::cell::Setting;

/// What figures tell, and what they do not.
const MEANING: &str = "those of a simulated machine, not of the one named here, which only ran the simulation. \
The same seed gives the same run on every host. Intervals tell how much the seed matters, not how true the machine is.";

pub(super) fn about(report: &Report) -> About<'_> {
    let Report { complete, provenance, setting, .. } = report;
    let Setting { time_ns, warm_up_ns, limit, sets, seeds, .. } = setting;
    let facts = vec![
        ("schema", report.schema.to_string()),
        ("virtual time", format!("{time_ns} ns after {warm_up_ns} ns, limit {limit} events")),
        ("fields set", sets.join(" ")),
        ("simulated", simulated(report)),
        ("figures", MEANING.to_owned()),
    ];
    let (time, number) = (round_ns(*time_ns as f64), plural(seeds.len(), "seed"));
    let set_up = format!("{time} of virtual time, {number} from {}", seeds[0]);
    About { command: "sim", complete: *complete, provenance, set_up, facts, doubts: Vec::new() }
}
