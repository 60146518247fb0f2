//! What is fitted to what: columns to fit of tables of one machine, and the parameters that may move.
use super::super::args::FitArgs;
use super::super::summary::median_and_worst;
use core::slice::Chunks;
use lab_kit::interrupt;
use lab_kit::names::chosen;
use lab_kit::output::tell;
use lab_kit::progress::Progress;
use stanchion_cells::published::cells::exists;
use stanchion_cells::published::fingerprint::of_traces;
use stanchion_cells::published::roles::Role;
use stanchion_cells::published::simulate::{self, Done, Job, Miss};
use stanchion_cells::published::tables::{Row, Table};
use stanchion_sim::machine;
use stanchion_sim::machine::file::{self as machine_file, Evidence, MachineFile, Prior, Source};
use stanchion_sim::workload::{self, Workload, WorkloadFile};
use std::path::Path;
use std::sync::Arc;

/// An error of this size weighs as much as a parameter that is one width of its prior away.
pub(super) const ERROR_SCALE: f64 = 0.02;
/// What a source says before the value that a fit began with.
pub(super) const FROM: &str = "; prior ";

pub(crate) struct Knob {
    pub path: String,
    /// To which part's workload it belongs; `None`: to the machine.
    pub part: Option<usize>,
    /// What was known before any fit, and how well.
    pub centre: f64,
    pub sigma: f64,
    pub now: f64,
}

pub(crate) struct Part {
    pub table: Table,
    /// The lock whose column is fitted.
    pub column: String,
    pub workload: WorkloadFile,
}

/// What was found of one part at a point.
#[derive(Clone)]
pub(super) struct Measured {
    /// The logarithm of simulated over published for each row.
    pub errors: Vec<f64>,
    /// Of the runs with the first seed.
    pub trace: String,
}

impl Measured {
    /// How far each row is off, as a share.
    pub(super) fn off(&self) -> Vec<f64> {
        self.errors.iter().map(|error| error.exp_m1()).collect()
    }

    pub(super) fn median_and_worst(&self) -> (f64, f64) {
        median_and_worst(&self.off()).unwrap_or_default()
    }
}

pub(crate) struct Problem {
    pub parts: Vec<Part>,
    pub knobs: Vec<Knob>,
    pub machine: MachineFile,
    pub seeds: u64,
}

/// The value that a parameter had before it was fitted, if a source says so.
fn centre(sources: &[Source], path: &str, now: f64) -> f64 {
    let source = sources.iter().find(|source| source.field == path && source.evidence == Evidence::Fit);
    let known = source.and_then(|source| source.text.rsplit_once(FROM)?.1.parse::<f64>().ok());
    known.filter(|value| value.is_finite() && *value > 0.0).unwrap_or(now)
}

/// The workload of a row, which may differ in what the row stands for.
fn of_row(file: &WorkloadFile, row: &Row) -> Workload {
    let own = file.workload.clone();
    match &row.workload_sets[..] {
        [] => own,
        sets => workload::read_with(&workload::write(file), &own.name, sets).map_or(own, |new| new.workload),
    }
}

/// The path of a file in `dir` if it is there, else its name in the library.
fn place(dir: &Path, kind: &str, name: &str) -> String {
    let path = dir.join(kind).join(format!("{name}.toml"));
    if path.is_file() { path.display().to_string() } else { name.to_owned() }
}

impl Part {
    fn new(table: Table, args: &FitArgs) -> Result<Self, String> {
        let column = table.fit.clone().ok_or_else(|| format!("{} has no column to fit", table.name))?;
        if let Some(other) = args.lock.as_ref().filter(|other| **other != column) {
            return Err(format!("a fit opens of {} the column {column} only, not {other}", table.name));
        }
        if !exists(&column) {
            return Err(format!("{column} of {} comes with its issue: nothing to fit yet", table.name));
        }
        let name = &table.rows.first().ok_or("a table without rows")?.workload_name;
        let workload = workload::load(&place(&args.dir, "workloads", name))?;
        let part = Self { table, column, workload };
        let rows = &part.table.rows;
        if part.rows().next().is_none() || rows.iter().any(|row| row.workload_name != rows[0].workload_name) {
            return Err(format!("{} has nothing that a fit may see", part.table.name));
        }
        Ok(part)
    }

