//! The published tables, as data: which cells there are, how each is simulated, and who may open it.
use super::roles::{Columns, Role};
use serde::Deserialize;
use stanchion_sim::machine::{self, Machine};
use stanchion_sim::unknown;
use stanchion_sim::workload::{self, Workload};
use std::collections::BTreeMap;
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
    "litl"
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
    /// Contexts for each unit of a row, as for rows of nodes.
    contexts_per_row: Option<usize>,
    /// The most contexts that the program starts, whatever it is asked for.
    most_contexts: Option<usize>,
    /// Rows, by their labels, whose contexts are placed otherwise than the workload says; by placement.
    #[serde(default)]
    placements: BTreeMap<String, Vec<String>>,
    /// Path of a lock's column.
    cells: Option<String>,
    /// What the file calls a lock's column, where that is not the lock's name.
    #[serde(default)]
    called: BTreeMap<String, String>,
    #[serde(default)]
    row: Vec<SingleRow>,
    columns: Columns,
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
    /// Its columns; first the one to fit, if there is one.
    pub locks: Vec<String>,
    /// The lock whose column a fit may open.
    pub fit: Option<String>,
    /// The file names of its machine and of its workloads, with what is replaced in the machine.
    pub machine_name: String,
    /// Fields replaced in the machine.
    pub machine_sets: Vec<String>,
    /// Whether the machine is fitted to its column to fit; other tables take the machine as it is.
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
    /// What each cell is to the simulator.
    pub roles: Vec<Role>,
}

impl Table {
    /// The number of a lock's column.
    pub fn column(&self, lock: &str) -> Option<usize> {
        self.locks.iter().position(|known| known == lock)
    }
}

/// All published tables.
pub fn all() -> Result<Vec<Table>, String> {
    read(&Role::ALL)
}

/// All tables. Of their numbers the file's reader opens those only whose cells have one of the roles `open`.
fn read(open: &[Role]) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    for (name, text) in FILES {
        let refused = |error: &dyn core::fmt::Display| format!("published/{name}.toml: {error}");
        let file: toml::Table = text.parse().map_err(|error: toml::de::Error| refused(&error.message()))?;
        let simulate = file.get("simulate").cloned().ok_or_else(|| refused(&"no [[simulate]]"))?;
        let listed: Vec<Simulate> =
            simulate.try_into().map_err(|error: toml::de::Error| refused(&error.message()))?;
        for simulate in listed {
            tables.push(build(&file, simulate, open).map_err(|error| refused(&error))?);
        }
    }
    Ok(tables)
}

/// The tables with these names; all, without any.
pub fn chosen(names: &[String]) -> Result<Vec<Table>, String> {
    named(all()?, names)
}

/// As [`chosen`], with the numbers that a fit may open, and no others. Without names: the tables that have
/// any.
pub fn to_fit(names: &[String]) -> Result<Vec<Table>, String> {
    let mut tables = named(read(&[Role::Fit])?, names)?;
    tables.retain(|table| table.fit.is_some() || !names.is_empty());
    Ok(tables)
}

