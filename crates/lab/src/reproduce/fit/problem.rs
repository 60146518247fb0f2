//! What is fitted to what: the baseline's column of a table, and the parameters that may move.
use super::super::args::FitArgs;
use super::super::cells::exists;
use super::super::simulate::{self, Job, Miss};
use super::super::tables::Table;
use crate::names::nearest;
use stanchion_sim::machine::file::{self as machine_file, Evidence, MachineFile};
use stanchion_sim::machine::{self, Machine};
use stanchion_sim::workload::{self, Workload, WorkloadFile};
use std::path::Path;
use std::sync::Arc;

/// An error of this size weighs as much as a parameter that is one width of its prior away.
pub(super) const ERROR_SCALE: f64 = 0.02;
/// What a source says before the value that a fit began with.
pub(super) const FROM: &str = "; prior ";

/// A parameter that may move.
#[derive(Clone, Debug)]
pub(crate) struct Knob {
    pub path: String,
    /// What was known before any fit, and how well.
    pub centre: f64,
    pub sigma: f64,
    /// What the file says now.
    pub now: f64,
}

/// A published cell of the baseline.
pub(crate) struct Row {
    pub label: String,
    pub contexts: usize,
    pub published: f64,
    pub workload_sets: Vec<String>,
}

/// A fit.
pub(crate) struct Problem {
    pub table: Table,
    pub rows: Vec<Row>,
    pub knobs: Vec<Knob>,
    pub machine: MachineFile,
    pub workload: WorkloadFile,
    seeds: u64,
}

/// The value that a parameter had before it was fitted, if a source says so.
fn centre(sources: &[machine_file::Source], path: &str, now: f64) -> f64 {
    let source = sources.iter().find(|source| source.field == path && source.evidence == Evidence::Fit);
    let said = source.and_then(|source| source.text.rsplit_once(FROM)?.1.parse::<f64>().ok());
    said.filter(|value| value.is_finite() && *value > 0.0).unwrap_or(now)
}

/// The path of a file in `dir` if it is there, else its name in the library.
fn place(dir: &Path, kind: &str, name: &str) -> String {
    let path = dir.join(kind).join(format!("{name}.toml"));
    if path.is_file() { path.display().to_string() } else { name.to_owned() }
}

impl Problem {
    pub(super) fn new(table: Table, args: &FitArgs) -> Result<Self, String> {
        let lock = args.lock.as_ref().unwrap_or(&table.baseline);
        if *lock != table.baseline {
            return Err(format!(
                "a fit sees the baseline of {} only, which is {}: what it says about {lock} has to stay a prediction",
                table.name, table.baseline
            ));
        }
        if !exists(lock) {
            return Err(format!(
                "{lock}, the baseline of {}, comes with its issue: nothing to fit yet",
                table.name
            ));
        }
        let column = table.column(lock).ok_or("the baseline is a column")?;
        let published = |row: &super::super::tables::Row| row.published[column].filter(|_| row.fits);
        let rows: Vec<Row> = table
            .rows
            .iter()
            .filter_map(|row| {
                Some(Row {
                    label: row.label.clone(),
                    contexts: row.contexts,
                    published: published(row)?,
                    workload_sets: row.workload_sets.clone(),
                })
            })
            .collect();
        let name = table.rows.first().map(|row| row.workload_name.clone()).ok_or("a table without rows")?;
        if rows.is_empty() || table.rows.iter().any(|row| row.workload_name != name) {
            return Err(format!("{} has nothing that a fit may see", table.name));
        }
        let machine =
            machine::load_with(&place(&args.dir, "machines", &table.machine_name), &table.machine_sets)?;
        let workload = workload::load(&place(&args.dir, "workloads", &name))?;
        let mut problem = Self { table, rows, knobs: Vec::new(), machine, workload, seeds: args.seeds };
        problem.knobs = problem.all_knobs();
        for wanted in &args.parameters {
            if !problem.knobs.iter().any(|knob| knob.path == *wanted) {
                let near = nearest(wanted, problem.knobs.iter().map(|knob| knob.path.as_str())).join(", ");
                return Err(format!(
                    "'{wanted}' has no prior in the files that are fitted here: nearest are {near}"
                ));
            }
        }
        if !args.parameters.is_empty() {
            problem.knobs.retain(|knob| args.parameters.contains(&knob.path));
        }
        Ok(problem)
    }

    /// The parameters with a prior: of the workload, and of the machine where that is fitted, too.
    fn all_knobs(&self) -> Vec<Knob> {
        let mut knobs = Vec::new();
        if self.table.fits_machine {
            for prior in &self.machine.priors {
                let Some(now) = machine_file::number(&self.machine.machine, &prior.field) else { continue };
                let centre = centre(&self.machine.sources, &prior.field, now);
                knobs.push(Knob { path: prior.field.clone(), centre, sigma: prior.sigma, now });
            }
        }
        for prior in &self.workload.priors {
            let Some(now) = workload::number(&self.workload.workload, &prior.field) else { continue };
            let centre = centre(&self.workload.sources, &prior.field, now);
            knobs.push(Knob { path: prior.field.clone(), centre, sigma: prior.sigma, now });
        }
        knobs.retain(|knob| knob.now > 0.0 && knob.centre > 0.0);
        knobs
    }

    /// Where the parameters are now, as logarithms.
    pub(super) fn start(&self) -> Vec<f64> {
        self.knobs.iter().map(|knob| knob.now.ln()).collect()
    }

    /// Centre and width of each prior, as logarithms.
    pub(super) fn priors(&self) -> Vec<(f64, f64)> {
        self.knobs.iter().map(|knob| (knob.centre.ln(), knob.sigma)).collect()
    }