    /// The rows with a cell to fit, each with what was published there.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&Row, f64)> {
        let column = self.table.column(&self.column);
        let to_fit = move |row: &Row| {
            let column = column.filter(|&column| row.roles[column] == Role::Fit)?;
            row.published[column]
        };
        self.table.rows.iter().filter_map(move |row| Some((row, to_fit(row)?)))
    }

    /// What the next of `results`, one for each row, came to; `None` where a run was stopped or failed.
    fn measured(&self, results: &mut Chunks<Result<Done, Miss>>) -> Option<Measured> {
        let results: Vec<_> = results.take(self.rows().count()).collect();
        let error = |((_, published), seeds): ((&Row, f64), &&[Result<Done, Miss>])| {
            let sum: Option<f64> = seeds.iter().map(|done| Some(done.as_ref().ok()?.value)).sum();
            let error = (sum? / seeds.len() as f64 / self.table.scale / published).ln();
            error.is_finite().then_some(error)
        };
        let errors = self.rows().zip(&results).map(error).collect::<Option<_>>()?;
        let traces = results.iter().flat_map(|seeds| &seeds[0]).map(|done| done.trace);
        Some(Measured { errors, trace: of_traces(traces) })
    }
}

impl Problem {
    pub(super) fn new(tables: Vec<Table>, args: &FitArgs) -> Result<Self, String> {
        let first = tables.first().ok_or("no table")?;
        let machine = |table: &Table| (table.machine_name.clone(), table.machine_sets.clone());
        if let Some(other) = tables.iter().find(|table| machine(table) != machine(first)) {
            let both = format!("{} and {}", first.name, other.name);
            return Err(format!(
                "{both} are not of the same machine: tables that are fitted together must be"
            ));
        }
        let (name, sets) = machine(first);
        let machine = machine::load_with(&place(&args.dir, "machines", &name), &sets)?;
        let parts = tables.into_iter().map(|table| Part::new(table, args)).collect::<Result<Vec<_>, _>>()?;
        let mut problem = Self { parts, knobs: Vec::new(), machine, seeds: args.seeds };
        let what = "parameter with a prior in the files that are fitted here,";
        problem.knobs = chosen(what, problem.all_knobs(), &args.parameters, |knob| &knob.path)?;
        Ok(problem)
    }

    /// Those with a prior: of the workloads, and of the machine where one of the tables fits that, too.
    fn all_knobs(&self) -> Vec<Knob> {
        let mut knobs = Vec::new();
        let mut add = |part, priors: &[Prior], sources: &[Source], number: &dyn Fn(&str) -> Option<f64>| {
            for Prior { field, sigma, .. } in priors {
                if let Some(now) = number(field).filter(|now| *now > 0.0) {
                    let centre = centre(sources, field, now);
                    knobs.push(Knob { path: field.clone(), part, centre, sigma: *sigma, now });
                }
            }
        };
        if self.parts.iter().any(|part| part.table.fits_machine) {
            let file = &self.machine;
            add(None, &file.priors, &file.sources, &|path| machine_file::number(&file.machine, path));
        }
        for (index, part) in self.parts.iter().enumerate() {
            let file = &part.workload;
            add(Some(index), &file.priors, &file.sources, &|path| workload::number(&file.workload, path));
        }
        knobs
    }

    /// Where the parameters are now, as logarithms.
    pub(super) fn start(&self) -> Vec<f64> {
        self.knobs.iter().map(|knob| knob.now.ln()).collect()
    }

    pub(super) fn runs(&self) -> usize {
        self.parts.iter().map(|part| part.rows().count()).sum::<usize>() * self.seeds as usize
    }

    /// Machine and workloads with the parameters where `point` has them.
    pub(super) fn at(&self, point: &[f64]) -> (MachineFile, Vec<WorkloadFile>) {
        let mut file = self.machine.clone();
        let machine = &mut file.machine;
        let mut workloads: Vec<WorkloadFile> = self.parts.iter().map(|part| part.workload.clone()).collect();
        for (knob, value) in self.knobs.iter().zip(point) {
            let set = match knob.part {
                Some(part) => workload::set_number(&mut workloads[part].workload, &knob.path, value.exp()),
                None => machine_file::set_number(machine, &knob.path, value.exp()),
            };
            debug_assert!(set, "a knob was a number of one of the files");
        }
        if machine.topology.groups == 1 {
            // No line ever goes from group to group; such a distance is that within the group.
            machine.memory.socket_dirty = machine.memory.group_dirty;
            machine.memory.upgrade_socket = machine.memory.upgrade;
        }
        (file, workloads)
    }

