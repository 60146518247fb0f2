//! Fitted values go back into the files, with how they came about.
use super::problem::{FROM, Part, Problem};
use stanchion_sim::machine::file::{self as machine_file, Evidence};
use stanchion_sim::workload;
use std::path::{Path, PathBuf};

/// Writes the files that a fit moved, below `dir`; which.
pub(super) fn write(problem: &Problem, point: &[f64], dir: &Path) -> Result<Vec<PathBuf>, String> {
    let (machine, moved) = problem.at(point);
    let rows = |part: &Part| {
        let (table, rows) = (&part.table, part.rows.len());
        format!("the {} column of {} ({rows} rows)", part.column, table.name)
    };
    let columns = problem.parts.iter().map(rows).collect::<Vec<_>>().join(" and ");
    let how = |centre: f64| format!("to {columns}, stanchion fit{FROM}{centre}");
    let mut machine_file = problem.machine.clone();
    machine_file.machine = machine;
    let mut workload_files: Vec<_> = problem.parts.iter().map(|part| part.workload.clone()).collect();
    for (file, moved) in workload_files.iter_mut().zip(moved) {
        file.workload = moved;
    }
    let mut of_machine = false;
    let mut of_workload = vec![false; workload_files.len()];
    for knob in &problem.knobs {
        if let Some(part) = knob.part {
            workload_files[part].set_source(&knob.path, Evidence::Fit, &how(knob.centre));
            of_workload[part] = true;
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
    if let Some(part) = problem.parts.first().filter(|_| of_machine) {
        put("machines", &part.table.machine_name, machine_file::write(&machine_file))?;
    }
    for (file, _) in workload_files.iter().zip(of_workload).filter(|(_, moved)| *moved) {
        put("workloads", &file.workload.name, workload::write(file))?;
    }
    Ok(written)
}