    /// How many simulations one evaluation takes.
    pub(super) fn runs(&self) -> usize {
        self.rows.len() * self.seeds as usize
    }

    /// The machine and the workload with the parameters where `point` has them.
    pub(super) fn at(&self, point: &[f64]) -> (Machine, Workload) {
        let (mut machine, mut workload) = (self.machine.machine.clone(), self.workload.workload.clone());
        for (knob, value) in self.knobs.iter().zip(point) {
            let set = workload::set_number(&mut workload, &knob.path, value.exp())
                || machine_file::set_number(&mut machine, &knob.path, value.exp());
            debug_assert!(set, "a knob was a number of one of the files");
        }
        if machine.topology.groups == 1 {
            // No line ever goes from group to group; such a distance is that within the group.
            machine.memory.socket_dirty = machine.memory.group_dirty;
            machine.memory.upgrade_socket = machine.memory.upgrade;
        }
        (machine, workload)
    }

    /// The logarithm of simulated over published for each row, at each of the points. `None` where a run was stopped or failed; a
    /// failure is told on standard error.
    pub(super) fn errors(
        &self,
        points: &[Vec<f64>],
        stop: &(dyn Fn() -> bool + Sync),
        one_done: &(dyn Fn() + Sync),
    ) -> Vec<Option<Vec<f64>>> {
        let mut jobs = Vec::new();
        for point in points {
            let (machine, workload) = self.at(point);
            let machine = Arc::new(machine);
            for row in &self.rows {
                let workload = Arc::new(self.with_sets(&workload, &row.workload_sets));
                jobs.extend((1..=self.seeds).map(|seed| Job {
                    machine: Arc::clone(&machine),
                    workload: Arc::clone(&workload),
                    lock: self.table.baseline.clone(),
                    contexts: row.contexts,
                    seed,
                    milliseconds: (self.table.milliseconds / 2).max(2),
                }));
            }
        }
        let results = simulate::all(&jobs, stop, &|_, result| {
            if let Err(Miss::Failed(why)) = result {
                eprintln!("stanchion: {why}");
            }
            one_done();
        });
        results.chunks(self.runs()).map(|results| self.log_errors(results)).collect()
    }

    fn log_errors(&self, results: &[Result<f64, Miss>]) -> Option<Vec<f64>> {
        let of_rows = results.chunks(self.seeds as usize).zip(&self.rows);
        of_rows
            .map(|(seeds, row)| {
                let values: Option<Vec<f64>> =
                    seeds.iter().map(|value| value.as_ref().ok().copied()).collect();
                let mean = values?.iter().sum::<f64>() / self.seeds as f64;
                let error = (mean / self.table.scale / row.published).ln();
                error.is_finite().then_some(error)
            })
            .collect()
    }

    /// The workload of a row, which may differ in what the row stands for.
    fn with_sets(&self, workload: &Workload, sets: &[String]) -> Workload {
        let mut file = self.workload.clone();
        file.workload = workload.clone();
        if sets.is_empty() {
            return file.workload;
        }
        let text = workload::write(&file);
        workload::read_with(&text, &file.workload.name, sets).map_or(file.workload, |read| read.workload)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tables::all;
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: FitArgs,
    }

    fn problem(words: &[&str]) -> Result<Problem, String> {
        let args = Line::parse_from(["fit"].iter().chain(words)).args;
        let table =
            all().expect("in order").into_iter().find(|table| table.name == args.table).expect("a table");
        Problem::new(table, &args)
    }

    #[test]
    fn only_the_baseline_is_fitted() {
        let refused = problem(&["--table", "locktorture", "--lock", "cna"]).err().expect("not the baseline");
        assert!(refused.contains("only, which is qspin"), "{refused}");
        let refused =
            problem(&["--table", "xen-pv"]).err().expect("there is no such lock yet, or no row to fit");
        assert!(refused.contains("xen-pv"), "{refused}");
        assert!(problem(&["--table", "locktorture", "--lock", "qspin"]).is_ok());
    }

    #[test]
    fn only_one_table_moves_the_machine() {
        let is_machine = |knob: &Knob| !knob.path.starts_with("workload.");
        let torture = problem(&["--table", "locktorture"]).expect("it can be fitted");
        assert!(torture.knobs.iter().any(is_machine) && torture.rows.len() == 10);
        let open = problem(&["--table", "open1"]).expect("it can be fitted");
        assert!(!open.knobs.is_empty() && !open.knobs.iter().any(is_machine));
        let build = problem(&["--table", "pvq-haswell-ex"]).expect("it can be fitted");
        assert_eq!(build.rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), ["32"]);
    }

    #[test]
    fn a_point_is_where_its_parameters_are() {
        let problem =
            problem(&["--table", "locktorture", "--parameters", "memory.remote-dirty,workload.critical"])
                .expect("both have a prior");
        let (machine, workload) = problem.at(&[100.0_f64.ln(), 50.0_f64.ln()]);
        assert_eq!(machine_file::number(&machine, "memory.remote-dirty"), Some(100.0));
        assert_eq!(machine.memory.socket_dirty, machine.memory.group_dirty, "sockets of one group");
        assert_eq!(workload::number(&workload, "workload.critical"), Some(50.0));
    }

    #[test]
    fn a_second_fit_begins_from_the_same_prior() {
        let source = machine_file::Source {
            field: "memory.hit".into(),
            evidence: Evidence::Fit,
            text: format!("to something{FROM}12.5"),
        };
        assert_eq!(centre(core::slice::from_ref(&source), "memory.hit", 99.0).to_bits(), 12.5_f64.to_bits());
        assert_eq!(centre(&[source], "memory.rmw", 99.0).to_bits(), 99.0_f64.to_bits());
    }
}