fn named(all: Vec<Table>, names: &[String]) -> Result<Vec<Table>, String> {
    for name in names {
        if !all.iter().any(|table| table.name == *name) {
            return Err(unknown("published table", name, all.iter().map(|table| table.name.as_str())));
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
                contexts: simulate
                    .contexts
                    .unwrap_or(number as usize * simulate.contexts_per_row.unwrap_or(1))
                    .min(simulate.most_contexts.unwrap_or(usize::MAX)),
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
    place(&mut plans, &simulate.placements)?;
    Ok(plans)
}

/// Adds to rows the placements that name them.
fn place(plans: &mut [Plan], placements: &BTreeMap<String, Vec<String>>) -> Result<(), String> {
    for (placement, label) in
        placements.iter().flat_map(|(name, rows)| rows.iter().map(move |row| (name, row)))
    {
        let plan = plans.iter_mut().find(|plan| plan.label == *label);
        let plan = plan.ok_or_else(|| format!("placements.{placement}: there is no row {label}"))?;
        plan.sets.push(format!("workload.placement={placement}"));
    }
    Ok(())
}

fn build(file: &toml::Table, simulate: Simulate, open: &[Role]) -> Result<Table, String> {
    let columns = simulate.columns.listed().map_err(|error| format!("{}: {error}", simulate.name))?;
    let machine = Arc::new(machine::load_with(&simulate.machine, &simulate.set)?.machine);
    let mut rows = Vec::new();
    let mut lower_is_better = false;
    for plan in plans(file, &simulate)? {
        let name = plan.workload.or_else(|| simulate.workload.clone()).ok_or("a row without a workload")?;
        let workload = workload::load_with(&name, &plan.sets)?.workload;
        lower_is_better = workload.job.is_some();
        let cell = |(lock, column): &(String, Role)| {
            let value = at(file, &plan.cell.replace(LOCK, simulate.called.get(lock).unwrap_or(lock)));
            let role = simulate.columns.role(*column, &plan.label, value.is_some());
            (value.filter(|_| open.contains(&role)).and_then(float), role)
        };
        let (published, roles) = columns.iter().map(cell).unzip();
        rows.push(Row {
            published,
            roles,
            label: plan.label,
            contexts: plan.contexts,
            workload_name: name,
            workload_sets: plan.sets,
            machine: Arc::clone(&machine),
            workload: Arc::new(workload),
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
        locks: columns.into_iter().map(|(lock, _)| lock).collect(),
        fit: simulate.columns.fit,
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
    use stanchion_sim::workload::Placement::{CoresFirst, Spread};

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
    fn a_fit_opens_the_cells_to_fit_only() {
        let count = |tables: Vec<Table>, role: Role| {
            let cells = tables.into_iter().flat_map(|table| table.rows);
            let cells = cells.flat_map(|row| row.published.into_iter().zip(row.roles));
            cells.filter(|(published, of)| published.is_some() && *of == role).count()
        };
        let opened = || to_fit(&[]).expect("in order");
        assert!(count(opened(), Role::Fit) > 50);
        assert_eq!((count(opened(), Role::Seen), count(opened(), Role::Blind)), (0, 0));
        assert!(count(all().expect("in order"), Role::Seen) > 50, "they are there to be opened");
    }

    #[test]
    fn a_file_with_an_unknown_role_is_refused() {
        let simulate = "name = 'x'\ntitle = 'x'\nmachine = 'small-vm'\nunit = 's'\nmilliseconds = 1\n";
        let error =
            toml::from_str::<Simulate>(&format!("{simulate}columns.sen = ['cna']")).expect_err("refused");
        assert!(error.message().contains("unknown field `sen`"), "{error}");
        let error = toml::from_str::<Simulate>(simulate).expect_err("no column has a role");
        assert!(error.message().contains("missing field `columns`"), "{error}");
    }

    #[test]
    fn rows_that_a_placement_names_are_placed_so() {
        let tables = all().expect("the files are in order");
        let leveldb = tables.iter().find(|table| table.name == "leveldb-readrandom").expect("a table");
        let placed = |label: &str| {
            let row = leveldb.rows.iter().find(|row| row.label == label).expect("a row");
            row.workload.placement
        };
        assert_eq!(["8", "16", "32"].map(placed), [CoresFirst, CoresFirst, Spread]);
        let row = |label: &str| Plan {
            label: label.to_owned(),
            contexts: 1,
            workload: None,
            sets: Vec::new(),
            cell: String::new(),
        };
        let unknown = BTreeMap::from([("spread".to_owned(), vec!["9".to_owned()])]);
        let refused = place(&mut [row("8")], &unknown).expect_err("no such row");
        assert_eq!(refused, "placements.spread: there is no row 9");
    }

    #[test]
    fn rows_fit_their_machines() {
        for table in all().expect("the files are in order") {
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
