//! The published tables, as data: which cells there are, and how each is simulated.
use crate::names::nearest;
use serde::Deserialize;
use stanchion_sim::machine::{self, Machine};
use stanchion_sim::workload::{self, Workload};
use std::sync::Arc;

/// Includes published files under their names.
macro_rules! published {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../published/", $name, ".toml")))),*]
    };
}

/// In the order of the output.
const FILES: &[(&str, &str)] = published! {
    "cna-locktorture"
    "cna-open1"
    "cna-baselines"
    "pvq-haswell-ex"
    "pvq-westmere-ex"
    "xen-pv"
    "xen-percpu"
    "powerpc"
};

/// What stands for a lock's name in the path of a cell.
const LOCK: &str = "LOCK";

/// How a table is simulated, as its file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Simulate {
    name: String,
    title: String,
    #[serde(default)]
    note: String,
    machine: String,
    #[serde(default)]
    set: Vec<String>,
    workload: Option<String>,
    unit: String,
    /// A simulated result is divided by this.
    #[serde(default = "one")]
    scale: f64,
    /// Path of the list of rows; each is a number of contexts, unless `row_sets` names what else it is.
    rows: Option<String>,
    row_sets: Option<String>,
    contexts: Option<usize>,
    /// Path of a lock's column.
    cells: Option<String>,
    #[serde(default)]
    row: Vec<SingleRow>,
    locks: Vec<String>,
    baseline: String,
    baseline_rows: Option<Vec<String>>,
    #[serde(default)]
    fits_machine: bool,
    milliseconds: u64,
}

fn one() -> f64 {
    1.0
}

/// A row that is described by itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SingleRow {
    label: String,
    contexts: usize,
    workload: Option<String>,
    cell: String,
}

/// A published table.
pub struct Table {
    /// The name on command lines.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What there is to know of it.
    pub note: String,
    /// Where it was published.
    pub source: String,
    /// What its numbers are counted in.
    pub unit: String,
    /// A simulated result is divided by this.
    pub scale: f64,
    /// Whether its results are times.
    pub lower_is_better: bool,
    /// Its columns.
    pub locks: Vec<String>,
    /// The lock whose column a fit may see.
    pub baseline: String,
    /// The file names of its machine and of its workloads, with what is replaced in the machine.
    pub machine_name: String,
    /// Fields replaced in the machine.
    pub machine_sets: Vec<String>,
    /// Whether its baseline is what the machine is fitted to; other tables take the machine as it is.
    pub fits_machine: bool,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Virtual time to measure.
    pub milliseconds: u64,
}

/// A row: one setting, a cell for each lock.
pub struct Row {
    /// What stands at its head.
    pub label: String,
    /// How many vCPUs.
    pub contexts: usize,
    /// The workload, by name.
    pub workload_name: String,
    /// Fields replaced in the workload.
    pub workload_sets: Vec<String>,
    /// The machine.
    pub machine: Arc<Machine>,
    /// The workload.
    pub workload: Arc<Workload>,
    /// What was published, for each lock.
    pub published: Vec<Option<f64>>,
    /// Whether a fit may see the baseline's cell.
    pub fits: bool,
}

impl Table {
    /// The number of a lock's column.
    pub fn column(&self, lock: &str) -> Option<usize> {
        self.locks.iter().position(|known| known == lock)
    }
}

/// All published tables.
pub fn all() -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    for (name, text) in FILES {
        let refused = |error: &dyn core::fmt::Display| format!("published/{name}.toml: {error}");
        let file: toml::Table = text.parse().map_err(|error: toml::de::Error| refused(&error.message()))?;
        let simulate = file.get("simulate").cloned().ok_or_else(|| refused(&"no [[simulate]]"))?;
        let listed: Vec<Simulate> =
            simulate.try_into().map_err(|error: toml::de::Error| refused(&error.message()))?;
        for simulate in listed {
            tables.push(build(&file, simulate).map_err(|error| refused(&error))?);
        }
    }
    Ok(tables)
}

/// The tables with these names; all, without any.
pub fn chosen(names: &[String]) -> Result<Vec<Table>, String> {
    let all = all()?;
    for name in names {
        if !all.iter().any(|table| table.name == *name) {
            let near = nearest(name, all.iter().map(|table| table.name.as_str())).join(", ");
            return Err(format!("no published table '{name}': nearest are {near}"));
        }
    }
    Ok(all.into_iter().filter(|table| names.is_empty() || names.contains(&table.name)).collect())
}

