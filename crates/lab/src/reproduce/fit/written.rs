//! Fitted values go back into the files, with how they came about.
use super::problem::{FROM, Problem};
use stanchion_sim::machine::file::{self as machine_file, Evidence};
use stanchion_sim::workload;
use std::path::{Path, PathBuf};

/// Writes the files that a fit moved, below `dir`; which.
pub(super) fn write(problem: &Problem, point: &[f64], dir: &Path) -> Result<Vec<PathBuf>, String> {
    let (machine, moved) = problem.at(point);
    let table = &problem.table;
    let how = |centre: f64| {
        let rows = problem.rows.len();
        format!(
            "to the {} column of {} ({rows} rows, stanchion fit){FROM}{centre}",
            table.baseline, table.name
        )
    };
    let (mut machine_file, mut workload_file) = (problem.machine.clone(), problem.workload.clone());
    machine_file.machine = machine;
    workload_file.workload = moved;
    let (mut of_machine, mut of_workload) = (false, false);
    for knob in &problem.knobs {
        if knob.path.starts_with("workload.") {
            workload_file.set_source(&knob.path, Evidence::Fit, &how(knob.centre));
            of_workload = true;
        } else {
            machine_file.set_source(&knob.path, Evidence::Fit, &how(knob.centre));
            of_machine = true;
        }
    }
    let mut written = Vec::new();
    let mut put = |kind: &str, name: &str, text: String| {
        let path = dir.join(kind).join(format!("{name}.toml"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        written.push(path);
        Ok::<(), String>(())
    };
    if of_machine {
        put("machines", &table.machine_name, machine_file::write(&machine_file))?;
    }
    if of_workload {
        let name = workload_file.workload.name.clone();
        put("workloads", &name, workload::write(&workload_file))?;
    }
    Ok(written)
}