    /// What is found of each part, at each point. `None` where a run was stopped, or failed and said so.
    pub(super) fn measure(&self, points: &[Vec<f64>], progress: &Progress) -> Vec<Option<Vec<Measured>>> {
        let mut jobs = Vec::new();
        for point in points {
            let (machine, workloads) = self.at(point);
            let machine = Arc::new(machine.machine);
            for (part, workload) in self.parts.iter().zip(&workloads) {
                for (row, _) in part.rows() {
                    let workload = Arc::new(of_row(workload, row));
                    jobs.extend((1..=self.seeds).map(|seed| Job {
                        machine: Arc::clone(&machine),
                        workload: Arc::clone(&workload),
                        lock: part.column.clone(),
                        contexts: row.contexts,
                        seed,
                        milliseconds: (part.table.milliseconds / 2).max(2),
                    }));
                }
            }
        }
        let results = simulate::all(&jobs, &interrupt::requested, &|_, result| {
            if let Err(Miss::Failed(why)) = result {
                tell!("stanchion: {why}");
            }
            progress.step();
            progress.seldom("simulating");
        });
        let of_point = |results: &[Result<Done, Miss>]| {
            let mut rows = results.chunks(self.seeds as usize);
            self.parts.iter().map(|part| part.measured(&mut rows)).collect()
        };
        results.chunks(self.runs()).map(of_point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use stanchion_cells::published::tables::to_fit;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: FitArgs,
    }

    fn problem(words: &[&str]) -> Result<Problem, String> {
        let args = Line::parse_from(["fit"].iter().chain(words)).args;
        Problem::new(to_fit(&args.table)?, &args)
    }

    #[test]
    fn only_columns_to_fit_are_opened() {
        let refused = problem(&["--table", "locktorture", "--lock", "cna"]).err().expect("a seen column");
        assert_eq!(refused, "a fit opens of locktorture the column qspin only, not cna");
        let refused = problem(&["--table", "xen-pv"]).err().expect("its columns are seen or blind");
        assert_eq!(refused, "xen-pv has no column to fit");
        assert!(problem(&["--table", "locktorture", "--lock", "qspin"]).is_ok());
    }

    #[test]
    fn only_one_table_moves_the_machine() {
        let is_machine = |knob: &Knob| !knob.path.starts_with("workload.");
        let torture = problem(&["--table", "locktorture"]).expect("it can be fitted");
        assert!(torture.knobs.iter().any(is_machine) && torture.runs() == 10 * 2);
        let open = problem(&["--table", "open1"]).expect("it can be fitted");
        assert!(!open.knobs.is_empty() && !open.knobs.iter().any(is_machine));
        let build = problem(&["--table", "pvq-haswell-ex"]).expect("it can be fitted");
        assert_eq!(build.parts[0].rows().map(|(row, _)| row.label.as_str()).collect::<Vec<_>>(), ["32"]);
    }

    #[test]
    fn tables_of_one_machine_are_fitted_together() {
        let both = problem(&["--table", "locktorture,open1"]).expect("one machine");
        assert_eq!(both.runs(), 20 * 2);
        let critical =
            |part| both.knobs.iter().position(|knob| knob.part == part && knob.path.ends_with(".critical"));
        let (torture, open) =
            (critical(Some(0)).expect("it has one"), critical(Some(1)).expect("it has one"));
        let mut point = both.start();
        point[torture] = 11.0_f64.ln();
        point[open] = 22.0_f64.ln();
        let (_, workloads) = both.at(&point);
        let of =
            |part: usize| workload::number(&workloads[part].workload, "workload.critical").map(f64::round);
        assert_eq!((of(0), of(1)), (Some(11.0), Some(22.0)));
        let refused = problem(&["--table", "locktorture,pvq-haswell-ex"]).err().expect("two machines");
        assert!(refused.contains("same machine"), "{refused}");
    }

    #[test]
    fn a_point_is_where_its_parameters_are() {
        let problem =
            problem(&["--table", "locktorture", "--parameters", "memory.remote-dirty,workload.critical"])
                .expect("both have a prior");
        let (file, workloads) = problem.at(&[100.0_f64.ln(), 50.0_f64.ln()]);
        let machine = &file.machine;
        assert_eq!(machine_file::number(machine, "memory.remote-dirty"), Some(100.0));
        assert_eq!(machine.memory.socket_dirty, machine.memory.group_dirty, "sockets of one group");
        assert_eq!(workload::number(&workloads[0].workload, "workload.critical"), Some(50.0));
    }

    #[test]
    fn a_second_fit_begins_from_the_same_prior() {
        let source = Source {
            field: "memory.hit".into(),
            evidence: Evidence::Fit,
            text: format!("to something{FROM}12.5"),
        };
        assert_eq!(centre(core::slice::from_ref(&source), "memory.hit", 99.0).to_bits(), 12.5_f64.to_bits());
        assert_eq!(centre(&[source], "memory.rmw", 99.0).to_bits(), 99.0_f64.to_bits());
    }
}
