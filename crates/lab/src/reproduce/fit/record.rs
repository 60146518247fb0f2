//! What fits came to, and what they were made with: `published/fits.toml`. A fit is stale when that has
//! changed since. Fitted values go back into the files of machines and workloads, with how they came about.
use super::problem::{FROM, Knob, Measured, Part, Problem};
use serde::{Deserialize, Serialize};
use stanchion_cells::published::fingerprint::{of_machine, of_workload};
use stanchion_sim::machine::file::{self as machine_file, Evidence};
use stanchion_sim::workload::{self, WorkloadFile};
use std::path::{Path, PathBuf};

const PATH: &str = "published/fits.toml";
const HEAD: &str = "\
# What each fit came to and was made with, written by `stanchion fit`. `machine` and `workload` are fingerprints of their
# numbers. `trace` is one of what happened in the runs with the first seed, and changes with the code of locks and
# simulator. `median` and `worst` are errors in per cent. `stanchion fit --check` names fits that are stale.
";

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "fit")]
    fits: Vec<Fit>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fit {
    pub table: String,
    column: String,
    date: String,
    seeds: u64,
    machine: String,
    workload: String,
    trace: String,
    median: f64,
    worst: f64,
}

/// What the tables of `problem` come to with their parameters at `point`, where `measured` was found.
pub(super) fn of(problem: &Problem, point: &[f64], measured: &[Measured], date: &str) -> Vec<Fit> {
    let (machine, workloads) = problem.at(point);
    let of_part = |((part, workload), measured): ((&Part, &WorkloadFile), &Measured)| {
        let (median, worst) = measured.median_and_worst();
        let per_cent = |error: f64| (error * 1000.0).round() / 10.0;
        Fit {
            table: part.table.name.clone(),
            column: part.column.clone(),
            date: date.to_owned(),
            seeds: problem.seeds,
            machine: of_machine(&machine.machine),
            workload: of_workload(&workload.workload),
            trace: measured.trace.clone(),
            median: per_cent(median),
            worst: per_cent(worst),
        }
    };
    problem.parts.iter().zip(&workloads).zip(measured).map(of_part).collect()
}

pub(super) fn read(dir: &Path) -> Result<Vec<Fit>, String> {
    let path = dir.join(PATH);
    let failed = |error: &dyn core::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let file: File = toml::from_str(&text).map_err(|error| failed(&error.message()))?;
    Ok(file.fits)
}

/// Why the fit that was found `now` is stale, if it is.
pub(super) fn stale(on_record: &[Fit], now: &Fit) -> Option<String> {
    let Some(before) = on_record.iter().find(|fit| fit.table == now.table) else {
        return Some("there is no record of a fit".to_owned());
    };
    let pairs = [
        ("the column", before.column == now.column),
        ("the machine", before.machine == now.machine),
        ("the workload", before.workload == now.workload),
        ("the code of locks or simulator", before.trace == now.trace),
    ];
    let (what, _) = pairs.into_iter().find(|(_, same)| !same)?;
    Some(format!("{what} changed since the fit of {}", before.date))
}

/// Records fits below `dir`, in place of those of the same tables.
pub(super) fn write(fits: Vec<Fit>, dir: &Path) -> Result<PathBuf, String> {
    let mut all = if dir.join(PATH).exists() { read(dir)? } else { Vec::new() };
    for fit in fits {
        match all.iter_mut().find(|known| known.table == fit.table) {
            Some(known) => *known = fit,
            None => all.push(fit),
        }
    }
    let text = toml::to_string(&File { fits: all }).map_err(|error| error.to_string())?;
    put(dir.join(PATH), &format!("{HEAD}\n{text}"))
}

fn put(path: PathBuf, text: &str) -> Result<PathBuf, String> {
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Writes the files that a fit moved, below `dir`; which.
pub(super) fn write_moved(problem: &Problem, point: &[f64], dir: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut machine, mut workloads) = problem.at(point);
    let rows = |part: &Part| {
        format!("the {} column of {} ({} rows)", part.column, part.table.name, part.rows().count())
    };
    let columns = problem.parts.iter().map(rows).collect::<Vec<_>>().join(" and ");
    for Knob { path, part, centre, .. } in &problem.knobs {
        let how = format!("to {columns}, stanchion fit{FROM}{centre}");
        match part {
            Some(part) => workloads[*part].set_source(path, Evidence::Fit, &how),
            None => machine.set_source(path, Evidence::Fit, &how),
        }
    }
    let is_moved = |part| problem.knobs.iter().any(|knob| knob.part == part);
    let name = &problem.parts[0].table.machine_name;
    let machine = is_moved(None).then(|| ("machines", name, machine_file::write(&machine)));
    let workloads = workloads.iter().enumerate().filter(|(part, _)| is_moved(Some(*part)));
    let workloads = workloads.map(|(_, file)| ("workloads", &file.workload.name, workload::write(file)));
    let files = machine.into_iter().chain(workloads);
    files.map(|(kind, name, text)| put(dir.join(kind).join(format!("{name}.toml")), &text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_cells::published::tables::to_fit;

    fn fit(table: &str) -> Fit {
        let [column, date] = ["qspin", "2026-11-25"].map(str::to_owned);
        let [machine, workload, trace] = ["a", "b", "c"].map(str::to_owned);
        Fit {
            table: table.to_owned(),
            column,
            date,
            seeds: 2,
            machine,
            workload,
            trace,
            median: 2.1,
            worst: 4.0,
        }
    }

    #[test]
    fn a_fit_is_stale_when_what_it_was_made_with_changed() {
        let why = |now: &Fit| stale(&[fit("one")], now).unwrap_or_default();
        let other = || "x".to_owned();
        assert_eq!(why(&fit("one")), "");
        assert_eq!(why(&fit("two")), "there is no record of a fit");
        assert_eq!(
            why(&Fit { machine: other(), ..fit("one") }),
            "the machine changed since the fit of 2026-11-25"
        );
        assert!(why(&Fit { workload: other(), ..fit("one") }).starts_with("the workload changed"));
        assert!(
            why(&Fit { trace: other(), ..fit("one") }).starts_with("the code of locks or simulator changed")
        );
        assert_eq!(why(&Fit { seeds: 5, median: 7.0, ..fit("one") }), "");
    }

    #[test]
    fn records_replace_those_of_the_same_table() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("published")).expect("it can be made");
        let dir = directory.path();
        assert!(read(dir).is_err_and(|error| error.contains(PATH)));
        write(vec![fit("one"), fit("two")], dir).expect("it can be written");
        let again = Fit { worst: 3.0, ..fit("one") };
        write(vec![again.clone()], dir).expect("it can be written");
        assert_eq!(read(dir), Ok(vec![again, fit("two")]));
    }

    #[test]
    fn every_column_to_fit_is_on_record() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut on_record: Vec<_> =
            read(&root).expect("in the tree").into_iter().map(|fit| (fit.table, fit.column)).collect();
        let tables = to_fit(&[]).expect("in order").into_iter();
        let mut wanted: Vec<_> = tables.filter_map(|table| Some((table.name, table.fit?))).collect();
        on_record.sort();
        wanted.sort();
        assert_eq!(on_record, wanted);
    }
}
