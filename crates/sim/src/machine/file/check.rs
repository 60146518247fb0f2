//! What fields must be beside each other, after each one was found to be in its range.
use super::super::{Machine, SchedulerKind, Topology};
use crate::datafile::time_text;
use crate::time::Time;

/// Most hardware threads: a lock word has room for so many.
pub(super) const MOST_CPUS: usize = 16_383;

/// The field that does not go with the others, and why.
pub(super) fn first_conflict(machine: &Machine) -> Option<(&'static str, String)> {
    let topology = &machine.topology;
    let (cores, cpus) = (topology.core_count(), topology.cpu_count());
    if cores > Topology::MOST_CORES {
        let why = format!("{cores} cores (sockets x groups x cores) are more than {}", Topology::MOST_CORES);
        return Some(("topology.cores", why));
    }
    if cpus > MOST_CPUS {
        let why = format!("{cpus} CPUs (cores x threads) are more than {MOST_CPUS}");
        return Some(("topology.threads", why));
    }
    let (rows, sockets) = (topology.hops.len(), usize::from(topology.sockets));
    if rows != sockets {
        let why = format!("has {rows} rows, must have one for each of the {sockets} sockets");
        return Some(("topology.hops", why));
    }
    let host = &machine.host;
    if host.tick_period != 0 && host.tick_cost * 2 >= host.tick_period {
        let why = format!("must be less than half of host.tick-period, {}", time_text(host.tick_period));
        return Some(("host.tick-cost", why));
    }
    if let SchedulerKind::FairShare(fair) = &host.scheduler
        && let Some(quota) = &fair.quota
    {
        let most = quota.period * cpus as Time;
        if quota.budget > most {
            let why = format!("must be no more than {}, what {cpus} CPUs have in a period", time_text(most));
            return Some(("host.fair-share.quota.budget", why));
        }
    }
    None
}
