//! What there is: machines, workloads and locks as tables.
use crate::refused;
use crate::table::Table;
use pyo3::prelude::*;
use stanchion_cells::columns::{Column, Kind, Value};
use stanchion_family::catalogue::{Facts, MUTEXES, RWLOCKS};
use stanchion_sim::machine::{self, Machine, SchedulerKind};
use stanchion_sim::workload::{self, Takes, Workload};

/// The machines that come with the simulator, one a row.
#[pyfunction]
pub(crate) fn machines() -> PyResult<Table> {
    use Kind::{Text, Whole};
    let files = machine::library().iter().map(|(name, _)| machine::load(name));
    let rows: Vec<Machine> =
        files.map(|file| file.map(|file| file.machine)).collect::<Result<_, _>>().map_err(refused)?;
    let columns = [
        Column::new("name", Text, |machine: &Machine| machine.name.as_str().into()),
        Column::new("about", Text, |machine: &Machine| machine.about.as_str().into()),
        Column::new("cpus", Whole, |machine: &Machine| machine.topology.cpu_count().into()),
        Column::new("sockets", Whole, |machine: &Machine| u64::from(machine.topology.sockets).into()),
        Column::new("cores", Whole, |machine: &Machine| machine.topology.core_count().into()),
        Column::new("scheduler", Text, |machine: &Machine| match machine.host.scheduler {
            SchedulerKind::Pinned => "pinned".into(),
            SchedulerKind::FairShare(_) => "fair-share".into(),
            SchedulerKind::RoundRobin(_) => "round-robin".into(),
        }),
    ];
    Ok(Table::of(&columns, &rows))
}

/// The workloads that come with the simulator, one a row.
#[pyfunction]
pub(crate) fn workloads() -> PyResult<Table> {
    use Kind::{Text, Truth};
    let files = workload::library().iter().map(|(name, _)| workload::load(name));
    let rows: Vec<Workload> =
        files.map(|file| file.map(|file| file.workload)).collect::<Result<_, _>>().map_err(refused)?;
    let columns = [
        Column::new("name", Text, |workload: &Workload| workload.name.as_str().into()),
        Column::new("about", Text, |workload: &Workload| workload.about.as_str().into()),
        Column::new("behaviour", Text, |workload: &Workload| workload.behaviour.name().into()),
        Column::new("unit", Text, |workload: &Workload| workload.unit.as_str().into()),
        Column::new("lower_is_better", Truth, |workload: &Workload| workload.job.is_some().into()),
        Column::new("takes", Text, |workload: &Workload| match workload.takes() {
            Takes::Mutexes => "mutexes".into(),
            Takes::RwLocks => "reader-writer locks".into(),
            Takes::Either => "either".into(),
        }),
    ];
    Ok(Table::of(&columns, &rows))
}

/// The locks that can be simulated, one a row, the default one first.
#[pyfunction]
pub(crate) fn locks() -> Table {
    use Kind::{Text, Whole};
    type Row = (&'static str, &'static Facts);
    let rows: Vec<Row> = MUTEXES
        .iter()
        .map(|facts| ("mutex", facts))
        .chain(RWLOCKS.iter().map(|facts| ("reader-writer lock", facts)))
        .filter(|(_, facts)| stanchion_sim::names_locks(facts.name))
        .collect();
    let columns = [
        Column::new("name", Text, |(_, facts): &Row| facts.name.into()),
        Column::new("kind", Text, |(kind, _): &Row| (*kind).into()),
        Column::new("about", Text, |(_, facts): &Row| facts.about.into()),
        Column::new("suits", Text, |(_, facts): &Row| facts.suits.into()),
        Column::new("variant_of", Text, |(_, facts): &Row| Value::of(facts.variant_of)),
        Column::new("bytes", Whole, |(_, facts): &Row| facts.bytes.into()),
    ];
    Table::of(&columns, &rows)
}
