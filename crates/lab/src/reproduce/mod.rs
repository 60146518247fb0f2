//! `stanchion reproduce` and `stanchion fit`: published tables (`stanchion_cells::published`) against the
//! simulator, cell by cell, in words ([`report`]), in a summary ([`summary`]), in files ([`export`]) and on a
//! page ([`page`]). A fit ([`fit`]) opens columns to fit only. A blind cell is compared with what was
//! registered of it.
mod args;
mod export;
mod fit;
mod page;
mod report;
mod summary;
#[cfg(test)]
mod tests;

pub(crate) use args::{FitArgs, ReproduceArgs};
pub(crate) use fit::fit;

use export::Results;
use lab_kit::experiment::Experiment;
use lab_kit::export::Formats;
use lab_kit::interrupt;
use lab_kit::output::{print, tell};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use stanchion_cells::published::cells::Cells;
use stanchion_cells::published::{registered, simulate, tables};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const FORMATS: Formats<Results> =
    Formats { stem: "reproduce", json: export::json, csv: Results::csv, html: Some(page::write) };

pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<ExitCode, String> {
    let tables = tables::chosen(&args.table)?;
    let mut cells = Cells::choose(&tables, &args.cell)?;
    let before = registered::recall(&tables, &mut cells)?;
    if args.list {
        return Ok(print(&report::list(&tables), ExitCode::SUCCESS));
    }
    let registry = args.register.as_deref().map(Registry::read).transpose()?;
    let (seeds, shorter) = if args.quick { (1, 4) } else { (args.seeds, 1) };
    let jobs = cells.jobs(&tables, seeds, shorter);
    let progress = Progress::new(jobs.len() as u64, args.files.results.quiet);
    let mut experiment = Experiment::new(args.files.open(&FORMATS)?, progress, 1);
    let provenance = Provenance::collect(1);
    cells.take(&simulate::all(&jobs, &interrupt::requested, &|_, _| {
        experiment.progress.step();
        experiment.progress.seldom("simulating");
    }));
    let (failed, complete) = (cells.any_failed(), !interrupt::requested());
    let results = Results { provenance, seeds, quick: args.quick, complete, tables, before, cells };
    experiment.keep(&results);
    if let Some(registry) = registry.filter(|_| complete && !failed) {
        experiment.also(|| registry.put(&results));
    }
    let text =
        report::render(&results) + &summary::text(&results.tables, &results.cells) + &experiment.written();
    Ok(experiment.end(&text, complete, failed))
}

/// The file of registered predictions, and what stood in it before.
struct Registry {
    path: PathBuf,
    before: String,
}

impl Registry {
    fn read(dir: &Path) -> Result<Self, String> {
        let path = dir.join(registered::PATH);
        match std::fs::read_to_string(&path) {
            Ok(before) => Ok(Self { path, before }),
            Err(error) => Err(format!("--register: {}: {error}", path.display())),
        }
    }

    fn put(self, results: &Results) -> Result<(), String> {
        let day = day(&results.provenance);
        let text = registered::with(&self.before, &results.tables, &results.cells, results.seeds, &day)?;
        std::fs::write(&self.path, text).map_err(|error| format!("{}: {error}", self.path.display()))?;
        tell!("stanchion: registered in {}", self.path.display());
        Ok(())
    }
}

/// The date, as records have it.
fn day(provenance: &Provenance) -> String {
    provenance.date.chars().take_while(|&letter| letter != 'T').collect()
}
