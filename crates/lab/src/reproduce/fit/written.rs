//! Fitted values go back into the files, with how they came about.
use super::problem::{FROM, Knob, Part, Problem};
use stanchion_sim::machine::file::{self as machine_file, Evidence};
use stanchion_sim::workload;
use std::path::{Path, PathBuf};

/// Writes the files that a fit moved, below `dir`; which.
pub(super) fn write(problem: &Problem, point: &[f64], dir: &Path) -> Result<Vec<PathBuf>, String> {
    let (machine, workloads) = problem.at(point);
    let rows = |part: &Part| {
        format!("the {} column of {} ({} rows)", part.column, part.table.name, part.rows().count())
    };
    let columns = problem.parts.iter().map(rows).collect::<Vec<_>>().join(" and ");
    let how = |knob: &Knob| format!("to {columns}, stanchion fit{FROM}{}", knob.centre);
    let knobs = |part| problem.knobs.iter().filter(move |knob| knob.part == part);
    let mut written = Vec::new();
    let mut put = |kind: &str, name: &str, text: String| {
        let path = dir.join(kind).join(format!("{name}.toml"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        written.push(path);
        Ok::<(), String>(())
    };
    if knobs(None).next().is_some() {
        let mut file = problem.machine.clone();
        file.machine = machine;
        knobs(None).for_each(|knob| file.set_source(&knob.path, Evidence::Fit, &how(knob)));
        put("machines", &problem.parts[0].table.machine_name, machine_file::write(&file))?;
    }
    for (index, (part, workload)) in problem.parts.iter().zip(workloads).enumerate() {
        if knobs(Some(index)).next().is_some() {
            let mut file = part.workload.clone();
            file.workload = workload;
            knobs(Some(index)).for_each(|knob| file.set_source(&knob.path, Evidence::Fit, &how(knob)));
            put("workloads", &file.workload.name, workload::write(&file))?;
        }
    }
    Ok(written)
}