/// The value at a dotted path; numbers in it are places in lists.
fn at<'t>(table: &'t toml::Table, path: &str) -> Option<&'t toml::Value> {
    let mut parts = path.split('.');
    let mut value = table.get(parts.next()?)?;
    for part in parts {
        value = match value {
            toml::Value::Table(inner) => inner.get(part)?,
            toml::Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

fn float(value: &toml::Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// A row before its machine and workload are loaded.
struct Plan {
    label: String,
    contexts: usize,
    workload: Option<String>,
    sets: Vec<String>,
    cell: String,
}

fn plans(file: &toml::Table, simulate: &Simulate) -> Result<Vec<Plan>, String> {
    let mut plans: Vec<Plan> = Vec::new();
    if let (Some(rows), Some(cells)) = (&simulate.rows, &simulate.cells) {
        let labels =
            at(file, rows).and_then(toml::Value::as_array).ok_or_else(|| format!("no list {rows}"))?;
        for (index, label) in labels.iter().enumerate() {
            let number = label.as_integer().ok_or_else(|| format!("{rows} is no list of whole numbers"))?;
            let sets = simulate.row_sets.iter().map(|path| format!("{path}={number}")).collect();
            plans.push(Plan {
                label: number.to_string(),
                contexts: simulate.contexts.unwrap_or(number as usize),
                workload: None,
                sets,
                cell: format!("{cells}.{index}"),
            });
        }
    }
    plans.extend(simulate.row.iter().map(|row| Plan {
        label: row.label.clone(),
        contexts: row.contexts,
        workload: row.workload.clone(),
        sets: Vec::new(),
        cell: row.cell.clone(),
    }));
    Ok(plans)
}

fn build(file: &toml::Table, simulate: Simulate) -> Result<Table, String> {
    let machine = Arc::new(machine::load_with(&simulate.machine, &simulate.set)?.machine);
    let mut rows = Vec::new();
    let mut lower_is_better = false;
    for plan in plans(file, &simulate)? {
        let name = plan.workload.or_else(|| simulate.workload.clone()).ok_or("a row without a workload")?;
        let workload = workload::load_with(&name, &plan.sets)?.workload;
        lower_is_better = workload.job.is_some();
        let published =
            simulate.locks.iter().map(|lock| at(file, &plan.cell.replace(LOCK, lock)).and_then(float));
        let fits = simulate.baseline_rows.as_ref().is_none_or(|rows| rows.contains(&plan.label));
        rows.push(Row {
            published: published.collect(),
            label: plan.label,
            contexts: plan.contexts,
            workload_name: name,
            workload_sets: plan.sets,
            machine: Arc::clone(&machine),
            workload: Arc::new(workload),
            fits,
        });
    }
    let source = file.get("source").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    Ok(Table {
        name: simulate.name,
        title: simulate.title,
        note: simulate.note,
        source,
        unit: simulate.unit,
        scale: simulate.scale,
        lower_is_better,
        locks: simulate.locks,
        baseline: simulate.baseline,
        machine_name: simulate.machine,
        machine_sets: simulate.set,
        fits_machine: simulate.fits_machine,
        rows,
        milliseconds: simulate.milliseconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_number_of_a_simulated_table_is_found() {
        let tables = all().expect("the files are in order");
        let cells = |name: &str| {
            let table = tables.iter().find(|table| table.name == name).expect("a table");
            table.rows.iter().flat_map(|row| &row.published).flatten().count()
        };
        // Counted by hand in the files.
        assert_eq!(cells("locktorture"), 30);
        assert_eq!(cells("open1"), 30);
        assert_eq!((cells("lock2"), cells("leveldb-readrandom")), (10, 10));
        assert_eq!((cells("fsmark-nosync"), cells("fsmark-fsync"), cells("aim7")), (11, 11, 8));
        assert_eq!(
            (cells("pvq-haswell-ex"), cells("pvq-westmere-ex"), cells("pvq-westmere-ex-pinned")),
            (15, 11, 5)
        );
        assert_eq!((cells("xen-pv"), cells("xen-percpu"), cells("powerpc")), (5, 2, 1));
    }

    #[test]
    fn each_baseline_is_a_column_and_rows_fit_their_machines() {
        for table in all().expect("the files are in order") {
            assert!(table.column(&table.baseline).is_some(), "{}", table.name);
            for row in &table.rows {
                let pinned = row.machine.host.scheduler == machine::SchedulerKind::Pinned;
                assert!(
                    !pinned || row.contexts <= row.machine.topology.cpu_count(),
                    "{} {}",
                    table.name,
                    row.label
                );
            }
        }
    }

    #[test]
    fn paths_lead_through_tables_and_lists() {
        let file: toml::Table = "a = [1, 2.5]\n[b.c]\nd = [[7]]".parse().expect("it is TOML");
        assert_eq!(at(&file, "a.1").and_then(float), Some(2.5));
        assert_eq!(at(&file, "b.c.d.0.0").and_then(float), Some(7.0));
        assert_eq!(at(&file, "b.x"), None);
        assert_eq!(at(&file, "a.2"), None);
    }
}
