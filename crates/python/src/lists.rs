//! What there is: machines, workloads and locks as tables.
use crate::refused;
use crate::table::Table;
use pyo3::prelude::*;
use stanchion_cells::column::Column;
use stanchion_family::catalogue::{Facts, MUTEXES, RWLOCKS};
use stanchion_sim::machine::{self, Machine, SchedulerKind};
use stanchion_sim::workload::{self, Takes, Workload};

/// The machines that come with the simulator, one a row.
#[pyfunction]
pub(crate) fn machines() -> PyResult<Table> {
    let files = machine::library().iter().map(|(name, _)| machine::load(name));
    let rows: Vec<Machine> =
        files.map(|file| file.map(|file| file.machine)).collect::<Result<_, _>>().map_err(refused)?;
    let columns = [
        Column::new("name", |machine: &Machine| machine.name.clone()),
        Column::new("about", |machine: &Machine| machine.about.clone()),
        Column::new("cpus", |machine: &Machine| machine.topology.cpu_count()),
        Column::new("sockets", |machine: &Machine| u64::from(machine.topology.sockets)),
        Column::new("cores", |machine: &Machine| machine.topology.core_count()),
        Column::new("scheduler", |machine: &Machine| match machine.host.scheduler {
            SchedulerKind::Pinned => "pinned",
            SchedulerKind::FairShare(_) => "fair-share",
            SchedulerKind::RoundRobin(_) => "round-robin",
        }),
    ];
    Ok(Table::of(&columns, &rows))
}

/// The workloads that come with the simulator, one a row.
#[pyfunction]
pub(crate) fn workloads() -> PyResult<Table> {
    let files = workload::library().iter().map(|(name, _)| workload::load(name));
    let rows: Vec<Workload> =
        files.map(|file| file.map(|file| file.workload)).collect::<Result<_, _>>().map_err(refused)?;
    let columns = [
        Column::new("name", |workload: &Workload| workload.name.clone()),
        Column::new("about", |workload: &Workload| workload.about.clone()),
        Column::new("behaviour", |workload: &Workload| workload.behaviour.name()),
        Column::new("unit", |workload: &Workload| workload.unit.clone()),
        Column::new("lower_is_better", |workload: &Workload| workload.job.is_some()),
        Column::new("takes", |workload: &Workload| match workload.takes() {
            Takes::Mutexes => "mutexes",
            Takes::RwLocks => "reader-writer locks",
            Takes::Either => "either",
        }),
    ];
    Ok(Table::of(&columns, &rows))
}

/// The locks that can be simulated, one a row, the default one first.
#[pyfunction]
pub(crate) fn locks() -> Table {
    type Row = (&'static str, &'static Facts);
    let rows: Vec<Row> = MUTEXES
        .iter()
        .map(|facts| ("mutex", facts))
        .chain(RWLOCKS.iter().map(|facts| ("reader-writer lock", facts)))
        .filter(|(_, facts)| stanchion_sim::names_locks(facts.name))
        .collect();
    let columns = [
        Column::new("name", |(_, facts): &Row| facts.name),
        Column::new("kind", |(kind, _): &Row| *kind),
        Column::new("about", |(_, facts): &Row| facts.about),
        Column::new("suits", |(_, facts): &Row| facts.suits),
        Column::new("variant_of", |(_, facts): &Row| facts.variant_of),
        Column::new("bytes", |(_, facts): &Row| facts.bytes),
    ];
    Table::of(&columns, &rows)
}
